/*
 * doctor_lists.c - what a server lists, page by page.
 */
#include "cmd/doctor_protocol.h"

#include "base/map.h"
#include "base/span.h"
#include "json/nav.h"

#include <stdio.h>
#include <string.h>

enum {
    PAGES = 1000,
    NAMES_MAX = 1000 * 1000,
    CURSOR = 64 * 1024,
    MANY_TOOLS = 100,
};

/* One of the lists there are. */
typedef struct kind {
    const char *capability, *method, *member, *key, *noun;
} kind;

static const kind kinds[] = {
    {"tools", "tools/list", "tools", "name", "tool"},
    {"resources", "resources/list", "resources", "uri", "resource"},
    {"resources", "resources/templates/list", "resourceTemplates",
     "uriTemplate", "template"},
    {"prompts", "prompts/list", "prompts", "name", "prompt"},
};

typedef struct listing {
    const kind *kind;
    bool modern;
    size_t count;
    unsigned pages;
    fl_map names, cursors; /* those seen, as JSON has them */
    fl_flaw twice, unnamed;
    fl_tool_flaws tools;
    const char *trouble; /* that ends it; NULL: none */
    const char *advice;
} listing;

/* Whether it was there; it is from now on. */
static bool remember(fl_map *all, fl_span token)
{
    return fl_map_add(all, token, all) == FL_E_IN_USE;
}

static void take_item(listing *list, fl_span item)
{
    fl_span name = fl_json_get(item, fl_span_of(list->kind->key));

    list->count++;
    if (list->kind == &kinds[0])
        fl_exam_tool(&list->tools, item, list->modern);
    if (fl_json_type_of(name) != FL_JSON_STRING || name.len <= 2)
        fl_flaw_note(&list->unnamed, name.len > 0 ? name : FL_SPAN("none"));
    else if (remember(&list->names, name))
        fl_flaw_note(&list->twice, name);
}

/* True: there is another page. */
static bool take_page(listing *list, fl_span result, fl_buf *cursor)
{
    fl_span items = fl_json_get(result, fl_span_of(list->kind->member));
    fl_span next = fl_json_get(result, FL_SPAN("nextCursor"));
    fl_json_walk walk;
    fl_json_member item;

    list->pages++;
    if (fl_json_type_of(items) != FL_JSON_ARRAY) {
        list->trouble = "its answer has no list in it";
        list->advice = "Answer with an array, if only an empty one.";
        return false;
    }
    fl_json_walk_init(&walk, items);
    while (fl_json_walk_next(&walk, &item))
        take_item(list, item.value);
    if (next.len == 0)
        return false;
    if (fl_json_type_of(next) != FL_JSON_STRING) {
        list->trouble = "nextCursor is no text";
        list->advice = "Leave nextCursor out on the last page, null is not "
                       "text; on others it is text.";
        return false;
    }
    if (remember(&list->cursors, next) || list->pages >= PAGES) {
        list->trouble = "its pages do not come to an end";
        list->advice = "Each page leads to the next one by a nextCursor of "
                       "its own, and the last page has none.";
        return false;
    }
    fl_buf_clear(cursor);
    return fl_buf_append(cursor, next) == FL_OK;
}

static fl_status ask_page(fl_talk *talk, const listing *list, fl_buf *params,
                          fl_span cursor)
{
    fl_status rc;

    fl_buf_clear(params);
    rc =
        fl_buf_printf(params, "{%s%s%s%.*s}", list->modern ? FL_EXAM_CLAIM : "",
                      list->modern && cursor.len > 0 ? "," : "",
                      cursor.len > 0 ? "\"cursor\":" : "", (int)cursor.len,
                      cursor.len > 0 ? cursor.ptr : "");
    if (rc == FL_OK) {
        char *end = fl_buf_reserve(params, 1);
        if (end == NULL)
            return FL_E_NOMEM;
        *end = '\0';
    }
    return rc == FL_OK ? fl_talk_ask(talk, "4", list->kind->method,
                                     fl_buf_view(params).ptr)
                       : rc;
}

static fl_status read_pages(fl_exam *exam, fl_talk *talk, listing *list)
{
    fl_buf params, cursor;
    fl_status rc;

    fl_buf_init(&params, CURSOR + 1024);
    fl_buf_init(&cursor, CURSOR);
    do
        rc = ask_page(talk, list, &params, fl_buf_view(&cursor));
    while (rc == FL_OK && take_page(list, talk->msg.result, &cursor) &&
           fl_exam_goes_on(exam));
    fl_buf_reset(&params);
    fl_buf_reset(&cursor);
    return rc;
}

static void report_items(fl_exam *exam, const listing *list)
{
    const kind *one = list->kind;
    char check[64];

    snprintf(check, sizeof check, "%s.list", one->member);
    fl_chart_ok(exam->chart, check, "%s: %zu, on %u page%s", one->method,
                list->count, list->pages, list->pages == 1 ? "" : "s");
    if (list->twice.count > 0)
        fl_chart_find(exam->chart, FL_CHART_FAULT, check,
                      "List each once: of two with one name clients take "
                      "either, or neither.",
                      "%u %s%s listed more than once: %s", list->twice.count,
                      one->noun, list->twice.count == 1 ? " is" : "s are",
                      list->twice.example);
    if (one == &kinds[0]) {
        fl_exam_tool_report(exam, &list->tools, list->count);
        if (list->count > MANY_TOOLS)
            fl_chart_find(exam->chart, FL_CHART_NOTE, "tools.many",
                          "Models choose badly among so many, and hosts cut "
                          "the list: offer fewer, or several servers.",
                          "offers %zu tools", list->count);
    } else if (list->unnamed.count > 0) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, check,
                      "It is what it is asked for by: give it one.",
                      "%u %s%s without %s", list->unnamed.count, one->noun,
                      list->unnamed.count == 1 ? "" : "s", one->key);
    }
}

static void look_at_list(fl_exam *exam, fl_talk *talk, listing *list)
{
    const kind *one = list->kind;
    char check[64];
    bool is_optional = one == &kinds[2]; /* templates have no capability */

    snprintf(check, sizeof check, "%s.list", one->member);
    fl_status rc = read_pages(exam, talk, list);
    if (rc == FL_E_REMOTE && is_optional && fl_talk_code(talk) == -32601)
        return;
    if (rc != FL_OK)
        fl_chart_find(exam->chart, FL_CHART_FAULT, check,
                      "It is declared in capabilities: answer it, or do not "
                      "declare it.",
                      "%s failed: %s", one->method, talk->why.text);
    else if (list->trouble != NULL)
        fl_chart_find(exam->chart, FL_CHART_FAULT, check, list->advice,
                      "%s: %s", one->method, list->trouble);
    if (rc == FL_OK && list->count + list->pages > 0)
        report_items(exam, list);
}

void fl_exam_lists(fl_exam *exam, fl_talk *talk, fl_span capabilities,
                   bool modern)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        listing list = {.kind = &kinds[i], .modern = modern};
        fl_span said =
            fl_json_get(capabilities, fl_span_of(kinds[i].capability));

        if (said.len == 0 || talk->link == NULL || !fl_exam_goes_on(exam))
            continue;
        fl_map_init(&list.names, NAMES_MAX);
        fl_map_init(&list.cursors, NAMES_MAX);
        look_at_list(exam, talk, &list);
        fl_map_deinit(&list.names);
        fl_map_deinit(&list.cursors);
    }
}
