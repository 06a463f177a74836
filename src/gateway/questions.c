/*
 * questions.c - what a legacy server wants to know, and waits for.
 */
#include "gateway/questions.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/span.h"
#include "gateway/declare.h"
#include "gateway/inquiry.h"
#include "gateway/legacy.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <stdio.h>

enum {
    NO_ANSWER = -1, /* what clients of the legacy era say */
    KEY_MAX = 64,   /* of a server's own */
    KEY_ROOM = 16
};

static bool has(fl_span object, fl_span name)
{
    return fl_json_type_of(fl_json_get(object, name)) == FL_JSON_OBJECT;
}

/* One that says nothing of modes has forms. */
static bool has_mode(fl_span elicitation, fl_span mode)
{
    if (fl_json_string_is(mode, FL_SPAN("url")))
        return has(elicitation, FL_SPAN("url"));
    return has(elicitation, FL_SPAN("form")) ||
           !has(elicitation, FL_SPAN("url"));
}

int fl_question_judge(fl_span capabilities, fl_method method, fl_span params)
{
    fl_span elicitation = fl_json_get(capabilities, FL_SPAN("elicitation"));
    bool can = (method == FL_METHOD_SAMPLE &&
                has(capabilities, FL_SPAN("sampling"))) ||
               (method == FL_METHOD_ROOTS_LIST &&
                has(capabilities, FL_SPAN("roots"))) ||
               (method == FL_METHOD_ELICIT &&
                fl_json_type_of(elicitation) == FL_JSON_OBJECT);

    if (!can)
        return FL_RPC_METHOD_NOT_FOUND;
    if (method == FL_METHOD_ELICIT &&
        !has_mode(elicitation, fl_json_get(params, FL_SPAN("mode"))))
        return FL_RPC_INVALID_PARAMS;
    return 0;
}

void fl_questions_init(fl_questions *questions, fl_back *back)
{
    *questions = (fl_questions){.back = back};
    fl_list_init(&questions->list);
}

static void forget(fl_questions *questions, fl_question *question)
{
    fl_list_remove(&question->node);
    questions->count--;
    if (question->reply.link != NULL)
        fl_link_unref(question->reply.link);
    fl_mem_free(question);
}

static void refuse(const fl_question *question)
{
    if (question->method == FL_METHOD_ELICIT)
        fl_inquiry_give(question->reply, question->id,
                        FL_SPAN("{\"action\":\"cancel\"}"));
    else
        fl_inquiry_refuse(question->reply, question->id,
                          question->method == FL_METHOD_SAMPLE
                              ? NO_ANSWER
                              : FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("No response from client"));
}

void fl_questions_deinit(fl_questions *questions)
{
    while (!fl_list_empty(&questions->list)) {
        fl_question *question =
            FL_LIST_ENTRY(questions->list.next, fl_question, node);
        if (question->reply.link != NULL && fl_back_is_ready(questions->back))
            refuse(question);
        forget(questions, question);
    }
}

static fl_question *question_new(fl_span id, fl_span params, fl_span key)
{
    fl_question *question =
        fl_mem_zalloc(sizeof *question + id.len + params.len + key.len);

    if (question == NULL)
        return NULL;
    char *at = (char *)(question + 1);
    if (id.len > 0)
        memcpy(at, id.ptr, id.len);
    question->id = (fl_span){at, id.len};
    at += id.len;
    if (params.len > 0)
        memcpy(at, params.ptr, params.len);
    question->params = (fl_span){at, params.len};
    at += params.len;
    memcpy(at, key.ptr, key.len);
    question->key = (fl_span){at, key.len};
    return question;
}

static bool is_taken(const fl_questions *questions, fl_span key)
{
    for (fl_list *node = questions->list.next; node != &questions->list;
         node = node->next)
        if (fl_span_equal(FL_LIST_ENTRY(node, fl_question, node)->key, key))
            return true;
    return false;
}

/* The server's own, if it gives one that is plain; or "k1", "k2" and so on. */
static fl_span key_for(fl_questions *questions, fl_span params,
                       char text[KEY_ROOM])
{
    fl_span token = fl_declared_key(params);
    fl_span key =
        token.len > 2 ? (fl_span){token.ptr + 1, token.len - 2} : (fl_span){0};
    int n = snprintf(text, KEY_ROOM, "k%u", ++questions->keys);

    return key.len > 0 && key.len <= KEY_MAX &&
                   fl_span_find(key, '\\') == key.len &&
                   !is_taken(questions, key)
               ? key
               : (fl_span){text, (size_t)n};
}

