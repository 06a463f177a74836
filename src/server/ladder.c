/*
 * ladder.c - what a request of the modern era must get past to be served.
 *
 * MCP 2026-07-28: "Base, _meta", "Versioning", and "Streamable HTTP, Request
 * Metadata and Server Validation". The header fields repeat what the message
 * says so that whoever stands in between need not read it; were the two to
 * differ, he and we would act on different requests.
 */
#include "server/ladder.h"

#include "base/span.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "server/levels.h"
#include "server/methods.h"
#include "server/mirror.h"

#include "json/nav.h"
#include "json/write.h"
#include <stdio.h>

enum { DATA_MAX = 1024, TEXT_MAX = 256 }; /* of what is said back */

static bool has_fields(const fl_return *to)
{
    return (to->session->traits & FL_LINK_CHANNEL) == 0;
}

/* {"header":...,"sent":...,"expected":...}; `expected` is a token. */
static fl_status write_mismatch(fl_buf *data, const char *name, fl_span sent,
                                fl_span expected)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, data);
    fl_json_object(&writer);
    fl_json_key(&writer, "header");
    fl_json_string(&writer, name);
    if (sent.len > 0) {
        fl_json_key(&writer, "sent");
        fl_json_text(&writer, sent);
    }
    if (expected.len > 0) {
        fl_json_key(&writer, "expected");
        fl_json_raw(&writer, expected);
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static void refuse_field(const fl_return *to, const fl_msg *msg,
                         const fl_mirror_fault *fault)
{
    fl_return early = *to;
    char text[TEXT_MAX];
    fl_buf data;

    snprintf(text, sizeof text, "Header mismatch: %s %s", fault->name,
             fault->what);
    fl_buf_init(&data, DATA_MAX);
    fl_status rc =
        write_mismatch(&data, fault->name, fault->sent, fault->expected);
    if (rc != FL_OK) { /* too long to repeat: the name will do */
        fl_buf_reset(&data);
        rc = write_mismatch(&data, fault->name, (fl_span){0}, (fl_span){0});
    }
    early.early = true;
    fl_return_error(&early, msg->id, FL_RPC_HEADER_MISMATCH, fl_span_of(text),
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

/* The fields that repeat what no schema names. */
enum { VERSION, METHOD, NAME };

static const struct field {
    const char *key;
    const char *name; /* as people write it */
    bool encoded;
} fields[] = {
    [VERSION] = {"mcp-protocol-version", "MCP-Protocol-Version", false},
    [METHOD] = {"mcp-method", "Mcp-Method", false},
    [NAME] = {"mcp-name", "Mcp-Name", true},
};

/* What is wrong with a field that came as `sent`, or NULL. */
static const char *judge_field(const struct field *field, fl_span sent,
                               fl_span token)
{
    if (sent.ptr == NULL)
        return "is missing";
    if (field->encoded)
        return fl_mirror_compare(sent, token);
    return fl_json_string_is(token, sent) ? NULL
                                          : "is not what the message says";
}

/* The field is required, and says what `token`, a string, says. */
static bool check_field(const fl_return *to, const fl_msg *msg,
                        const struct field *field, fl_span token)
{
    fl_span sent = fl_reply_field(to->reply, field->key);
    const char *wrong = judge_field(field, sent, token);

    if (wrong == NULL)
        return true;
    refuse_field(to, msg,
                 &(fl_mirror_fault){.name = field->name,
                                    .what = wrong,
                                    .sent = sent,
                                    .expected = token});
    return false;
}

static bool refuse_meta(const fl_return *to, const fl_msg *msg,
                        const char *what)
{
    fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS, fl_span_of(what),
                    (fl_span){0});
    return false;
}

static bool refuse_version(const fl_return *to, const fl_msg *msg,
                           fl_span requested)
{
    fl_buf data;

    fl_buf_init(&data, DATA_MAX);
    fl_status rc = fl_methods_write_supported(&data, requested);
    if (rc != FL_OK) {
        fl_buf_reset(&data);
        rc = fl_methods_write_supported(&data, (fl_span){0});
    }
    fl_return_error(to, msg->id, FL_RPC_UNSUPPORTED_VERSION, (fl_span){0},
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
    return false;
}

/* By the meaning of the token; NULL for one that is legacy or not known. */
static const fl_revision *find_revision(fl_span version)
{
    for (const fl_revision *row = fl_revision_table(); row->name != NULL; row++)
        if (!row->legacy && fl_json_string_is(version, fl_span_of(row->name)))
            return row;
    return NULL;
}

static bool is_log_level(fl_span token)
{
    fl_level level;

    return fl_levels_read(token, &level) == FL_OK;
}

bool fl_ladder_claim(fl_return *to, const fl_msg *msg)
{
    const fl_claim *claim = &msg->inner.claim;
    fl_span method = {msg->method.ptr - 1, msg->method.len + 2};

    /* of the era, at least, until it is known better */
    to->revision = fl_revision_get(FL_REVISION_2026_07_28);
    to->early = true;
    if (has_fields(to) &&
        (!check_field(to, msg, &fields[VERSION], claim->version) ||
         !check_field(to, msg, &fields[METHOD], method)))
        return false;
    if (fl_json_type_of(claim->version) != FL_JSON_STRING)
        return refuse_meta(to, msg,
                           "_meta io.modelcontextprotocol/protocolVersion "
                           "must be a string");
    const fl_revision *revision = find_revision(claim->version);
    if (revision == NULL)
        return refuse_version(to, msg, claim->version);
    to->revision = revision;
    if (fl_json_type_of(claim->client_capabilities) != FL_JSON_OBJECT)
        return refuse_meta(to, msg,
                           "_meta io.modelcontextprotocol/clientCapabilities "
                           "must be an object");
    if (claim->log_level.len > 0 && !is_log_level(claim->log_level))
        return refuse_meta(to, msg,
                           "_meta io.modelcontextprotocol/logLevel is not a "
                           "log level");
    to->early = false;
    return true;
}

bool fl_ladder_name(const fl_return *to, const fl_msg *msg)
{
    const fl_span *name = has_fields(to) ? fl_extract_named(msg) : NULL;

    return name == NULL || check_field(to, msg, &fields[NAME], *name);
}

bool fl_ladder_arguments(const fl_return *to, const fl_msg *msg,
                         const fl_tool *tool, fl_span arguments)
{
    fl_mirror_fault fault;

    if (to->revision->legacy || !has_fields(to) ||
        fl_mirror_check(fl_span_of(tool->input_schema), arguments, to->reply,
                        &fault))
        return true;
    refuse_field(to, msg, &fault);
    return false;
}
