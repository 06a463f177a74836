/*
 * matrix.c - "fairlead matrix": what each client and server pair gets.
 *
 * Three looks at one table: all of it, era by era; one feature, revision by
 * revision; and one client or server, feature by feature, with reasons. The
 * more is said on the command line, the nearer the look. As JSON every cell
 * comes whole.
 */
#include "cmd/matrix.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/flags.h"
#include "cmd/help.h"
#include "cmd/matrix_table.h"
#include "cmd/suggest.h"
#include "cmd/term.h"
#include "json/write.h"

#include <stdio.h>
#include <string.h>

enum {
    TEXT_MAX = 4 * 1024 * 1024,
    FEATURES_MAX = 64,
    NAME = 17,
    CELL = 14,
    GRID = 13
};

/* Which of them to show. */
typedef struct look {
    const char *client_text, *server_text, *feature_text;
    const fl_revision *client, *server; /* NULL: all */
    const fl_matrix_feature *feature;   /* NULL: all */
    bool json, help;
    fl_term out;
} look;

static const struct word {
    const char *name;
    fl_term_style style;
} words[] = {
    [FL_OUTCOME_NONE] = {"-", FL_TERM_DIM},
    [FL_OUTCOME_CARRIED] = {"carried", FL_TERM_GREEN},
    [FL_OUTCOME_SYNTHESISED] = {"synthesised", FL_TERM_YELLOW},
    [FL_OUTCOME_LOST] = {"lost", FL_TERM_RED},
};

static const char legend[] =
    "\n"
    "carried      both have it, and it is passed on\n"
    "synthesised  one has it not, or in another shape: it is made of what "
    "there is\n"
    "lost         it does not get through\n"
    "-            who would begin it does not have it\n";

static bool shows(const fl_revision *chosen, const fl_revision *one)
{
    return chosen == NULL || chosen->id == one->id;
}

static void put_proof(fl_json_writer *writer, const char *proof)
{
    if (proof != NULL)
        fl_json_string(writer, proof);
}

static void put_cell(fl_json_writer *writer, const fl_matrix_feature *feature,
                     const fl_revision *client, const fl_revision *server)
{
    const fl_matrix_rule *rule =
        fl_matrix_find(feature, client->id, server->id);
    bool none = rule->outcome == FL_OUTCOME_NONE;
    const char *const members[][2] = {
        {"feature", feature->name},
        {"client", client->name},
        {"server", server->name},
        {"outcome", none ? "none" : words[rule->outcome].name},
        {"why", rule->why}};
    char own[128];

    fl_json_object(writer);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fl_json_key(writer, members[i][0]);
        fl_json_string(writer, members[i][1]);
    }
    fl_json_key(writer, "proofs");
    fl_json_array(writer);
    snprintf(own, sizeof own, "%s: %s to %s", feature->name, client->name,
             server->name);
    put_proof(writer, none ? NULL : own);
    for (size_t i = 0; i < FL_MATRIX_PROOFS; i++)
        put_proof(writer, rule->proofs[i]);
    fl_json_array_end(writer);
    fl_json_object_end(writer);
}

static void put_row(fl_json_writer *writer, const look *at,
                    const fl_matrix_feature *feature)
{
    const fl_revision *table = fl_revision_table();

    for (const fl_revision *c = table; c->id != FL_REVISION_UNKNOWN; c++)
        for (const fl_revision *s = table; s->id != FL_REVISION_UNKNOWN; s++)
            if (shows(at->client, c) && shows(at->server, s))
                put_cell(writer, feature, c, s);
}

static bool show_json(const look *at)
{
    const fl_matrix_feature *feature = fl_matrix_features();
    fl_json_writer writer;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_json_writer_init(&writer, &text);
    fl_json_array(&writer);
    for (; feature->name != NULL; feature++)
        if (at->feature == NULL || at->feature == feature)
            put_row(&writer, at, feature);
    fl_json_array_end(&writer);
    bool done = fl_json_writer_end(&writer) == FL_OK;
    if (done)
        fprintf(at->out.file, "%.*s\n", (int)fl_buf_len(&text),
                fl_buf_view(&text).ptr);
    fl_buf_reset(&text);
    return done;
}

/* All outcomes there are between two eras, as a set of bits. */
static unsigned gather(const fl_matrix_feature *feature, bool client_legacy,
                       bool server_legacy)
{
    const fl_revision *table = fl_revision_table();
    unsigned found = 0;

    for (const fl_revision *c = table; c->id != FL_REVISION_UNKNOWN; c++)
        for (const fl_revision *s = table; s->id != FL_REVISION_UNKNOWN; s++)
            if (c->legacy == client_legacy && s->legacy == server_legacy)
                found |= 1u << fl_matrix_find(feature, c->id, s->id)->outcome;
    return found;
}

