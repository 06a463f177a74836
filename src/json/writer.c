/*
 * writer.c - the public way to write JSON: write.h in plainer clothes.
 *
 * Each value comes with its key, which saves the caller a line for each, and
 * the writer owns its text. That a text is whole is found out by asking a copy
 * of the inner writer, so that one may look at any time.
 */
#include "base/mem.h"
#include "base/span.h"
#include "json/scan.h"
#include "json/write.h"

#include <fairlead/json.h>

#include <stdarg.h>
#include <stdint.h>

#define TEXT_MAX (SIZE_MAX / 8) /* what memory allows */

struct fl_writer {
    fl_buf text;
    fl_json_writer inner;
};

static void begin(fl_writer *writer)
{
    fl_buf_clear(&writer->text);
    fl_json_writer_init(&writer->inner, &writer->text);
}

fl_writer *fl_writer_new(void)
{
    fl_writer *writer = fl_mem_zalloc(sizeof *writer);

    if (writer == NULL)
        return NULL;
    fl_buf_init(&writer->text, TEXT_MAX);
    begin(writer);
    return writer;
}

void fl_writer_free(fl_writer *writer)
{
    if (writer == NULL)
        return;
    fl_buf_reset(&writer->text);
    fl_mem_free(writer);
}

void fl_writer_restart(fl_writer *writer)
{
    if (writer != NULL)
        begin(writer);
}

fl_status fl_writer_status(const fl_writer *writer)
{
    if (writer == NULL)
        return FL_E_NOMEM;
    fl_json_writer asked = writer->inner;
    return fl_json_writer_end(&asked);
}

fl_span fl_writer_json(const fl_writer *writer)
{
    return fl_writer_status(writer) == FL_OK ? fl_buf_view(&writer->text)
                                             : (fl_span){"", 0};
}

/* Where a value goes, its key written; NULL: nowhere. */
static fl_json_writer *place(fl_writer *writer, const char *key)
{
    if (writer == NULL)
        return NULL;
    if (key != NULL)
        fl_json_key(&writer->inner, key);
    return &writer->inner;
}

void fl_write_object(fl_writer *writer, const char *key)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_object(at);
}

void fl_write_array(fl_writer *writer, const char *key)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_array(at);
}

void fl_write_end(fl_writer *writer)
{
    if (writer != NULL)
        fl_json_end(&writer->inner);
}

void fl_write_text(fl_writer *writer, const char *key, fl_span text)
{
    fl_json_writer *at = place(writer, key);

    if (at == NULL)
        return;
    if (text.ptr != NULL)
        fl_json_text(at, text);
    else
        fl_json_null(at);
}

void fl_write_string(fl_writer *writer, const char *key, const char *text)
{
    fl_write_text(writer, key, fl_span_of(text));
}

void fl_write_stringf(fl_writer *writer, const char *key, const char *format,
                      ...)
{
    va_list args;
    fl_buf text;

    if (writer == NULL)
        return;
    fl_buf_init(&text, TEXT_MAX);
    va_start(args, format);
    fl_status rc = fl_buf_vprintf(&text, format, args);
    va_end(args);
    if (rc == FL_OK)
        fl_json_text(place(writer, key), fl_buf_view(&text));
    else
        fl_json_fail(&writer->inner, rc);
    fl_buf_reset(&text);
}

void fl_write_number(fl_writer *writer, const char *key, double number)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_number(at, number);
}

void fl_write_integer(fl_writer *writer, const char *key, int64_t number)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_integer(at, number);
}

void fl_write_bool(fl_writer *writer, const char *key, bool value)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_bool(at, value);
}

void fl_write_null(fl_writer *writer, const char *key)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_null(at);
}

void fl_write_base64(fl_writer *writer, const char *key, fl_span bytes)
{
    fl_json_writer *at = place(writer, key);

    if (at != NULL)
        fl_json_base64(at, bytes);
}

void fl_write_raw(fl_writer *writer, const char *key, fl_span json)
{
    fl_json_writer *at = place(writer, key);
    fl_json_top top;

    if (at == NULL)
        return;
    fl_status rc = fl_json_scan(json, 0, &top, NULL);
    if (rc == FL_OK)
        fl_json_raw(at, top.value);
    else
        fl_json_fail(at, rc);
}
