/*
 * mend.c - errors of a modern server that are ours to deal with.
 *
 *   -32020  header fields that do not match: the schema of the tool has
 *           changed, or was never read. The list is read, whole
 *   -32022  not this version: the server was replaced by another. What it
 *           speaks is found out anew
 *   -32021  not without tasks: declared, and the task is waited for
 *
 * Each is mended once. The second time it is the client's to know.
 */
#include "gateway/mend.h"

#include "base/span.h"
#include "gateway/rounds.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "json/nav.h"
#include "json/write.h"

enum { PARAMS_MAX = 4 * 1024 * 1024, PAGES_MAX = 64 };

#define TASKS "io.modelcontextprotocol/tasks"

static void list(fl_rounds *rounds, fl_span cursor);

static void on_listed(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_rounds *rounds = user;
    fl_span cursor = msg != NULL
                         ? fl_json_get(msg->result, FL_SPAN("nextCursor"))
                         : (fl_span){0};

    (void)why; /* if it cannot be had, so be it: there is one more try */
    rounds->own = NULL;
    if (fl_json_type_of(cursor) == FL_JSON_STRING &&
        ++rounds->pages_read < PAGES_MAX)
        list(rounds, cursor);
    else
        fl_back_carry_again(rounds->errand);
}

/* Whom the list is for: the client, in its own words or in ours for it. */
static void write_meta(const fl_errand *errand, fl_json_writer *writer)
{
    const fl_claim *claim = &errand->msg->inner.claim;

    fl_json_key(writer, "_meta");
    if (errand->asker.revision->legacy) {
        fl_json_raw(writer, fl_front_claim(errand->asker.front,
                                           errand->back->revision, false));
        return;
    }
    fl_json_object(writer);
    fl_json_key(writer, "io.modelcontextprotocol/protocolVersion");
    fl_json_raw(writer, claim->version);
    fl_json_key(writer, "io.modelcontextprotocol/clientCapabilities");
    fl_json_raw(writer, claim->client_capabilities);
    if (claim->client_info.len > 0) {
        fl_json_key(writer, "io.modelcontextprotocol/clientInfo");
        fl_json_raw(writer, claim->client_info);
    }
    fl_json_object_end(writer);
}

static bool knows_claim(const fl_errand *errand)
{
    return !errand->asker.revision->legacy ||
           fl_front_claim(errand->asker.front, errand->back->revision, false)
                   .len > 0;
}

/* The transport learns from the answer as it passes. */
static void list(fl_rounds *rounds, fl_span cursor)
{
    fl_errand *errand = rounds->errand;
    fl_json_writer writer;
    fl_buf params;

    fl_buf_init(&params, PARAMS_MAX);
    fl_json_writer_init(&writer, &params);
    fl_json_object(&writer);
    if (cursor.len > 0) {
        fl_json_key(&writer, "cursor");
        fl_json_raw(&writer, cursor);
    }
    if (knows_claim(errand))
        write_meta(errand, &writer);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = fl_back_ask(errand->back, FL_METHOD_TOOLS_LIST,
                         fl_buf_view(&params), on_listed, rounds, &rounds->own);
    fl_buf_reset(&params);
    if (rc != FL_OK)
        fl_back_carry_again(errand);
}

static bool read_tools(fl_errand *errand)
{
    fl_rounds *rounds = fl_rounds_of(errand);

    if (rounds == NULL || errand->method != FL_METHOD_TOOLS_CALL)
        return false;
    fl_back_set_aside(errand);
    errand->again = true;
    rounds->pages_read = 0;
    list(rounds, (fl_span){0});
    return true;
}

/* On a channel all others would be lost with it. */
static bool find_out(fl_errand *errand)
{
    fl_client *lane = errand->back->lane;

    if (!fl_lane_has_streams(lane) || !fl_lane_doubt(lane))
        return false;
    fl_back_take_back(errand);
    return true;
}

/* How many members it has; 0 if it is no object. */
static size_t count(fl_span object)
{
    size_t n = 0;
    fl_json_walk walk;
    fl_json_member member;

    if (fl_json_type_of(object) != FL_JSON_OBJECT)
        return 0;
    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        n++;
    return n;
}

static bool wants_tasks_only(fl_span error)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));
    fl_span required = fl_json_get(data, FL_SPAN("requiredCapabilities"));
    fl_span extensions = fl_json_get(required, FL_SPAN("extensions"));

    return count(required) == 1 && count(extensions) == 1 &&
           fl_json_get(extensions, FL_SPAN(TASKS)).len > 0;
}

static bool declare_tasks(fl_errand *errand, fl_span error)
{
    if (errand->method != FL_METHOD_TOOLS_CALL || !wants_tasks_only(error))
        return false;
    fl_rounds *rounds = fl_rounds_of(errand);
    if (rounds == NULL || rounds->declares_tasks)
        return false;
    rounds->declares_tasks = true;
    fl_back_set_aside(errand);
    errand->again = true;
    fl_back_carry_again(errand);
    return true;
}

bool fl_mend_headers(fl_errand *errand, const fl_msg *msg)
{
    return msg->kind == FL_MSG_ERROR && !errand->again && errand->msg != NULL &&
           fl_lane_has_streams(errand->back->lane) &&
           fl_extract_error_code(msg) == FL_RPC_HEADER_MISMATCH &&
           read_tools(errand);
}

bool fl_mend_takes(fl_errand *errand, const fl_msg *msg)
{
    int64_t code = fl_extract_error_code(msg);

    if (msg->kind != FL_MSG_ERROR || errand->again || errand->msg == NULL)
        return false;
    if (code == FL_RPC_HEADER_MISMATCH)
        return read_tools(errand);
    if (code == FL_RPC_UNSUPPORTED_VERSION)
        return find_out(errand);
    return code == FL_RPC_MISSING_CAPABILITY &&
           declare_tasks(errand, msg->error);
}
