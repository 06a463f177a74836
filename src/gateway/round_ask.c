/*
 * round_ask.c - the entries of a round: questions to the client, and pages it
 * has seen.
 *
 * A page that the client went to see is wanted until whoever runs it has told
 * the server; the server asks for it again until then. To show it twice would
 * be a nuisance, so it is answered for the client, and the client is told when
 * the server is content.
 */
#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "gateway/rounds.h"
#include "gateway/tasks.h"
#include "json/nav.h"

#include <stdio.h>

enum { TEXT_MAX = 64 * 1024 * 1024, ENTRIES_MAX = 64 };

static fl_method method_of(fl_span name)
{
    static const fl_method methods[] = {
        FL_METHOD_ROOTS_LIST,
        FL_METHOD_SAMPLE,
        FL_METHOD_ELICIT,
    };

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (fl_json_string_is(name, fl_method_name(methods[i])))
            return methods[i];
    return FL_METHOD_OTHER;
}

static bool is_page(const fl_round_entry *entry)
{
    return entry->method == FL_METHOD_ELICIT &&
           fl_json_string_is(fl_json_get(entry->params, FL_SPAN("mode")),
                             FL_SPAN("url"));
}

static bool is_declared(const fl_rounds *round, const fl_round_entry *entry)
{
    const fl_front *front = round->errand->asker.front;

    return fl_front_can(front, entry->method, entry->params) &&
           (!is_page(entry) ||
            fl_revision_has(front->revision, FL_HAS_URL_ELICITATION));
}

static size_t count(fl_span object)
{
    size_t n = 0;
    fl_json_walk walk;
    fl_json_member member;

    if (fl_json_type_of(object) != FL_JSON_OBJECT)
        return 0;
    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        n++;
    return n;
}

fl_status fl_rounds_read(fl_rounds *round)
{
    fl_span wanted =
        fl_json_get(fl_buf_view(&round->said), FL_SPAN("inputRequests"));
    size_t total = count(wanted);
    fl_json_walk walk;
    fl_json_member member;

    if (total == 0)
        return FL_OK;
    if (total > ENTRIES_MAX)
        return FL_E_LIMIT;
    round->entries = fl_mem_zalloc(total * sizeof *round->entries);
    if (round->entries == NULL)
        return FL_E_NOMEM;
    fl_json_walk_init(&walk, wanted);
    while (fl_json_walk_next(&walk, &member)) {
        fl_round_entry *entry = &round->entries[round->count++];
        entry->round = round;
        entry->key = member.key;
        entry->method = method_of(fl_json_get(member.value, FL_SPAN("method")));
        entry->params = fl_json_get(member.value, FL_SPAN("params"));
        fl_buf_init(&entry->answer, TEXT_MAX);
        if (!is_declared(round, entry))
            return FL_E_UNSUPPORTED;
    }
    return FL_OK;
}

void fl_rounds_forget(fl_rounds *round)
{
    for (size_t i = 0; i < round->count; i++) {
        fl_round_entry *entry = &round->entries[i];
        if (entry->inquiry != NULL)
            fl_inquiry_drop(entry->inquiry);
        fl_buf_reset(&entry->answer);
    }
    fl_mem_free(round->entries);
    round->entries = NULL;
    round->count = 0;
    round->open = 0;
}

static void free_page(fl_round_page *page)
{
    fl_list_remove(&page->node);
    fl_buf_reset(&page->params);
    fl_mem_free(page);
}

static fl_round_page *find_page(const fl_rounds *round, fl_span params)
{
    for (fl_list *node = round->pages.next; node != &round->pages;
         node = node->next) {
        fl_round_page *page = FL_LIST_ENTRY(node, fl_round_page, node);
        if (page->accepted && fl_span_equal(fl_buf_view(&page->params), params))
            return page;
    }
    return NULL;
}

size_t fl_rounds_recall(fl_rounds *round)
{
    size_t fresh = 0;

    for (fl_list *node = round->pages.next; node != &round->pages;
         node = node->next)
        FL_LIST_ENTRY(node, fl_round_page, node)->wanted = false;
    for (size_t i = 0; i < round->count; i++) {
        fl_round_entry *entry = &round->entries[i];
        fl_round_page *page =
            is_page(entry) ? find_page(round, entry->params) : NULL;
        if (page != NULL)
            page->wanted = true;
        if (page == NULL ||
            fl_buf_append(&entry->answer, FL_SPAN("{\"action\":\"accept\"}")) !=
                FL_OK)
            fresh++;
    }
    return fresh;
}

void fl_round_close_pages(fl_rounds *round, bool all)
{
    fl_list *node = round->pages.next;

    while (node != &round->pages) {
        fl_round_page *page = FL_LIST_ENTRY(node, fl_round_page, node);
        fl_span parts[] = {
            FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                    "elicitation/complete\",\"params\":{\"elicitationId\":"),
            fl_span_of(page->id),
            FL_SPAN("}}"),
        };
        node = node->next;
        if (!page->accepted || (page->wanted && !all))
            continue;
        (void)fl_errand_tell(round->errand, parts, 3); /* a courtesy */
        free_page(page);
    }
}

