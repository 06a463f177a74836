/*
 * back_words.c - the first words and the last: what a server is told of who
 * opens it, and what is kept of what its child said on stderr.
 */
#include "adapt/adapt.h"
#include "base/span.h"
#include "gateway/back.h"
#include "gateway/declare.h"
#include "json/nav.h"
#include "json/write.h"

#include <fairlead/version.h>

#include <string.h>

enum { KEY_MAX = 4 * 1024 * 1024, SAID_MAX = 8 * 1024 };

/* What a legacy server is told that its client can do. `text` holds it, if it
 * had to be said anew. */
static fl_span abilities_of(const fl_back *back, fl_buf *text)
{
    fl_span said =
        fl_json_get(fl_buf_view(&back->params), FL_SPAN("capabilities"));
    fl_adapt adapt = {
        .from = fl_revision_get(FL_REVISION_2026_07_28),
        .to = fl_revision_get(FL_REVISION_2025_11_25),
        .method = FL_METHOD_INITIALIZE,
    };

    if (fl_buf_len(&back->params) == 0) /* we can ask whoever can answer */
        return FL_SPAN("{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                       "\"elicitation\":{}}");
    if (fl_json_type_of(said) != FL_JSON_OBJECT)
        return FL_SPAN("{}");
    if (back->offered != NULL) /* they are a legacy client's */
        return said;
    return fl_adapt_client_capabilities(&adapt, said, text) == FL_OK
               ? fl_buf_view(text)
               : said;
}

static fl_span capabilities_of(const fl_back *back, fl_buf *text)
{
    fl_buf anew;

    fl_buf_init(&anew, KEY_MAX);
    fl_span said = abilities_of(back, &anew);
    fl_status rc = fl_declare_carry(said, text);
    fl_buf_reset(&anew);
    return rc == FL_OK ? fl_buf_view(text) : FL_SPAN("{}");
}

/* Whom the server gets to see: the client it is for, or us. */
fl_lane_hello fl_back_hello(const fl_back *back, fl_buf *text)
{
    fl_span info =
        fl_json_get(fl_buf_view(&back->params), FL_SPAN("clientInfo"));

    return (fl_lane_hello){
        .client_info =
            fl_json_type_of(info) == FL_JSON_OBJECT
                ? info
                : FL_SPAN("{\"name\":\"fairlead\",\"version\":\"" FL_VERSION
                          "\"}"),
        .capabilities = capabilities_of(back, text),
        .modern_capabilities = FL_SPAN("{}"),
        .offered = back->offered,
        .last_number = back->last_number,
    };
}

/* {"stderr":["...",...]} of whole lines. */
static fl_status write_lines(fl_span text, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "stderr");
    fl_json_array(&writer);
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
        fl_json_text(&writer, (fl_span){text.ptr, len});
        text = fl_span_from(text, end != NULL ? len + 1 : len);
    }
    fl_json_array_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* Its link is still there to tell. */
void fl_back_take_words(fl_back *back)
{
    fl_link *link = back->lane != NULL ? fl_lane_link(back->lane) : NULL;
    fl_buf said;

    fl_buf_clear(&back->words);
    fl_buf_init(&said, SAID_MAX);
    if (link == NULL || fl_link_operate(link, "stderr", &said) != FL_OK ||
        write_lines(fl_buf_view(&said), &back->words) != FL_OK)
        fl_buf_reset(&back->words);
    fl_buf_reset(&said);
}