static fl_status add(fl_questions *questions, fl_method method, fl_span id,
                     fl_span params, fl_reply reply)
{
    char text[KEY_ROOM];
    fl_buf bare;

    if (questions->count >= FL_QUESTIONS_MAX)
        return FL_E_LIMIT;
    fl_span key = key_for(questions, params, text);
    fl_buf_init(&bare, FL_QUESTIONS_TEXT);
    fl_status rc = fl_declare_drop_key(params, &bare);
    fl_question *question =
        rc == FL_OK || rc == FL_END
            ? question_new(id, rc == FL_OK ? fl_buf_view(&bare) : params, key)
            : NULL;
    fl_buf_reset(&bare);
    if (question == NULL)
        return FL_E_NOMEM;
    question->method = method;
    question->reply = reply;
    if (reply.link != NULL)
        fl_link_ref(reply.link);
    fl_list_append(&questions->list, &question->node);
    questions->count++;
    return FL_OK;
}

static fl_status add_adapted(fl_questions *questions, const fl_adapt *adapt,
                             fl_span id, fl_span params, fl_reply reply)
{
    fl_buf out;

    fl_buf_init(&out, FL_QUESTIONS_TEXT);
    fl_status rc = fl_adapt_question(adapt, params, &out);
    if (rc == FL_OK || rc == FL_END)
        rc = add(questions, adapt->method, id,
                 rc == FL_OK ? fl_buf_view(&out) : params, reply);
    fl_buf_reset(&out);
    return rc;
}

fl_status fl_questions_add(fl_questions *questions, const fl_revision *revision,
                           fl_method method, const fl_msg *msg, fl_reply reply)
{
    fl_adapt adapt = {
        .from = fl_back_speaks(questions->back),
        .to = revision,
        .method = method,
    };

    return add_adapted(questions, &adapt, msg->id, msg->params, reply);
}

fl_status fl_questions_add_own(fl_questions *questions,
                               const fl_revision *revision, fl_method method,
                               fl_span params)
{
    fl_adapt adapt = {
        .from = fl_back_speaks(questions->back),
        .to = revision,
        .method = method,
    };

    return add_adapted(questions, &adapt, (fl_span){0}, params, (fl_reply){0});
}

bool fl_questions_withdraw(fl_questions *questions, fl_span id)
{
    for (fl_list *node = questions->list.next; node != &questions->list;
         node = node->next) {
        fl_question *question = FL_LIST_ENTRY(node, fl_question, node);
        if (question->reply.link != NULL && fl_msg_id_equal(question->id, id)) {
            forget(questions, question);
            return true;
        }
    }
    return false;
}

static void write_one(fl_json_writer *writer, const fl_question *question)
{
    fl_json_raw_key(writer, question->key);
    fl_json_object(writer);
    fl_json_key(writer, "method");
    fl_json_string(writer, fl_method_name(question->method).ptr);
    if (question->params.len > 0) {
        fl_json_key(writer, "params");
        fl_json_raw(writer, question->params);
    }
    fl_json_object_end(writer);
}

void fl_questions_write(fl_questions *questions, fl_json_writer *writer)
{
    fl_json_object(writer);
    for (fl_list *node = questions->list.next; node != &questions->list;
         node = node->next) {
        fl_question *question = FL_LIST_ENTRY(node, fl_question, node);
        write_one(writer, question);
        question->asked = true;
    }
    fl_json_object_end(writer);
}

static void give(fl_questions *questions, const fl_question *question,
                 const fl_revision *revision, fl_span answer)
{
    fl_adapt adapt = {
        .from = revision,
        .to = questions->back->revision,
        .method = question->method,
    };
    fl_buf out;

    fl_buf_init(&out, FL_QUESTIONS_TEXT);
    fl_status rc = fl_adapt_answer(&adapt, answer, &out);
    fl_span said = rc == FL_OK ? fl_buf_view(&out) : answer;
    if (question->method == FL_METHOD_ROOTS_LIST)
        fl_legacy_know_roots(questions->back, said);
    if (question->reply.link != NULL)
        fl_inquiry_give(question->reply, question->id, said);
    fl_buf_reset(&out);
}

static fl_span answer_to(const fl_question *question, fl_span answers)
{
    fl_span answer = fl_json_get(answers, question->key);

    return question->asked && fl_json_type_of(answer) == FL_JSON_OBJECT
               ? answer
               : (fl_span){0};
}

size_t fl_questions_give(fl_questions *questions, const fl_revision *revision,
                         fl_span answers)
{
    size_t open = 0;
    fl_list *next;

    for (fl_list *node = questions->list.next; node != &questions->list;
         node = next) {
        fl_question *question = FL_LIST_ENTRY(node, fl_question, node);
        fl_span answer = answer_to(question, answers);
        next = node->next;
        if (answer.len > 0) {
            give(questions, question, revision, answer);
            forget(questions, question);
        } else {
            open += question->asked;
        }
    }
    return open;
}
