/*
 * ask_tools.h - tools that ask the client back, for the tests of both eras:
 * each is written once, and knows nothing of them.
 */
#ifndef TESTS_UNIT_ASK_TOOLS_H
#define TESTS_UNIT_ASK_TOOLS_H

#include "server_host.h"

#define NAME_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"    \
    "\"required\":[\"name\"]}"
#define SAMPLE                                                                 \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","        \
    "\"text\":\"Capital of France?\"}}],\"maxTokens\":100}"

#define ACCEPT(content) "{\"action\":\"accept\",\"content\":" content "}"
#define DECLINE "{\"action\":\"decline\"}"
#define PARIS                                                                  \
    "{\"role\":\"assistant\",\"model\":\"m\",\"content\":{\"type\":\"text\","  \
    "\"text\":\"Paris\"}}"
#define ROOTS "{\"roots\":[{\"uri\":\"file:///a\"}]}"

/* How often any of them has been run, and the call that "later" keeps. */
typedef struct ask_log {
    int runs;
    fl_call *kept;
    int cancelled;
} ask_log;

static inline const char *ask_word(fl_input input)
{
    static const char *const words[] = {"none", "accepted", "declined",
                                        "cancelled", "failed"};

    return words[input];
}

/* What is known under these keys, in words. */
static inline void ask_tell(fl_call *call, const char *const *keys)
{
    char text[2048] = "";
    size_t at = 0;

    for (; *keys != NULL; keys++) {
        fl_span content;
        fl_input input = fl_call_input(call, *keys, &content);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s %.*s",
                               at > 0 ? ", " : "", *keys, ask_word(input),
                               (int)content.len, content.ptr);
    }
    fl_call_reply_text(call, fl_span_of(text));
}

static inline void ask_greet(fl_call *call, void *user)
{
    fl_span form;

    ((ask_log *)user)->runs++;
    if (fl_call_input(call, "name", &form) == FL_INPUT_NONE) {
        fl_call_want_form(call, "name", "Who are \"you\"?", NAME_SCHEMA);
        fl_call_ask(call);
        return;
    }
    ask_tell(call, (const char *[]){"name", NULL});
}

/* Never says fl_call_ask(): to return will do. */
static inline void ask_trio(fl_call *call, void *user)
{
    fl_span content;
    bool known = true;

    ((ask_log *)user)->runs++;
    if (fl_call_input(call, "form", &content) == FL_INPUT_NONE)
        known = (fl_call_want_form(call, "form", "?", NAME_SCHEMA), false);
    if (fl_call_input(call, "sample", &content) == FL_INPUT_NONE)
        known = (fl_call_want_sample(call, "sample", FL_SPAN(SAMPLE)), false);
    if (fl_call_input(call, "roots", &content) == FL_INPUT_NONE)
        known = (fl_call_want_roots(call, "roots"), false);
    if (known)
        ask_tell(call, (const char *[]){"form", "sample", "roots", NULL});
}

/* Two rounds, and a state that grows. */
static inline void ask_steps(fl_call *call, void *user)
{
    fl_span content, state = fl_call_state(call);
    fl_input one = fl_call_input(call, "one", &content);
    fl_input two = fl_call_input(call, "two", &content);
    char text[64];

    ((ask_log *)user)->runs++;
    if (one == FL_INPUT_NONE) {
        fl_call_want_form(call, "one", "1", NULL);
        fl_call_set_state(call, FL_SPAN("a"));
    } else if (two == FL_INPUT_NONE) {
        snprintf(text, sizeof text, "%.*sb", (int)state.len, state.ptr);
        fl_call_set_state(call, fl_span_of(text));
        fl_call_want_form(call, "two", "2", NULL);
    } else {
        fl_call_replyf(call, "%.*s %s %s %.*s", (int)state.len, state.ptr,
                       ask_word(one), ask_word(two), (int)content.len,
                       content.ptr);
        return;
    }
    fl_call_ask(call);
}

/* Never has enough. */
static inline void ask_forever(fl_call *call, void *user)
{
    ((ask_log *)user)->runs++;
    fl_call_want_form(call, "k", "again", NULL);
    fl_call_ask(call);
}

