/*
 * adapt_words.h - for tests of words: JSON in apostrophes, and what became of
 * it.
 */
#ifndef TESTS_UNIT_ADAPT_WORDS_H
#define TESTS_UNIT_ADAPT_WORDS_H

#include "adapt/adapt.h"
#include "base/span.h"
#include "support/ration.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 1 << 20 };

/* Four legacy revisions and the modern one. */
enum {
    L1 = FL_REVISION_2024_11_05,
    L2 = FL_REVISION_2025_03_26,
    L3 = FL_REVISION_2025_06_18,
    L4 = FL_REVISION_2025_11_25,
    M = FL_REVISION_2026_07_28,
};

/* The text with its apostrophes turned into quotes; the last eight live. */
static inline fl_span words(const char *text)
{
    static char ring[8][4096];
    static unsigned turn;
    char *at = ring[turn++ % 8];
    size_t len = strlen(text);

    assert_true(len < sizeof ring[0]);
    for (size_t i = 0; i <= len; i++)
        at[i] = text[i] == '\'' ? '"' : text[i];
    return (fl_span){at, len};
}

static inline fl_adapt between(int from, int to, fl_method method)
{
    return (fl_adapt){
        .from = fl_revision_get((fl_revision_id)from),
        .to = fl_revision_get((fl_revision_id)to),
        .method = method,
    };
}

/* One that adapts, whatever it is called. */
typedef fl_status words_adapt(const fl_adapt *adapt, fl_span text, fl_buf *out);

static inline void check_json(fl_span text)
{
    fl_json_top top;

    if (fl_json_scan(text, 0, &top, NULL) != FL_OK)
        fail_msg("not JSON: %.*s", (int)text.len, text.ptr);
}

/* Appends to something that is there already: it must be left alone. */
static inline void check_words(words_adapt *say, const fl_adapt *adapt,
                               const char *text, const char *want)
{
    fl_span before = FL_SPAN("before");
    fl_span wanted = want != NULL ? words(want) : (fl_span){0};
    fl_buf out;

    fl_buf_init(&out, WORDS_MAX);
    assert_int_equal(fl_buf_append(&out, before), FL_OK);
    fl_status rc = say(adapt, words(text), &out);
    fl_span got = fl_buf_view(&out);
    assert_true(fl_span_starts(got, before));
    got = fl_span_from(got, before.len);
    if (rc != (want != NULL ? FL_OK : FL_END) || !fl_span_equal(got, wanted))
        fail_msg("%s: want %.*s, got %.*s", fl_status_text(rc), (int)wanted.len,
                 want != NULL ? wanted.ptr : "", (int)got.len, got.ptr);
    if (want != NULL)
        check_json(got);
    fl_buf_reset(&out);
}

static inline void check_same(words_adapt *say, const fl_adapt *adapt,
                              const char *text)
{
    check_words(say, adapt, text, NULL);
}

static inline void check_refused(words_adapt *say, const fl_adapt *adapt,
                                 const char *text, fl_status want)
{
    fl_buf out;

    fl_buf_init(&out, WORDS_MAX);
    assert_int_equal(say(adapt, words(text), &out), want);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

/* Memory that runs out at every point, and room that does. */
typedef struct words_scene {
    words_adapt *say;
    const fl_adapt *adapt;
    fl_span text;
} words_scene;

static inline void play_scene(void *user)
{
    const words_scene *scene = user;
    fl_buf out;

    fl_buf_init(&out, WORDS_MAX);
    fl_status rc = scene->say(scene->adapt, scene->text, &out);
    if (rc != FL_OK) {
        assert_int_equal(rc, FL_E_NOMEM);
        assert_int_equal(fl_buf_len(&out), 0);
    }
    fl_buf_reset(&out);
}

static inline void check_scarcity(words_adapt *say, const fl_adapt *adapt,
                                  const char *text)
{
    words_scene scene = {say, adapt, words(text)};
    fl_status rc = FL_E_TOO_BIG;

    assert_true(ration_each(play_scene, &scene) > 1);
    for (size_t max = 1; rc != FL_OK; max++) {
        fl_buf out;
        fl_buf_init(&out, max);
        rc = say(adapt, scene.text, &out);
        if (rc != FL_OK) {
            assert_int_equal(rc, FL_E_TOO_BIG);
            assert_int_equal(fl_buf_len(&out), 0);
        }
        fl_buf_reset(&out);
    }
}

#endif