/* A word in its colour, and room up to the next; the last needs none. */
static void put_word(const look *at, fl_outcome outcome, const char *mark,
                     int width)
{
    const char *name = words[outcome].name;
    int len = (int)(strlen(name) + strlen(mark));

    fl_term_say(&at->out, words[outcome].style, "%s%s", name, mark);
    fprintf(at->out.file, "%*s", width > len ? width - len : 0, "");
}

/* "carried", or what it is for the best of them, and a mark. */
static void put_eras(const look *at, const fl_matrix_feature *feature,
                     bool client_legacy, bool server_legacy)
{
    unsigned found = gather(feature, client_legacy, server_legacy);
    fl_outcome best = found & (1u << FL_OUTCOME_CARRIED) ? FL_OUTCOME_CARRIED
                      : found & (1u << FL_OUTCOME_SYNTHESISED)
                          ? FL_OUTCOME_SYNTHESISED
                      : found & (1u << FL_OUTCOME_LOST) ? FL_OUTCOME_LOST
                                                        : FL_OUTCOME_NONE;
    bool mixed = (found & (found - 1)) != 0;

    put_word(at, best, mixed ? " *" : "",
             client_legacy || server_legacy ? CELL : 0);
}

static void show_eras(const look *at)
{
    const fl_matrix_feature *feature = fl_matrix_features();
    FILE *to = at->out.file;

    fprintf(to, "%-*s%-*s%-*s%-*s%s\n", NAME, "client", CELL, "legacy", CELL,
            "legacy", CELL, "2026-07-28", "2026-07-28");
    fprintf(to, "%-*s%-*s%-*s%-*s%s\n\n", NAME, "server", CELL, "legacy", CELL,
            "2026-07-28", CELL, "legacy", "2026-07-28");
    for (; feature->name != NULL; feature++) {
        fl_term_say(&at->out, FL_TERM_BOLD, "%-*s", NAME, feature->name);
        put_eras(at, feature, true, true);
        put_eras(at, feature, true, false);
        put_eras(at, feature, false, true);
        put_eras(at, feature, false, false);
        fputc('\n', to);
    }
    fputs(legend, to);
    fputs("*            not for all of them: --feature NAME shows which\n"
          "\n"
          "legacy: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25. --client "
          "and --server\n"
          "REVISION tell why.\n",
          to);
}

/* Lines of a text, each below the other. */
static void put_folded(FILE *to, const char *text, int indent, size_t room)
{
    while (*text != '\0') {
        size_t len = strlen(text);
        if (len > room)
            for (len = room; len > 0 && text[len] != ' '; len--)
                continue;
        if (len == 0)
            len = strlen(text);
        fprintf(to, "%.*s\n", (int)len, text);
        text += len;
        text += strspn(text, " ");
        if (*text != '\0')
            fprintf(to, "%*s", indent, "");
    }
}

static void put_grid_row(const look *at, const fl_revision *client)
{
    const fl_revision *server = fl_revision_table();

    if (!shows(at->client, client))
        return;
    fl_term_say(&at->out, FL_TERM_BOLD, "%-14s", client->name);
    for (; server->id != FL_REVISION_UNKNOWN; server++) {
        fl_outcome outcome =
            fl_matrix_find(at->feature, client->id, server->id)->outcome;
        if (shows(at->server, server))
            put_word(at, outcome, "",
                     server[1].id != FL_REVISION_UNKNOWN ? GRID : 0);
    }
    fputc('\n', at->out.file);
}

/* Whether a rule holds for any cell that is shown. */
static bool is_used(const look *at, const fl_matrix_rule *rule)
{
    const fl_revision *table = fl_revision_table();

    for (const fl_revision *c = table; c->id != FL_REVISION_UNKNOWN; c++)
        for (const fl_revision *s = table; s->id != FL_REVISION_UNKNOWN; s++)
            if (shows(at->client, c) && shows(at->server, s) &&
                fl_matrix_find(at->feature, c->id, s->id) == rule)
                return true;
    return false;
}

static void show_feature(const look *at)
{
    const fl_revision *table = fl_revision_table();
    FILE *to = at->out.file;

    fprintf(to, "%s: %s\n\n%-14s", at->feature->name, at->feature->what,
            "client\\server");
    for (const fl_revision *s = table; s->id != FL_REVISION_UNKNOWN; s++)
        if (shows(at->server, s))
            fprintf(to, "%-*s", s[1].id != FL_REVISION_UNKNOWN ? (int)GRID : 0,
                    s->name);
    fputc('\n', to);
    for (const fl_revision *c = table; c->id != FL_REVISION_UNKNOWN; c++)
        put_grid_row(at, c);
    fputc('\n', to);
    for (size_t i = 0; i < at->feature->count; i++) {
        const fl_matrix_rule *rule = &at->feature->rules[i];
        if (!is_used(at, rule))
            continue;
        put_word(at, rule->outcome, "", GRID);
        put_folded(to, rule->why, GRID, 79 - GRID);
    }
}

