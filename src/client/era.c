/*
 * era.c - what a server's answer to server/discover says about its era.
 *
 * A modern server tells by its result, or by one of three error codes that no
 * other has. Legacy servers answer a method they do not know with whatever
 * occurs to them, so that every other error is a sign of one (MCP 2026-07-28,
 * stdio and Streamable HTTP, Backward Compatibility). What says nothing about
 * the era is told apart first: being kept out, and being out of order.
 */
#include "client/era.h"

#include "base/span.h"
#include "base/status.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <stdio.h>

int fl_era_http_status(fl_span error)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));
    int64_t status;

    if (fl_json_int64(fl_json_get(data, FL_SPAN("httpStatus")), &status) !=
            FL_OK ||
        status < 0 || status > 999)
        return FL_HTTP_NONE;
    return (int)status;
}

static bool is_denied(int http)
{
    return http == 401 || http == 403 || http == 407;
}

/* No response, too many requests, or a server or gateway in trouble. */
static bool is_unavailable(int http)
{
    return http == 0 || http == 408 || http == 425 || http == 429 ||
           http >= 500;
}

/* The request itself was too much: says nothing about who refused it. */
static bool is_excess(int http)
{
    return http == 413 || http == 414 || http == 431;
}

bool fl_era_is_doubt(int http)
{
    return http >= 400 && !is_denied(http) && !is_unavailable(http) &&
           !is_excess(http);
}

/* The newest modern one of ours, or what else is in the list. */
static fl_reading read_versions(fl_span versions)
{
    fl_reading reading = {.sign = FL_SIGN_LEGACY, .versions = versions};
    bool legacy = false, other = false;
    fl_json_walk walk;
    fl_json_member item;

    if (fl_json_type_of(versions) != FL_JSON_ARRAY)
        return reading;
    fl_json_walk_init(&walk, versions);
    while (fl_json_walk_next(&walk, &item)) {
        if (fl_json_type_of(item.value) != FL_JSON_STRING)
            continue;
        const fl_revision *row =
            fl_revision_find((fl_span){item.value.ptr + 1, item.value.len - 2});
        if (row == NULL)
            other = true;
        else if (row->legacy)
            legacy = true;
        else if (reading.revision == NULL || row > reading.revision)
            reading.revision = row; /* the table is in order of time */
    }
    if (reading.revision != NULL)
        reading.sign = FL_SIGN_MODERN;
    else if (other && !legacy)
        reading.sign = FL_SIGN_STRANGER;
    return reading;
}

/* Its words were that it is modern: so it is not opened by initialize because
 * it forgot to say what it speaks. */
static fl_reading read_refusal(fl_span error)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));
    fl_reading reading = read_versions(fl_json_get(data, FL_SPAN("supported")));

    if (reading.sign == FL_SIGN_MODERN)
        reading.sign = FL_SIGN_REPEAT;
    else if (fl_json_type_of(reading.versions) != FL_JSON_ARRAY)
        reading.sign = FL_SIGN_STRANGER;
    return reading;
}

fl_reading fl_era_read(const fl_answer *answer, int http)
{
    if (answer->status == FL_OK)
        return read_versions(
            fl_json_get(answer->result, FL_SPAN("supportedVersions")));
    if (is_denied(http))
        return (fl_reading){.sign = FL_SIGN_DENIED};
    if (http != FL_HTTP_NONE && is_unavailable(http))
        return (fl_reading){.sign = FL_SIGN_UNAVAILABLE};
    if (http != FL_HTTP_NONE)
        return (fl_reading){.sign = FL_SIGN_LEGACY};
    switch (answer->code) {
    case FL_RPC_UNSUPPORTED_VERSION:
        return read_refusal(answer->error);
    case FL_RPC_HEADER_MISMATCH:
    case FL_RPC_MISSING_CAPABILITY:
        return (fl_reading){.sign = FL_SIGN_MODERN_BARE};
    default:
        return (fl_reading){.sign = FL_SIGN_LEGACY};
    }
}

static void list(fl_span versions, char *text, size_t size)
{
    fl_json_walk walk;
    fl_json_member item;
    size_t at = 0;

    text[0] = '\0';
    fl_json_walk_init(&walk, versions);
    while (at < size && fl_json_walk_next(&walk, &item))
        if (fl_json_type_of(item.value) == FL_JSON_STRING)
            at += (size_t)snprintf(
                text + at, size - at, "%s%.*s", at > 0 ? ", " : "",
                (int)(item.value.len - 2), item.value.ptr + 1);
}

void fl_era_explain(fl_error *why, fl_span versions, const fl_revision *modern,
                    const fl_revision *legacy)
{
    char theirs[128];

    list(versions, theirs, sizeof theirs);
    fl_error_set(why, FL_E_UNSUPPORTED,
                 "the server speaks %s; this client speaks %s%s%s",
                 theirs[0] != '\0' ? theirs : "another revision, unnamed",
                 modern->name, legacy != NULL ? " and up to " : "",
                 legacy != NULL ? legacy->name : "");
}
