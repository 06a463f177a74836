/*
 * pattern.c - regular expressions, on PCRE2 and on a budget.
 *
 * PCRE2 backtracks, and an expression can be written, or a string for it, that
 * backtracks for ever. Its match limit stops that, but it counts from zero at
 * each place where a match may begin, and it does not say how much was used.
 * So the limit is divided by the number of places, and a match is first tried
 * with a small one and then with ten times as much: what was used up is paid
 * for in steps, and what most expressions need costs next to nothing.
 *
 * What the limit does not see is an expression that looks through the string
 * at every place and finds it wanting: length times places, at a nanosecond
 * each. That is paid in advance, unless the expression is anchored.
 *
 * Memory comes through one door, too, and is counted: a short expression such
 * as (a{500}){100} can take 64 KiB.
 */
#include "schema/pattern.h"

#include "base/mem.h"
#include "base/span.h"

#include <stddef.h>
#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    FIRST_TRY = 1000,
    NEXT_TRY = 10,    /* times as much */
    STEP_WORK = 4096, /* bytes looked through, all places together */
    LEAST_PER_PLACE = 16,
    HEAP_KIB = 4096,  /* for backtracking, in one match */
    KEPT = 64 * 1024, /* of that, for the next one */
    REWRITTEN_MAX = 64 * FL_PATTERN_MAX,
};

struct fl_pattern {
    fl_pattern *next;
    pcre2_code *code;
    bool anchored;
};

/* In front of each block: how large it is. */
typedef union header {
    size_t size;
    max_align_t align;
} header;

static void *take(PCRE2_SIZE size, void *user)
{
    fl_patterns *patterns = user;

    if (size > patterns->max - patterns->used)
        return NULL;
    header *block = fl_mem_alloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    patterns->used += size;
    return block + 1;
}

static void give_back(void *memory, void *user)
{
    fl_patterns *patterns = user;

    if (memory == NULL)
        return;
    header *block = (header *)memory - 1;
    patterns->used -= block->size;
    fl_mem_free(block);
}

fl_status fl_patterns_init(fl_patterns *patterns, size_t max,
                           uint32_t max_backtracks)
{
    *patterns = (fl_patterns){.max = max, .max_backtracks = max_backtracks};
    patterns->general = pcre2_general_context_create(take, give_back, patterns);
    return patterns->general != NULL ? FL_OK : FL_E_NOMEM;
}

void fl_patterns_deinit(fl_patterns *patterns)
{
    while (patterns->first != NULL) {
        fl_pattern *pattern = patterns->first;
        patterns->first = pattern->next;
        pcre2_code_free(pattern->code);
        fl_mem_free(pattern);
    }
    pcre2_match_data_free(patterns->data);
    pcre2_match_context_free(patterns->match);
    pcre2_compile_context_free(patterns->compile);
    pcre2_general_context_free(patterns->general);
    *patterns = (fl_patterns){0};
}

/* What only schemas with patterns need. */
static bool prepare(fl_patterns *p)
{
    enum { NUL_ENDS_LINES = PCRE2_NEWLINE_NUL };

    if (p->compile == NULL) {
        p->compile = pcre2_compile_context_create(p->general);
        if (p->compile != NULL)
            pcre2_set_newline(p->compile, NUL_ENDS_LINES);
    }
    if (p->match == NULL) {
        p->match = pcre2_match_context_create(p->general);
        if (p->match != NULL)
            pcre2_set_heap_limit(p->match, HEAP_KIB);
    }
    if (p->data == NULL)
        p->data = pcre2_match_data_create(1, p->general);
    return p->compile != NULL && p->match != NULL && p->data != NULL;
}

static fl_status no_room(const fl_patterns *patterns, char *why)
{
    bool full = patterns->used > patterns->max / 2;

    snprintf(why, 128, "%s",
             full ? "expressions take too much memory" : "out of memory");
    return full ? FL_E_LIMIT : FL_E_NOMEM;
}

static fl_status compile_rewritten(fl_patterns *patterns, fl_span text,
                                   pcre2_code **out, char *why)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
        PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
        PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NO_AUTO_POSSESS;
    PCRE2_SPTR bytes = (PCRE2_SPTR)(text.len > 0 ? text.ptr : "");
    PCRE2_SIZE at;
    int code;

    *out =
        pcre2_compile(bytes, text.len, options, &code, &at, patterns->compile);
    if (*out != NULL)
        return FL_OK;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return no_room(patterns, why);
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, 128);
    if (code == PCRE2_ERROR_PATTERN_TOO_LARGE)
        return FL_E_LIMIT;
    return code == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH ? FL_E_UNSUPPORTED
                                                           : FL_E_INVALID;
}

