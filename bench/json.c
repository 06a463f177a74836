/*
 * json.c - what it costs to take a message in, beside the tree libraries.
 *
 * Each contender validates a message and finds its id, method and params.name
 * (or the result): what a gateway asks of every message. Tree libraries build
 * their tree and free it; fairlead scans, and navigates to the inner name.
 * Contenders take turns in short rounds, so that a busy machine disturbs all
 * of them alike, and the median round counts.
 *
 * The libraries are optional; bench/meson.build says which are there.
 */
#include "base/span.h"
#include "json/kernel.h"
#include "json/nav.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#ifdef HAVE_JSON_C
/* The two share names; nothing of json-c that is called here is among them. */
#define json_object jsonc_object
#define json_object_get jsonc_object_get
#define json_object_iter jsonc_object_iter
#define json_object_iter_next jsonc_object_iter_next
#define json_type jsonc_type
#include <json-c/json.h>
#undef json_object
#undef json_object_get
#undef json_object_iter
#undef json_object_iter_next
#undef json_type
#endif
#ifdef HAVE_CJSON
#include <cjson/cJSON.h>
#endif

enum { ROUNDS = 201, CONTENDERS = 8, MIB = 1 << 20 };

typedef struct message {
    const char *name;
    char *text;
    size_t len;
} message;

typedef struct contender {
    const char *name;
    bool (*take)(const message *m);
    double rounds[ROUNDS];
} contender;

static bool scan_by(const fl_json_kernel *kernel, const message *m)
{
    fl_json_top top;

    return fl_json_scan_with(kernel, (fl_span){m->text, m->len}, 0, &top,
                             NULL) == FL_OK;
}

static bool take_scan(const message *m)
{
    fl_json_top top;

    return fl_json_scan((fl_span){m->text, m->len}, 0, &top, NULL) == FL_OK;
}

static bool take_sse2(const message *m)
{
    return scan_by(fl_json_kernel_at(1), m);
}

static bool take_plain(const message *m)
{
    return scan_by(fl_json_kernel_at(0), m);
}

static bool take_name(const message *m)
{
    fl_json_top top;
    bool found = false;

    if (fl_json_scan((fl_span){m->text, m->len}, 0, &top, NULL) != FL_OK)
        return false;
    for (size_t i = 0; i < top.count && i < FL_JSON_MEMBERS; i++) {
        fl_span key = top.members[i].key, value = top.members[i].value;
        if (fl_span_equal(key, FL_SPAN("params")))
            found = fl_json_get(value, FL_SPAN("name")).len > 0;
        else if (fl_span_equal(key, FL_SPAN("result")))
            found = true;
    }
    return found;
}

#ifdef HAVE_JANSSON
static bool take_jansson(const message *m)
{
    json_t *tree = json_loadb(m->text, m->len, 0, NULL);
    json_t *params = json_object_get(tree, "params");
    bool found = json_object_get(tree, "id") != NULL &&
                 (json_object_get(params, "name") != NULL ||
                  json_object_get(tree, "result") != NULL);

    json_decref(tree);
    return found;
}
#endif

