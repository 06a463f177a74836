/*
 * record.c - who we are at which authorization server, and its tokens.
 */
#include "auth/record.h"

#include "auth/metadata.h"
#include "auth/text.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/write.h"

static const char *const keys[FL_RECORD_COUNT] = {
#define RECORD_KEY(name, key) [FL_RECORD_##name] = (key),
    FL_RECORD_MAP(RECORD_KEY)
#undef RECORD_KEY
};

fl_status fl_record_set(fl_record *record, fl_record_slot slot, fl_span text)
{
    return fl_text_set(&record->text[slot], text);
}

fl_span fl_record_get(const fl_record *record, fl_record_slot slot)
{
    return fl_span_of(record->text[slot]);
}

void fl_record_clear(fl_record *record)
{
    for (int i = 0; i < FL_RECORD_COUNT; i++)
        fl_text_drop(&record->text[i]);
    *record = (fl_record){0};
}

void fl_record_drop_tokens(fl_record *record)
{
    fl_text_drop(&record->text[FL_RECORD_ACCESS]);
    fl_text_drop(&record->text[FL_RECORD_REFRESH]);
    fl_text_drop(&record->text[FL_RECORD_TYPE]);
    fl_text_drop(&record->text[FL_RECORD_SCOPE]);
    record->expires = record->renew = 0;
}

fl_status fl_record_bind(fl_record *record, fl_span issuer)
{
    if (fl_span_equal(fl_record_get(record, FL_RECORD_ISSUER), issuer))
        return FL_OK;
    for (int i = 0; i < FL_RECORD_COUNT; i++)
        if (i != FL_RECORD_SERVER && i != FL_RECORD_KEY)
            fl_text_drop(&record->text[i]);
    record->expires = record->renew = 0;
    return fl_record_set(record, FL_RECORD_ISSUER, issuer);
}

static void write_time(fl_json_writer *writer, const char *key, int64_t time)
{
    if (time == 0)
        return;
    fl_json_key(writer, key);
    fl_json_integer(writer, time);
}

static int64_t read_time(fl_span object, const char *key)
{
    int64_t time;

    return fl_json_int64(fl_json_get(object, fl_span_of(key)), &time) == FL_OK
               ? time
               : 0;
}

fl_status fl_record_write(const fl_record *record, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    for (int i = 0; i < FL_RECORD_COUNT; i++) {
        if (record->text[i] == NULL)
            continue;
        fl_json_key(&writer, keys[i]);
        fl_json_string(&writer, record->text[i]);
    }
    write_time(&writer, "expires_at", record->expires);
    write_time(&writer, "renew_at", record->renew);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_record_read(fl_record *record, fl_span json)
{
    fl_record fresh = {0};
    fl_json_top top;
    fl_status rc = FL_OK;

    if (fl_json_scan(json, 8, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return FL_E_BAD_JSON;
    for (int i = 0; i < FL_RECORD_COUNT && rc == FL_OK; i++)
        rc = fl_member_text(top.value, keys[i], &fresh.text[i]);
    fresh.expires = read_time(top.value, "expires_at");
    fresh.renew = read_time(top.value, "renew_at");
    fl_record_clear(rc == FL_OK ? record : &fresh);
    if (rc == FL_OK)
        *record = fresh;
    return rc;
}
