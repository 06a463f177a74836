/*
 * ps.c - "fairlead ps": the gateways of this user, and their children.
 *
 * Which gateways there are is told by their sockets. One that was found and
 * turns out to be dead is removed without a word, as its gateway would have
 * done; one that was asked for by name and is not there is an error. What goes
 * wrong with one gateway keeps nobody from seeing the others.
 */
#include "cmd/ps.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/flags.h"
#include "cmd/help.h"
#include "cmd/ps_ask.h"
#include "cmd/ps_show.h"
#include "cmd/term.h"
#include "io/uv_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000 };

typedef struct line {
    bool json, help;
    uint64_t timeout_ms;
    fl_words words;
} line;

typedef struct search {
    fl_ps_list list;
    const char *folder; /* that is being looked at */
    bool failed;        /* no memory */
    fl_exit exit;       /* the first that went wrong counts */
} search;

static void fail(search *all, fl_exit how)
{
    if (all->exit == FL_EXIT_OK)
        all->exit = how;
}

static fl_status parse(line *to, char **argv, fl_error *error)
{
    const fl_flag flags[] = {
        {"--json", FL_FLAG_SWITCH, &to->json, NULL},
        {"--timeout", FL_FLAG_SECONDS, &to->timeout_ms, NULL},
        {"--help", FL_FLAG_SWITCH, &to->help, NULL},
        {"-h", FL_FLAG_SWITCH, &to->help, NULL},
        {0},
    };
    fl_status rc = fl_flags_parse(flags, argv, &to->words, error);

    if (rc == FL_OK && !to->help && to->words.rest != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "nothing is expected after --: name gateways by "
                            "pid or socket");
    return rc;
}

static void add(search *all, const fl_ps_gateway *gateway)
{
    if (fl_ps_list_add(&all->list, gateway) != FL_OK)
        all->failed = true;
}

static void add_found(void *user, pid_t pid)
{
    search *all = user;
    fl_ps_gateway found = {.pid = pid};

    if (fl_control_path(all->folder, pid, found.path) == FL_OK)
        add(all, &found);
}

/* Both places: a gateway may run where there is no XDG_RUNTIME_DIR. */
static void find_all(search *all)
{
    char folder[FL_CONTROL_PATH];
    fl_error error;

    for (unsigned i = 0; fl_control_place(i, folder); i++) {
        fl_status rc = fl_control_check(folder, &error);
        all->folder = folder;
        if (rc == FL_OK) {
            fl_control_each(folder, add_found, all);
        } else if (rc != FL_E_NOT_FOUND) {
            fl_complain("ps", "%s", error.text);
            fail(all, FL_EXIT_LOCAL);
        }
    }
    fl_ps_list_sort(&all->list);
}

/* In which of the places its socket is. */
static fl_status place_of(pid_t pid, char path[FL_CONTROL_PATH])
{
    char folder[FL_CONTROL_PATH];
    fl_status rc = FL_E_NOT_FOUND;

    for (unsigned i = 0; fl_control_place(i, folder) && rc != FL_OK; i++)
        if (fl_control_check(folder, NULL) == FL_OK &&
            fl_control_path(folder, pid, path) == FL_OK &&
            access(path, F_OK) == 0)
            rc = FL_OK;
    return rc;
}

static void find_pid(search *all, const char *word)
{
    long pid = strlen(word) < 10 ? strtol(word, NULL, 10) : 0;
    fl_ps_gateway named = {.pid = (pid_t)pid, .wanted = true};

    if (place_of(named.pid, named.path) == FL_OK) {
        add(all, &named);
        return;
    }
    fl_complain("ps",
                "no gateway of yours has the pid %s; 'fairlead ps' lists those "
                "there are",
                word);
    fail(all, FL_EXIT_CONNECTION);
}

static void find_socket(search *all, const char *word)
{
    fl_ps_gateway named = {.wanted = true};

    if (strlen(word) < sizeof named.path) {
        memcpy(named.path, word, strlen(word));
        add(all, &named);
        return;
    }
    fl_complain("ps", "'%s' is longer than the path of a socket can be", word);
    fail(all, FL_EXIT_LOCAL);
}

static void find(search *all, const fl_words *words)
{
    if (words->count == 0)
        find_all(all);
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->word[i];
        if (word[0] != '\0' && strspn(word, "0123456789") == strlen(word))
            find_pid(all, word);
        else
            find_socket(all, word);
    }
}