#ifdef HAVE_JSON_C
static bool take_jsonc(const message *m)
{
    struct json_tokener *tokener = json_tokener_new();
    struct jsonc_object *tree, *id, *inner, *name;

    json_tokener_set_flags(tokener,
                           JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    tree = json_tokener_parse_ex(tokener, m->text, (int)m->len);
    bool found = json_object_object_get_ex(tree, "id", &id) &&
                 (json_object_object_get_ex(tree, "result", &inner) ||
                  (json_object_object_get_ex(tree, "params", &inner) &&
                   json_object_object_get_ex(inner, "name", &name)));
    json_object_put(tree);
    json_tokener_free(tokener);
    return found;
}
#endif

#ifdef HAVE_CJSON
static bool take_cjson(const message *m)
{
    cJSON *tree = cJSON_ParseWithLength(m->text, m->len);
    cJSON *params = cJSON_GetObjectItemCaseSensitive(tree, "params");
    bool found = cJSON_GetObjectItemCaseSensitive(tree, "id") != NULL &&
                 (cJSON_GetObjectItemCaseSensitive(params, "name") != NULL ||
                  cJSON_GetObjectItemCaseSensitive(tree, "result") != NULL);

    cJSON_Delete(tree);
    return found;
}
#endif

static message make_call(void)
{
    static char text[] =
        "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"search_files\",\"arguments\":{\"path\":\"/home/me/"
        "project\",\"pattern\":\"*.c\",\"limit\":50}}}";

    return (message){"tools/call", text, sizeof text - 1};
}

/* The answer to tools/list, with as many tools as fit in `size`. */
static message make_list(const char *name, size_t size)
{
    char *text = malloc(size + 1024);
    size_t len = 0;

    if (text == NULL)
        abort();
    len += (size_t)snprintf(text, size,
                            "{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{"
                            "\"tools\":[");
    for (int i = 0; len < size; i++)
        len += (size_t)snprintf(
            text + len, size + 1024 - len,
            "%s{\"name\":\"tool_%d\",\"description\":\"Searches index %d and "
            "returns the best matches with their scores.\\nUse it when the "
            "user asks for facts.\",\"inputSchema\":{\"type\":\"object\","
            "\"properties\":{\"query\":{\"type\":\"string\",\"description\":"
            "\"What to look for\"},\"limit\":{\"type\":\"integer\",\"minimum\":"
            "1,\"maximum\":%d},\"deep\":{\"type\":\"boolean\",\"default\":"
            "false}},\"required\":[\"query\"]}}",
            i > 0 ? "," : "", i, i, i % 500);
    len += (size_t)snprintf(text + len, size + 1024 - len, "]}}");
    return (message){name, text, len};
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(contender *c)
{
    qsort(c->rounds, ROUNDS, sizeof *c->rounds, by_size);
    return c->rounds[ROUNDS / 2];
}

static void run(const message *m, contender *contenders, size_t count)
{
    size_t times = 1 + 100000 / m->len;

    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++) {
            double start = now_ns();
            for (size_t n = 0; n < times; n++)
                if (!contenders[i].take(m))
                    abort();
            contenders[i].rounds[round] = (now_ns() - start) / (double)times;
        }
    double ours = median(&contenders[1]);
    printf("\n%s, %zu bytes\n", m->name, m->len);
    for (size_t i = 0; i < count; i++) {
        double ns = median(&contenders[i]);
        printf("  %-22s %12.1f ns %8.3f GB/s %8.2fx\n", contenders[i].name, ns,
               (double)m->len / ns, ns / ours);
    }
}

int main(void)
{
    static contender contenders[CONTENDERS];
    size_t count = 0;
    const message messages[] = {make_call(), make_list("tools/list", 3600),
                                make_list("tools/list, long", MIB)};

    contenders[count++] = (contender){.name = "scan", .take = take_scan};
    contenders[count++] =
        (contender){.name = "scan and get", .take = take_name};
    if (fl_json_kernel_at(1) != NULL)
        contenders[count++] =
            (contender){.name = "scan (sse2)", .take = take_sse2};
    contenders[count++] =
        (contender){.name = "scan (plain)", .take = take_plain};
#ifdef HAVE_CJSON
    contenders[count++] = (contender){.name = "cJSON", .take = take_cjson};
#endif
#ifdef HAVE_JSON_C
    contenders[count++] = (contender){.name = "json-c", .take = take_jsonc};
#endif
#ifdef HAVE_JANSSON
    contenders[count++] = (contender){.name = "jansson", .take = take_jansson};
#endif
    printf("kernel: %s; ratios to \"scan and get\"\n",
           fl_json_kernel_best()->name);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        run(&messages[i], contenders, count);
    return 0;
}
