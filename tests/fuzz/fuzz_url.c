/*
 * fuzz_url.c - what the URL parser accepts is clean, and stays so.
 *
 * The input is a base and a reference, on a line each. Whatever is accepted
 * must hold no byte that could end a line or a word, must name the same place
 * when put together again, and resolving it twice must change nothing.
 */
#include "base/base64.h"
#include "base/span.h"
#include "wire/url.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 1 << 20 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_clean(fl_span text)
{
    for (size_t i = 0; i < text.len; i++)
        require(text.ptr[i] > ' ' && text.ptr[i] < 0x7f && text.ptr[i] != '\\');
}

static void check_parts(const fl_url *url)
{
    check_clean(url->scheme);
    check_clean(url->host);
    check_clean(url->path);
    check_clean(url->query);
    require(url->scheme.len > 0 && url->host.len > 0);
    require(url->path.len == 0 || url->path.ptr[0] == '/');
    require(fl_span_find(url->host, '@') == url->host.len);
    require(fl_span_find(url->query, '#') == url->query.len);
    require(!url->has_port || url->port != 0);
}

static void check_authority(const fl_url *url)
{
    fl_buf out;
    fl_span host;
    uint16_t port;
    bool is_ipv6;

    fl_buf_init(&out, MAX);
    require(fl_url_write_authority(url, &out) == FL_OK);
    require(fl_url_parse_authority(fl_buf_view(&out), &host, &port, &is_ipv6) ==
            FL_OK);
    require(fl_span_equal(host, url->host) && is_ipv6 == url->is_ipv6);
    require(port == 0 || port == url->port);
    fl_buf_reset(&out);
}

static bool has_dots(fl_span path)
{
    while (path.len > 0) {
        path = fl_span_from(path, 1);
        size_t n = fl_span_find(path, '/');
        fl_span segment = {path.ptr, n};
        if (fl_span_equal(segment, FL_SPAN(".")) ||
            fl_span_equal(segment, FL_SPAN("..")))
            return true;
        path = fl_span_from(path, n);
    }
    return false;
}

static void check_resolve(const fl_url *base, fl_span reference)
{
    fl_buf once, twice;
    fl_url url;

    fl_buf_init(&once, MAX);
    fl_buf_init(&twice, MAX);
    if (fl_url_resolve(base, reference, &once) == FL_OK) {
        require(fl_url_parse(fl_buf_view(&once), &url) == FL_OK);
        check_parts(&url);
        check_authority(&url);
        require(!has_dots(url.path));
        require(fl_url_resolve(base, fl_buf_view(&once), &twice) == FL_OK);
        require(fl_span_equal(fl_buf_view(&once), fl_buf_view(&twice)));
    } else {
        require(fl_buf_len(&once) == 0);
    }
    fl_buf_reset(&once);
    fl_buf_reset(&twice);
}

/* Percent codes never hide a NUL; of base64 what is put in comes out. */
static void check_codes(fl_span text)
{
    fl_buf coded, back;

    fl_buf_init(&coded, MAX);
    fl_buf_init(&back, MAX);
    if (fl_url_decode(text, &back) == FL_OK)
        require(fl_span_find(fl_buf_view(&back), '\0') == fl_buf_len(&back));
    fl_buf_truncate(&back, 0);
    if (fl_base64_decode(text, &back) == FL_OK) {
        require(fl_base64_encode(fl_buf_view(&back), &coded) == FL_OK);
        require(fl_span_equal(fl_buf_view(&coded), text));
    }
    fl_buf_reset(&coded);
    fl_buf_reset(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fl_span text = {(const char *)data, size}, path, query, value;
    size_t line = fl_span_find(text, '\n');
    fl_span first = {text.ptr, line};
    fl_span second = fl_span_from(text, line < size ? line + 1 : line);
    fl_url url;

    fl_url_split_target(first, &path, &query);
    (void)fl_url_query_get(query, FL_SPAN("a"), &value);
    check_codes(first);
    if (fl_url_parse(first, &url) == FL_OK) {
        check_parts(&url);
        check_authority(&url);
        require(fl_url_same_origin(&url, &url));
        check_resolve(&url, second);
        check_resolve(&url, first);
    }
    return 0;
}