/* Nobody listens there: it was killed, or has ended while we asked. */
static bool is_stale(const fl_ps_gateway *gateway)
{
    return !gateway->wanted && (gateway->why.status == FL_E_REFUSED ||
                                access(gateway->path, F_OK) != 0);
}

static void sweep(const fl_ps_gateway *gateway)
{
    char folder[FL_CONTROL_PATH];
    const char *slash = strrchr(gateway->path, '/');

    if (slash == NULL)
        return;
    memcpy(folder, gateway->path, sizeof folder);
    folder[slash - gateway->path] = '\0';
    fl_control_sweep(folder, gateway->pid);
}

static const char *advice_for(fl_status status)
{
    switch ((int)status) {
    case FL_E_TIMEOUT:
        return "; it is stopped or very busy: --timeout SECONDS gives it more "
               "time, 'kill -CONT' wakes one that is stopped";
    case FL_E_CLOSED:
    case FL_E_RESET:
        return "; it answers its own user and root, and a few at one time: "
               "try again";
    case FL_E_REFUSED:
    case FL_E_NOT_FOUND:
        return "; is the gateway running, and was it started with another "
               "--control?";
    case FL_E_BAD_JSON:
        return "; is it the control socket of a gateway?";
    default:
        return "";
    }
}

static void complain(search *all, const fl_ps_gateway *gateway)
{
    const fl_error *why = &gateway->why;

    if (gateway->pid > 0)
        fl_complain("ps", "gateway %d: %s%s", (int)gateway->pid, why->text,
                    advice_for(why->status));
    else if (strstr(why->text, gateway->path) != NULL)
        fl_complain("ps", "%s%s", why->text, advice_for(why->status));
    else
        fl_complain("ps", "%s: %s%s", gateway->path, why->text,
                    advice_for(why->status));
    fail(all,
         why->status == FL_E_TIMEOUT ? FL_EXIT_TIMEOUT : FL_EXIT_CONNECTION);
}

static void show_json(const fl_term *to, fl_span report, bool first)
{
    while (report.len > 0 && report.ptr[report.len - 1] == '\n')
        report.len--;
    fputs(first ? "" : ",\n", to->file);
    fl_term_put(to, report);
}

static void show(search *all, const fl_term *to, const fl_ps_gateway *gateway,
                 bool json, bool first)
{
    fl_span report = fl_buf_view(&gateway->said);

    if (json) {
        show_json(to, report, first);
        return;
    }
    fputs(first ? "" : "\n", to->file);
    if (fl_ps_show(to, report, to->is_tty ? fl_term_columns(to) : 0) != FL_OK)
        all->failed = true;
}

static void show_all(search *all, const line *asked)
{
    fl_term out = fl_term_of(stdout), err = fl_term_of(stderr);
    size_t shown = 0;

    fputs(asked->json ? "[" : "", stdout);
    for (size_t i = 0; i < all->list.count; i++) {
        const fl_ps_gateway *gateway = &all->list.items[i];
        if (gateway->why.status == FL_OK)
            show(all, &out, gateway, asked->json, shown++ == 0);
        else if (is_stale(gateway))
            sweep(gateway);
        else
            complain(all, gateway);
    }
    fputs(asked->json ? "]\n" : "", stdout);
    if (shown == 0 && all->exit == FL_EXIT_OK && !asked->json)
        fl_term_say(&err, FL_TERM_PLAIN, "No gateway is running.\n");
}

static int run(const line *asked)
{
    search all = {.exit = FL_EXIT_OK};

    find(&all, &asked->words);
    if (fl_ps_ask(&all.list, asked->timeout_ms > 0 ? asked->timeout_ms
                                                   : TIMEOUT_MS) == FL_OK)
        show_all(&all, asked);
    else
        all.failed = true;
    fl_ps_list_deinit(&all.list);
    if (all.failed) {
        fl_complain("ps", "out of memory");
        fail(&all, FL_EXIT_LOCAL);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fl_complain("ps", "cannot write to stdout: %s", fl_uv_text(-errno));
        fail(&all, FL_EXIT_LOCAL);
    }
    return (int)all.exit;
}

int fl_ps_command(char **argv)
{
    line asked = {0};
    fl_error error;

    if (parse(&asked, argv, &error) != FL_OK)
        return fl_complain_usage("ps", &error);
    if (asked.help) {
        fl_help_ps(stdout);
        return FL_EXIT_OK;
    }
    return run(&asked);
}
