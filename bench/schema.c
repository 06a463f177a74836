/*
 * schema.c - what it costs to hold the arguments of a call to a schema.
 *
 * An object of 150 bytes and a schema as tools have them: checked alone, and
 * with the scan that comes before it. The median of many short rounds counts.
 */
#include "schema/schema.h"
#include "base/span.h"
#include "json/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 201, CHECKS = 2000 };

static const char SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":80},\"country\":{\"type\":\"string\","
    "\"pattern\":\"^[A-Z]{2}$\"},\"days\":{\"type\":\"integer\",\"minimum\":1,"
    "\"maximum\":14},\"units\":{\"enum\":[\"metric\",\"imperial\"]},\"fields\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":8,"
    "\"uniqueItems\":true},\"at\":{\"type\":\"object\",\"properties\":{\"lat\":"
    "{\"type\":\"number\",\"minimum\":-90,\"maximum\":90},\"lon\":{\"type\":"
    "\"number\",\"minimum\":-180,\"maximum\":180}},\"required\":[\"lat\","
    "\"lon\"]}},\"required\":[\"city\",\"days\"],\"additionalProperties\":"
    "false}";

static const char ARGUMENTS[] =
    "{\"city\":\"Reykjavik\",\"country\":\"IS\",\"days\":7,\"units\":\"metric\""
    ",\"fields\":[\"wind\",\"rain\",\"temperature\"],\"at\":{\"lat\":64.1466,"
    "\"lon\":-21.9426}}";

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double run(const fl_schema *schema, bool with_scan)
{
    fl_span instance = {ARGUMENTS, sizeof ARGUMENTS - 1};
    double rounds[ROUNDS];
    fl_json_top top;

    for (int r = 0; r < ROUNDS; r++) {
        double from = now();
        for (int i = 0; i < CHECKS; i++)
            if ((with_scan && fl_json_scan(instance, 0, &top, NULL) != FL_OK) ||
                fl_schema_check(schema, instance, NULL) != FL_OK)
                exit(1);
        rounds[r] = (now() - from) / CHECKS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    return rounds[ROUNDS / 2];
}

int main(void)
{
    fl_schema *schema;
    fl_error error;
    double from = now();

    for (int i = 0; i < CHECKS; i++) {
        if (fl_schema_compile(fl_span_of(SCHEMA), NULL, &schema, &error) !=
            FL_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        if (i + 1 < CHECKS)
            fl_schema_free(schema);
    }
    printf("compile, %zu bytes: %.1f us\n", sizeof SCHEMA - 1,
           (now() - from) / CHECKS / 1e3);
    double alone = run(schema, false), scanned = run(schema, true);
    printf("check, %zu bytes: %.0f ns, %.2f million in a second\n",
           sizeof ARGUMENTS - 1, alone, 1e3 / alone);
    printf("scan and check: %.0f ns\n", scanned);
    fl_schema_free(schema);
    return 0;
}