static fl_round_page *page_new(fl_rounds *round, fl_span params)
{
    fl_round_page *page = fl_mem_zalloc(sizeof *page);
    uint64_t random[2];

    if (page == NULL)
        return NULL;
    fl_list_init(&page->node);
    fl_buf_init(&page->params, TEXT_MAX);
    if (fl_buf_append(&page->params, params) != FL_OK ||
        fl_random_bytes(random, sizeof random) != FL_OK) {
        free_page(page);
        return NULL;
    }
    snprintf(page->id, sizeof page->id, "\"%016llx%016llx\"",
             (unsigned long long)random[0], (unsigned long long)random[1]);
    fl_list_append(&round->pages, &page->node);
    return page;
}

static fl_adapt adapt_of(const fl_round_entry *entry)
{
    const fl_errand *errand = entry->round->errand;

    return (fl_adapt){
        .from = errand->back->revision,
        .to = errand->asker.revision,
        .method = entry->method,
        .object =
            entry->page != NULL ? fl_span_of(entry->page->id) : (fl_span){0},
    };
}

static bool is_accepted(fl_span answer)
{
    return fl_json_string_is(fl_json_get(answer, FL_SPAN("action")),
                             FL_SPAN("accept"));
}

static fl_status keep_answer(fl_round_entry *entry, const fl_msg *msg)
{
    fl_adapt adapt = adapt_of(entry);
    const fl_revision *client = adapt.to;

    if (msg == NULL || msg->kind == FL_MSG_ERROR)
        return fl_buf_append(&entry->answer,
                             FL_SPAN("{\"action\":\"cancel\"}"));
    adapt.to = adapt.from;
    adapt.from = client;
    fl_status rc = fl_adapt_answer(&adapt, msg->result, &entry->answer);
    return rc == FL_END ? fl_buf_append(&entry->answer, msg->result) : rc;
}

static void settle_page(fl_round_entry *entry)
{
    fl_round_page *page = entry->page;

    if (page == NULL)
        return;
    entry->page = NULL;
    page->accepted = is_accepted(fl_buf_view(&entry->answer));
    if (!page->accepted)
        free_page(page);
}

static void on_answer(void *user, const fl_msg *msg)
{
    fl_round_entry *entry = user;
    fl_rounds *round = entry->round;
    bool failed = msg == NULL || msg->kind == FL_MSG_ERROR;

    entry->inquiry = NULL;
    if (round->errand->asker.front->state == FL_FRONT_OVER)
        return; /* and so will its call be, at once */
    if (failed && entry->method != FL_METHOD_ELICIT) {
        fl_rounds_stop(round, "The client refused",
                       msg != NULL ? msg->error : (fl_span){0});
        return;
    }
    if (keep_answer(entry, msg) != FL_OK) {
        fl_rounds_stop(round, "out of memory", (fl_span){0});
        return;
    }
    settle_page(entry);
    fl_rounds_answered(round);
}

/* Several choices before 2025-11-25 are no choice; a sampling has nobody to
 * say so to. */
static fl_status do_without(fl_round_entry *entry)
{
    return entry->method == FL_METHOD_ELICIT
               ? fl_buf_append(&entry->answer,
                               FL_SPAN("{\"action\":\"cancel\"}"))
               : FL_E_UNSUPPORTED;
}

/* What a task wants to know is asked with its name. */
static fl_status pass_on(fl_round_entry *entry, fl_span params)
{
    fl_rounds *round = entry->round;
    fl_buf related;

    fl_buf_init(&related, TEXT_MAX);
    fl_status rc =
        fl_buf_len(&round->task) > 0
            ? fl_tasks_relate(params, fl_buf_view(&round->task), &related)
            : FL_OK;
    if (rc == FL_OK)
        rc = fl_inquiry_ask(round->errand, entry->method,
                            fl_buf_len(&related) > 0 ? fl_buf_view(&related)
                                                     : params,
                            on_answer, entry, &entry->inquiry);
    round->open += rc == FL_OK;
    fl_buf_reset(&related);
    return rc;
}

static fl_status ask_one(fl_round_entry *entry)
{
    fl_rounds *round = entry->round;
    fl_buf out;

    if (is_page(entry)) {
        entry->page = page_new(round, entry->params);
        if (entry->page == NULL)
            return FL_E_NOMEM;
    }
    fl_adapt adapt = adapt_of(entry);
    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = fl_adapt_question(&adapt, entry->params, &out);
    if (rc == FL_OK || rc == FL_END) {
        rc = pass_on(entry, rc == FL_OK ? fl_buf_view(&out) : entry->params);
    } else if (rc == FL_E_UNSUPPORTED) {
        rc = do_without(entry);
    }
    fl_buf_reset(&out);
    return rc;
}

fl_status fl_rounds_ask(fl_rounds *round)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < round->count && rc == FL_OK; i++)
        if (fl_buf_len(&round->entries[i].answer) == 0)
            rc = ask_one(&round->entries[i]);
    return rc;
}