static void put_pair(const look *at, const fl_revision *client,
                     const fl_revision *server)
{
    const fl_matrix_feature *feature = fl_matrix_features();

    fl_term_say(&at->out, FL_TERM_BOLD, "\nclient %s, server %s\n",
                client->name, server->name);
    for (; feature->name != NULL; feature++) {
        const fl_matrix_rule *rule =
            fl_matrix_find(feature, client->id, server->id);
        fprintf(at->out.file, "  %-*s", NAME, feature->name);
        put_word(at, rule->outcome, "", GRID);
        put_folded(at->out.file, rule->why, 2 + NAME + GRID,
                   79 - 2 - NAME - GRID);
    }
}

static void show_pairs(const look *at)
{
    const fl_revision *table = fl_revision_table();

    for (const fl_revision *c = table; c->id != FL_REVISION_UNKNOWN; c++)
        for (const fl_revision *s = table; s->id != FL_REVISION_UNKNOWN; s++)
            if (shows(at->client, c) && shows(at->server, s))
                put_pair(at, c, s);
    fputs(legend, at->out.file);
}

static fl_status take_revision(const char *option, const char *text,
                               const fl_revision **out, fl_error *error)
{
    if (text == NULL)
        return FL_OK;
    *out = fl_revision_find(fl_span_of(text));
    return *out != NULL
               ? FL_OK
               : fl_error_set(error, FL_E_INVALID,
                              "option %s: '%.40s' is no revision; want "
                              "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 "
                              "or 2026-07-28",
                              option, text);
}

static fl_status take_feature(look *at, fl_error *error)
{
    const fl_matrix_feature *one = fl_matrix_features();
    const char *names[FEATURES_MAX + 1] = {NULL};
    size_t count = 0;

    if (at->feature_text == NULL)
        return FL_OK;
    for (; one->name != NULL && count < FEATURES_MAX; one++) {
        names[count++] = one->name;
        if (strcmp(one->name, at->feature_text) == 0)
            at->feature = one;
    }
    if (at->feature != NULL)
        return FL_OK;
    const char *near = fl_suggest_nearest(fl_span_of(at->feature_text), names);
    return fl_error_set(error, FL_E_INVALID,
                        "option --feature: there is no '%.40s'%s%s; 'fairlead "
                        "matrix' lists them",
                        at->feature_text, near != NULL ? ", but " : "",
                        near != NULL ? near : "");
}

static fl_status parse(char **argv, look *at, fl_error *error)
{
    const fl_flag flags[] = {
        {"--client", FL_FLAG_TEXT, &at->client_text, NULL},
        {"--server", FL_FLAG_TEXT, &at->server_text, NULL},
        {"--feature", FL_FLAG_TEXT, &at->feature_text, NULL},
        {"--json", FL_FLAG_SWITCH, &at->json, NULL},
        {"--help", FL_FLAG_SWITCH, &at->help, NULL},
        {"-h", FL_FLAG_SWITCH, &at->help, NULL},
        {0},
    };
    fl_words rest;
    fl_status rc = fl_flags_parse(flags, argv, &rest, error);

    if (rc != FL_OK || at->help)
        return rc;
    if (rest.count > 0 || rest.rest != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "'%s': matrix takes options "
                            "only",
                            rest.count > 0 ? rest.word[0] : "--");
    rc = take_revision("--client", at->client_text, &at->client, error);
    if (rc == FL_OK)
        rc = take_revision("--server", at->server_text, &at->server, error);
    return rc == FL_OK ? take_feature(at, error) : rc;
}

static bool show(const look *at)
{
    if (at->json)
        return show_json(at);
    if (at->feature != NULL)
        show_feature(at);
    else if (at->client != NULL || at->server != NULL)
        show_pairs(at);
    else
        show_eras(at);
    return true;
}

int fl_matrix_command(char **argv)
{
    look at = {.out = fl_term_of(stdout)};
    fl_error error;

    if (parse(argv, &at, &error) != FL_OK)
        return fl_complain_usage("matrix", &error);
    if (at.help) {
        fl_help_matrix(stdout);
        return FL_EXIT_OK;
    }
    if (show(&at) && fflush(stdout) == 0 && !ferror(stdout))
        return FL_EXIT_OK;
    fl_complain("matrix", "cannot write to stdout");
    return FL_EXIT_LOCAL;
}
