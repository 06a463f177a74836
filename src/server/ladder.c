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

enum { DATA_MAX = 1024 }; /* of what is said back */

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

/* False, for whoever returns it. */
static bool blame_field(fl_ladder_fault *fault, const fl_mirror_fault *mirror)
{
    fault->code = FL_RPC_HEADER_MISMATCH;
    snprintf(fault->text, sizeof fault->text, "Header mismatch: %s %s",
             mirror->name, mirror->what);
    if (write_mismatch(&fault->data, mirror->name, mirror->sent,
                       mirror->expected) == FL_OK)
        return false;
    fl_buf_reset(&fault->data); /* too long to repeat: the name will do */
    if (write_mismatch(&fault->data, mirror->name, (fl_span){0},
                       (fl_span){0}) != FL_OK)
        fl_buf_reset(&fault->data);
    return false;
}

/* The fields that repeat what no schema names. */
enum { VERSION, METHOD, NAME };

static const struct field {
    fl_span key;
    const char *name; /* as people write it */
    bool encoded;
} fields[] = {
    [VERSION] = {{"mcp-protocol-version", 20}, "MCP-Protocol-Version", false},
    [METHOD] = {{"mcp-method", 10}, "Mcp-Method", false},
    [NAME] = {{"mcp-name", 8}, "Mcp-Name", true},
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
static bool check_field(fl_reply reply, const struct field *field,
                        fl_span token, fl_ladder_fault *fault)
{
    fl_span sent = fl_reply_field(reply, field->key);
    const char *wrong = judge_field(field, sent, token);

    return wrong == NULL ||
           blame_field(fault, &(fl_mirror_fault){.name = field->name,
                                                 .what = wrong,
                                                 .sent = sent,
                                                 .expected = token});
}

static bool blame_meta(fl_ladder_fault *fault, const char *what)
{
    fault->code = FL_RPC_INVALID_PARAMS;
    snprintf(fault->text, sizeof fault->text,
             "_meta io.modelcontextprotocol/%s", what);
    return false;
}

static bool blame_version(fl_ladder_fault *fault, fl_span requested)
{
    fault->code = FL_RPC_UNSUPPORTED_VERSION;
    if (fl_methods_write_supported(&fault->data, requested) == FL_OK)
        return false;
    fl_buf_reset(&fault->data);
    if (fl_methods_write_supported(&fault->data, (fl_span){0}) != FL_OK)
        fl_buf_reset(&fault->data);
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

static bool judge_claim(fl_reply reply, bool fields_too, const fl_msg *msg,
                        const fl_revision **revision, fl_ladder_fault *fault)
{
    const fl_claim *claim = &msg->inner.claim;
    fl_span method = {msg->method.ptr - 1, msg->method.len + 2};

    if (fields_too &&
        (!check_field(reply, &fields[VERSION], claim->version, fault) ||
         !check_field(reply, &fields[METHOD], method, fault)))
        return false;
    if (fl_json_type_of(claim->version) != FL_JSON_STRING)
        return blame_meta(fault, "protocolVersion must be a string");
    const fl_revision *found = find_revision(claim->version);
    if (found == NULL)
        return blame_version(fault, claim->version);
    *revision = found;
    if (fl_json_type_of(claim->client_capabilities) != FL_JSON_OBJECT)
        return blame_meta(fault, "clientCapabilities must be an object");
    if (claim->log_level.len > 0 && !is_log_level(claim->log_level))
        return blame_meta(fault, "logLevel is not a log level");
    return true;
}

static void begin(fl_ladder_fault *fault)
{
    fault->code = 0;
    fault->text[0] = '\0';
    fl_buf_init(&fault->data, DATA_MAX);
}

bool fl_ladder_judge(fl_reply reply, bool fields_too, const fl_msg *msg,
                     const fl_revision **revision, fl_ladder_fault *fault)
{
    begin(fault);
    /* of the era, at least, until it is known better */
    *revision = fl_revision_get(FL_REVISION_2026_07_28);
    return judge_claim(reply, fields_too, msg, revision, fault);
}

bool fl_ladder_judge_name(fl_reply reply, bool fields_too, const fl_msg *msg,
                          fl_ladder_fault *fault)
{
    const fl_span *name = fields_too ? fl_extract_named(msg) : NULL;

    begin(fault);
    return name == NULL || check_field(reply, &fields[NAME], *name, fault);
}

bool fl_ladder_judge_arguments(fl_reply reply, fl_span schema,
                               fl_span arguments, fl_ladder_fault *fault)
{
    fl_mirror_fault mirror;

    begin(fault);
    return fl_mirror_check(schema, arguments, reply, &mirror) ||
           blame_field(fault, &mirror);
}

/* Answers, and returns false. */
static bool refuse(const fl_return *to, const fl_msg *msg,
                   fl_ladder_fault *fault)
{
    fl_return early = *to;

    early.early = true;
    fl_return_error(&early, msg->id, fault->code, fl_span_of(fault->text),
                    fl_buf_view(&fault->data));
    fl_buf_reset(&fault->data);
    return false;
}

bool fl_ladder_claim(fl_return *to, const fl_msg *msg)
{
    fl_ladder_fault fault;

    return fl_ladder_judge(to->reply, has_fields(to), msg, &to->revision,
                           &fault) ||
           refuse(to, msg, &fault);
}

bool fl_ladder_name(const fl_return *to, const fl_msg *msg)
{
    fl_ladder_fault fault;

    return fl_ladder_judge_name(to->reply, has_fields(to), msg, &fault) ||
           refuse(to, msg, &fault);
}

bool fl_ladder_arguments(const fl_return *to, const fl_msg *msg,
                         const fl_tool *tool, fl_span arguments)
{
    fl_ladder_fault fault;

    return to->revision->legacy || !has_fields(to) ||
           fl_ladder_judge_arguments(to->reply, fl_span_of(tool->input_schema),
                                     arguments, &fault) ||
           refuse(to, msg, &fault);
}