static inline void ask_url(fl_call *call, void *user)
{
    fl_span content;

    ((ask_log *)user)->runs++;
    if (fl_call_input(call, "go", &content) == FL_INPUT_NONE) {
        fl_call_want_url(call, "go", "Pay", "https://pay.example/1");
        fl_call_ask(call);
        return;
    }
    ask_tell(call, (const char *[]){"go", NULL});
}

/* What it is given to sample. */
static inline void ask_sample(fl_call *call, void *user)
{
    fl_span content;

    ((ask_log *)user)->runs++;
    if (fl_call_input(call, "s", &content) == FL_INPUT_NONE) {
        fl_call_want_sample(call, "s", fl_call_raw(call, "params"));
        fl_call_ask(call);
        return;
    }
    ask_tell(call, (const char *[]){"s", NULL});
}

static inline void ask_on_cancel(fl_call *call, void *user)
{
    ask_log *log = user;

    log->cancelled++;
    log->kept = NULL;
    fl_call_reply_text(call, FL_SPAN("too late"));
}

/* Asks after it has returned, and again answers after it has. */
static inline void ask_later(fl_call *call, void *user)
{
    ask_log *log = user;

    log->runs++;
    assert_null(log->kept);
    log->kept = fl_call_defer(call);
    if (log->kept != NULL)
        fl_call_on_cancel(log->kept, ask_on_cancel, log);
}

/* Everything a handler can do wrong, by name. */
static inline void ask_badly(fl_call *call, void *user)
{
    fl_span how = fl_call_text(call, "how");

    ((ask_log *)user)->runs++;
    if (fl_span_equal(how, FL_SPAN("no key"))) {
        fl_call_want_roots(call, "");
    } else if (fl_span_equal(how, FL_SPAN("twice"))) {
        fl_call_want_roots(call, "a");
        fl_call_want_roots(call, "a");
    } else if (fl_span_equal(how, FL_SPAN("schema"))) {
        fl_call_want_form(call, "a", "?", "[]");
    } else if (fl_span_equal(how, FL_SPAN("no url"))) {
        fl_call_want_url(call, "a", "?", "");
    } else if (fl_span_equal(how, FL_SPAN("many"))) {
        for (int64_t i = 0; i < fl_call_integer(call, "n"); i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", (int)i);
            fl_call_want_roots(call, key);
        }
    } else if (fl_span_equal(how, FL_SPAN("state"))) {
        static char bytes[256 * 1024];
        size_t size = (size_t)fl_call_integer(call, "n");
        fl_call_want_roots(call, "a");
        fl_call_set_state(call, (fl_span){bytes, size});
    } else if (fl_span_equal(how, FL_SPAN("silent"))) {
        fl_span content;
        if (fl_call_input(call, "a", &content) != FL_INPUT_NONE)
            return; /* the second run forgets to answer */
        fl_call_want_roots(call, "a");
    }
    fl_call_ask(call);
}

static inline void ask_add_tools(server_host *host, ask_log *log)
{
    const fl_tool tools[] = {
        {.name = "greet", .call = ask_greet, .user = log},
        {.name = "hail", .call = ask_greet, .user = log},
        {.name = "trio", .call = ask_trio, .user = log},
        {.name = "steps", .call = ask_steps, .user = log},
        {.name = "forever", .call = ask_forever, .user = log},
        {.name = "url", .call = ask_url, .user = log},
        {.name = "sample", .call = ask_sample, .user = log},
        {.name = "later", .call = ask_later, .user = log},
        {.name = "badly", .call = ask_badly, .user = log},
    };

    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        assert_int_equal(fl_server_add_tool(host->server, &tools[i]), FL_OK);
}

static inline void ask_begin(server_host *host, ask_log *log)
{
    *log = (ask_log){0};
    host_begin_bare(host);
    assert_int_equal(host_add_tools(host), FL_OK);
    ask_add_tools(host, log);
    host_listen(host, NULL);
}

#endif