static fl_status compile(fl_patterns *patterns, fl_span text, pcre2_code **out,
                         char *why)
{
    const char *reason = "";
    fl_buf rewritten;

    *out = NULL;
    why[0] = '\0';
    if (text.len > FL_PATTERN_MAX) {
        snprintf(why, 128, "has more than %d bytes", FL_PATTERN_MAX);
        return FL_E_LIMIT;
    }
    if (!prepare(patterns))
        return no_room(patterns, why);
    fl_buf_init(&rewritten, REWRITTEN_MAX);
    fl_status rc = fl_ecma_rewrite(text, &rewritten, &reason);
    if (rc == FL_OK)
        rc = compile_rewritten(patterns, fl_buf_view(&rewritten), out, why);
    else
        snprintf(why, 128, "%s",
                 rc == FL_E_INVALID ? reason : fl_status_text(rc));
    fl_buf_reset(&rewritten);
    return rc;
}

/* A first match makes PCRE2 take the memory that all later ones use. */
static fl_status warm_up(fl_patterns *patterns, const fl_pattern *pattern)
{
    uint64_t steps = FIRST_TRY;
    fl_status rc =
        fl_pattern_match(patterns, pattern, (fl_span){"", 0}, &steps);

    return rc == FL_E_NOMEM ? rc : FL_OK;
}

fl_status fl_pattern_compile(fl_patterns *patterns, fl_span text,
                             const fl_pattern **out, char *why)
{
    pcre2_code *code;
    uint32_t options = 0;
    fl_status rc = compile(patterns, text, &code, why);

    if (rc != FL_OK)
        return rc;
    fl_pattern *pattern = fl_mem_zalloc(sizeof *pattern);
    if (pattern == NULL) {
        pcre2_code_free(code);
        return no_room(patterns, why);
    }
    pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
    *pattern =
        (fl_pattern){patterns->first, code, (options & PCRE2_ANCHORED) != 0};
    patterns->first = pattern;
    *out = pattern;
    patterns->idle = patterns->used;
    rc = warm_up(patterns, pattern);
    return rc == FL_OK ? rc : no_room(patterns, why);
}

bool fl_pattern_is_valid(fl_patterns *patterns, fl_span text)
{
    pcre2_code *code;
    char why[128];
    fl_status rc = compile(patterns, text, &code, why);

    if (code != NULL)
        pcre2_code_free(code);
    return rc != FL_E_INVALID;
}

/* PCRE2 keeps the memory of its deepest match; that may be too much. */
static void trim(fl_patterns *patterns)
{
    if (patterns->used <= patterns->idle + KEPT)
        return;
    pcre2_match_data_free(patterns->data);
    patterns->data = NULL;
}

/* One try with so many backtracks at most, all places together. */
static fl_status attempt(fl_patterns *patterns, const fl_pattern *pattern,
                         fl_span subject, uint64_t budget)
{
    size_t places = pattern->anchored ? 1 : subject.len + 1;
    uint64_t each = budget / places;
    PCRE2_SPTR bytes = (PCRE2_SPTR)(subject.len > 0 ? subject.ptr : "");

    if (!prepare(patterns))
        return FL_E_NOMEM;
    each = each > LEAST_PER_PLACE ? each : LEAST_PER_PLACE;
    pcre2_set_match_limit(patterns->match, (uint32_t)each);
    int rc = pcre2_match(pattern->code, bytes, subject.len, 0,
                         PCRE2_NO_UTF_CHECK, patterns->data, patterns->match);
    trim(patterns);
    if (rc >= 0)
        return FL_OK;
    if (rc == PCRE2_ERROR_NOMATCH)
        return FL_END;
    if (rc == PCRE2_ERROR_NOMEMORY)
        return FL_E_NOMEM;
    return rc == PCRE2_ERROR_MATCHLIMIT ? FL_AGAIN : FL_E_LIMIT;
}

static bool spend(uint64_t *steps, uint64_t cost)
{
    if (cost > *steps) {
        *steps = 0;
        return false;
    }
    *steps -= cost;
    return true;
}

fl_status fl_pattern_match(fl_patterns *patterns, const fl_pattern *pattern,
                           fl_span subject, uint64_t *steps)
{
    uint64_t places = pattern->anchored ? 1 : (uint64_t)subject.len;
    uint64_t budget = FIRST_TRY;

    if (!spend(steps, 1 + places * subject.len / STEP_WORK))
        return FL_E_LIMIT;
    for (;;) {
        if (budget > patterns->max_backtracks)
            budget = patterns->max_backtracks;
        fl_status rc = attempt(patterns, pattern, subject, budget);
        if (rc != FL_AGAIN)
            return rc;
        if (budget == patterns->max_backtracks || !spend(steps, budget))
            return FL_E_LIMIT;
        budget *= NEXT_TRY;
    }
}
