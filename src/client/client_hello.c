/*
 * client_hello.c - the two ways to open a conversation, as messages.
 *
 * initialize tells the server once who we are and is answered by who it is.
 * server/discover asks a modern server the same; but there every request tells
 * who we are, in members of its _meta, which are written here once and
 * spliced into each (request.c).
 */
#include "client/client.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/write.h"

/* The members without the braces around them. */
fl_status fl_client_write_claim(fl_client *client, const fl_revision *revision)
{
    fl_json_writer writer;
    fl_buf *out = fl_loop_scratch(client->loop);

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "io.modelcontextprotocol/protocolVersion");
    fl_json_string(&writer, revision->name);
    fl_json_key(&writer, "io.modelcontextprotocol/clientInfo");
    fl_json_raw(&writer, fl_buf_view(&client->identity));
    fl_json_key(&writer, "io.modelcontextprotocol/clientCapabilities");
    fl_client_offer_write(client, revision, &writer);
    if (client->log_level != NULL) {
        fl_json_key(&writer, "io.modelcontextprotocol/logLevel");
        fl_json_string(&writer, client->log_level);
    }
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc != FL_OK)
        return rc;
    fl_span object = fl_buf_view(out);
    fl_buf claim = client->claim;
    fl_buf_init(&client->claim, claim.max);
    rc = fl_buf_append(&client->claim,
                       (fl_span){object.ptr + 1, object.len - 2});
    if (rc == FL_OK)
        fl_buf_reset(&claim);
    else
        client->claim = claim; /* as it was */
    return rc;
}

fl_status fl_client_say_discover(fl_client *client, const fl_revision *revision,
                                 fl_answer_fn *on_answer)
{
    fl_status rc = fl_client_write_claim(client, revision);

    if (rc != FL_OK)
        return rc;
    client->agreement.in = revision;
    return fl_client_ask_own(client,
                             &(fl_own){
                                 .method = "server/discover",
                                 .timeout_ms = client->timeout_ms,
                                 .claims = true,
                                 .on_answer = on_answer,
                             },
                             &client->agreement.probe);
}

static fl_status write_initialize(const fl_client *client, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "protocolVersion");
    fl_json_string(&writer, client->offered->name);
    fl_json_key(&writer, "capabilities");
    fl_client_offer_write(client, client->offered, &writer);
    fl_json_key(&writer, "clientInfo");
    fl_json_raw(&writer, fl_buf_view(&client->identity));
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_client_say_initialize(fl_client *client, uint64_t timeout_ms,
                                   fl_answer_fn *on_answer)
{
    fl_buf *params = fl_loop_scratch(client->loop);
    fl_status rc = write_initialize(client, params);

    if (rc != FL_OK)
        return rc;
    return fl_client_ask_own(client,
                             &(fl_own){
                                 .method = "initialize",
                                 .params = fl_buf_view(params),
                                 .timeout_ms = timeout_ms,
                                 .on_answer = on_answer,
                             },
                             &client->agreement.opener);
}

static fl_status keep(fl_client *client, fl_span result)
{
    fl_buf_reset(&client->said);
    return fl_buf_append(&client->said, result);
}

fl_status fl_client_keep_discovered(fl_client *client,
                                    const fl_revision *revision, fl_span result)
{
    fl_status rc = fl_client_write_claim(client, revision);

    if (rc == FL_OK)
        rc = keep(client, result);
    if (rc == FL_OK)
        client->revision = revision;
    return rc;
}

fl_status fl_client_keep_initialized(fl_client *client, fl_span result,
                                     fl_error *error)
{
    fl_span version = fl_json_get(result, FL_SPAN("protocolVersion"));

    if (fl_json_type_of(version) != FL_JSON_STRING)
        return fl_error_set(
            error, FL_E_BAD_MESSAGE,
            "the server's answer to initialize has no protocolVersion");
    fl_span name = {version.ptr + 1, version.len - 2};
    const fl_revision *revision = fl_revision_find(name);
    if (revision == NULL || !revision->legacy)
        return fl_error_set(error, FL_E_UNSUPPORTED,
                            "this client does not speak the revision the "
                            "server wants: %.*s",
                            (int)(name.len < 120 ? name.len : 120), name.ptr);
    client->revision = revision;
    fl_status rc = keep(client, result);
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

static fl_span said(const fl_client *client, fl_span key)
{
    return fl_json_get(fl_buf_view(&client->said), key);
}

const char *fl_client_revision(const fl_client *client)
{
    return client->revision != NULL ? client->revision->name : "";
}

fl_era fl_client_era(const fl_client *client)
{
    if (client->revision == NULL)
        return FL_ERA_AUTO;
    return client->revision->legacy ? FL_ERA_LEGACY : FL_ERA_MODERN;
}

fl_span fl_client_server_info(const fl_client *client)
{
    if (fl_client_is_modern(client))
        return fl_json_get(said(client, FL_SPAN("_meta")),
                           FL_SPAN("io.modelcontextprotocol/serverInfo"));
    return said(client, FL_SPAN("serverInfo"));
}

fl_span fl_client_capabilities(const fl_client *client)
{
    return said(client, FL_SPAN("capabilities"));
}

fl_span fl_client_instructions(const fl_client *client)
{
    return said(client, FL_SPAN("instructions"));
}
