/*
 * method_resources.c - resources/read, and what is said of a resource that is
 * not there.
 *
 * The URI is looked up by what it means, first among the resources, then among
 * the templates; what stood for a template's variables becomes the arguments
 * of the call.
 */
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/methods.h"
#include "server/resources.h"
#include "server/server.h"

#include "json/nav.h"
#include "json/write.h"

/* Of {"uri":"..."}, each byte an escape at worst. */
enum { DATA_MAX = 6 * FL_RESOURCES_URI_MAX + 64 };

bool fl_methods_uri(const fl_return *to, const fl_msg *msg, fl_buf *text,
                    fl_span *uri)
{
    fl_span token = msg->inner.uri;

    *uri = (fl_span){0};
    if (fl_json_type_of(token) != FL_JSON_STRING) {
        fl_methods_refuse(to, msg, "params.uri must be a string");
        return false;
    }
    fl_span inside = {token.ptr + 1, token.len - 2};
    if (fl_span_find(inside, '\\') == inside.len) { /* nearly always */
        *uri = inside;
        return true;
    }
    fl_status rc = fl_json_string_copy(token, text);
    *uri = fl_buf_view(text);
    if (rc != FL_OK)
        fl_methods_no_resource(to, msg, rc);
    return rc == FL_OK;
}

/* {"uri":...} as it came, if it is not too long to be repeated. */
static fl_span write_data(fl_buf *out, fl_span token)
{
    fl_json_writer writer;

    if (token.len == 0)
        return (fl_span){0};
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "uri");
    fl_json_raw(&writer, token);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer) == FL_OK ? fl_buf_view(out)
                                                : (fl_span){0};
}

void fl_methods_no_resource(const fl_return *to, const fl_msg *msg,
                            fl_status why)
{
    fl_buf data;

    if (why == FL_E_NOMEM) {
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    fl_buf_init(&data, DATA_MAX);
    fl_return_error(to, msg->id, FL_RPC_RESOURCE_NOT_FOUND,
                    FL_SPAN("resource not found"),
                    write_data(&data, msg->inner.uri));
    fl_buf_reset(&data);
}

void fl_call_not_found(fl_call *call)
{
    fl_buf data;

    fl_buf_init(&data, DATA_MAX);
    fl_call_end_error(call, FL_RPC_RESOURCE_NOT_FOUND,
                      FL_SPAN("resource not found"),
                      write_data(&data, call->msg->inner.uri));
    fl_buf_reset(&data);
}

static void read_found(const fl_return *to, const fl_msg *msg,
                       fl_resources_entry *found, fl_span arguments)
{
    fl_call call;

    fl_call_init(&call, &(fl_call_start){.to = to,
                                         .msg = msg,
                                         .kind = FL_CALL_READ,
                                         .entry = &found->entry});
    if (fl_call_keep_arguments(&call, arguments))
        fl_call_run(&call);
}

void fl_method_resources_read(const fl_return *to, const fl_msg *msg)
{
    fl_resources_entry *found;
    fl_buf text, arguments;
    fl_span uri;

    if (!fl_methods_admit(to, msg))
        return;
    fl_buf_init(&text, FL_RESOURCES_URI_MAX);
    fl_buf_init(&arguments, FL_RESOURCES_ARGUMENTS_MAX);
    if (fl_methods_uri(to, msg, &text, &uri)) {
        fl_status rc = fl_resources_find(to->session->server->catalogs, uri,
                                         &arguments, &found);
        if (rc == FL_OK)
            read_found(to, msg, found, fl_buf_view(&arguments));
        else
            fl_methods_no_resource(to, msg, rc);
    }
    fl_buf_reset(&arguments);
    fl_buf_reset(&text);
}
