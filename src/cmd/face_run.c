/*
 * face_run.c - fairlead, started as another program.
 *
 * The translated line is handed to the command as if it had been typed; it is
 * in no list of processes, for nothing is started. What was typed is there,
 * though, and if secrets were among it they are overwritten where they stand,
 * as soon as they have been understood.
 */
#include "cmd/face_run.h"

#include "base/mem.h"
#include "base/span.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/serve.h"
#include "cmd/shell_words.h"
#include "cmd/term.h"

#include <fairlead/version.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDENT = 30, COLUMNS = 79 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool fl_face_is_known(const char *name)
{
    static const char *const known[] = {"supergateway", "mcp-proxy",
                                        "mcp-remote", NULL};
    size_t i = 0;

    while (known[i] != NULL && strcmp(known[i], last_part(name)) != 0)
        i++;
    return known[i] != NULL;
}

static const char *kind_text(const fl_face_row *row)
{
    switch (row->kind) {
    case FL_FACE_VALUE:
        return " VALUE";
    case FL_FACE_MAYBE:
        return " [VALUE]";
    case FL_FACE_PAIR:
        return " KEY VALUE";
    case FL_FACE_LIST:
        return " VALUE...";
    case FL_FACE_SWITCH:
        break;
    }
    return "";
}

/* Words, a line after the other, from column INDENT to COLUMNS. */
static void wrap(const char *text, size_t column, FILE *to)
{
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (column + len >= COLUMNS) {
            fprintf(to, "\n%*s", INDENT, "");
            column = INDENT;
        } else if (column > INDENT) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)len, text);
        column += len;
        text += len + strspn(text + len, " ");
    }
}

static void show_row(const fl_face_row *row, FILE *to)
{
    const char *ours = row->ours != NULL ? row->ours : "";
    int len =
        fprintf(to, "  %s%s%s%s", row->name, row->also != NULL ? ", " : "",
                row->also != NULL ? row->also : "", kind_text(row));

    if (len < INDENT)
        fprintf(to, "%*s", INDENT - len, "");
    else
        fprintf(to, "\n%*s", INDENT, "");
    fputs(ours, to);
    if (*ours != '\0' && row->why != NULL)
        fputc(':', to);
    if (row->why != NULL)
        wrap(row->why, INDENT + (*ours != '\0' ? strlen(ours) + 1 : 0), to);
    fputc('\n', to);
}

static void list_rows(const char *title, const fl_face_row *rows,
                      fl_face_deed from, fl_face_deed until, FILE *to)
{
    bool begun = false;

    for (; rows->name != NULL; rows++) {
        if (rows->deed < from || rows->deed > until)
            continue;
        if (!begun)
            fprintf(to, "\n%s\n", title);
        begun = true;
        show_row(rows, to);
    }
}

void fl_face_help(const fl_face_program *program, FILE *to)
{
    fprintf(to, "fairlead %s - with the flags of %s\n\n", program->name,
            program->name);
    fprintf(to, "Usage: fairlead %s %s\n\n", program->name, program->usage);
    fprintf(to, "Examples:\n%s\n", program->examples);
    fprintf(to,
            "The same under its own name, through a link:\n"
            "  ln -s $(command -v fairlead) ~/bin/%s\n"
            "\n"
            "To see which command of fairlead it means, and move over:\n"
            "  fairlead %s --show ...\n\n%s",
            program->name, program->name, program->notes);
    list_rows("Flags, and what becomes of them here:", program->rows,
              FL_FACE_ASKED, FL_FACE_WORD, to);
    list_rows("Taken, with no meaning here:", program->rows, FL_FACE_MEANT,
              FL_FACE_IDLE, to);
    list_rows("Refused:", program->rows, FL_FACE_NEVER, FL_FACE_NEVER, to);
    if (program->prefix != NULL)
        fprintf(to,
                "\nFlags are taken from the environment, too: --sslCert "
                "is %sSSL_CERT.\n",
                program->prefix);
}

static bool show_word(const char *word, FILE *to)
{
    char *quoted = fl_shell_quote(word);

    if (quoted == NULL)
        return false;
    fprintf(to, " %s", quoted);
    fl_mem_free(quoted);
    return true;
}

fl_status fl_face_show(const fl_face *face, FILE *to)
{
    bool ok = true;

    for (size_t i = 0; i < face->secrets.count; i++)
        fprintf(to, "%.*s='...' ", (int)strcspn(face->secrets.items[i], "="),
                face->secrets.items[i]);
    fprintf(to, "fairlead %s", face->connect ? "connect" : "serve");
    for (size_t i = 0; i < face->argv.count && ok; i++)
        ok = show_word(face->argv.items[i], to);
    fputc('\n', to);
    return ok ? FL_OK : FL_E_NOMEM;
}

static void show_warnings(const fl_face *face)
{
    for (size_t i = 0; i < face->warnings.count; i++)
        fl_complain(face->program->name, "warning: %s",
                    face->warnings.items[i]);
}

/* In the arguments and, of programs that take flags from there, in the
 * environment, which a child may get all of. */
static void hide_secrets(fl_face *face)
{
    for (size_t i = 0; i < face->said_count; i++) {
        const fl_face_said *said = &face->said[i];
        if (!said->row->secret)
            continue;
        if (said->second != NULL)
            memset(said->second, 'x', strlen(said->second));
        else if (said->value != NULL)
            memset(said->value, 'x', strlen(said->value));
    }
}

static bool set_secrets(const fl_face *face)
{
    for (size_t i = 0; i < face->secrets.count; i++) {
        char *text = face->secrets.items[i];
        size_t len = strcspn(text, "=");
        char *name = fl_mem_string((fl_span){text, len});
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs yet */
        bool ok = name != NULL && setenv(name, text + len + 1, 1) == 0;
        fl_mem_free(name);
        if (!ok)
            return false;
    }
    return true;
}

/* Those who ask for help have often given no flag that tells the two apart. */
static void show_help(const char *name, FILE *to)
{
    if (strcmp(name, fl_face_mcp_proxy.name) == 0) {
        fl_face_help(&fl_face_mcp_proxy, to);
        fputc('\n', to);
        fl_face_help(&fl_face_mcp_proxy_py, to);
        return;
    }
    fl_face_help(strcmp(name, fl_face_supergateway.name) == 0
                     ? &fl_face_supergateway
                     : &fl_face_mcp_remote,
                 to);
}

static int run(fl_face *face)
{
    const char *name = face->program->name;

    if (face->help) {
        show_help(name, stdout);
        return FL_EXIT_OK;
    }
    if (face->version) {
        printf("fairlead %s, as %s\n", fl_version(), name);
        return FL_EXIT_OK;
    }
    show_warnings(face);
    if (face->show)
        return fl_face_show(face, stdout) == FL_OK ? FL_EXIT_OK : FL_EXIT_LOCAL;
    hide_secrets(face);
    if (!set_secrets(face)) {
        fl_complain(name, "out of memory");
        return FL_EXIT_LOCAL;
    }
    return face->connect ? fl_connect_command(face->argv.items)
                         : fl_serve_command(face->argv.items);
}

int fl_face_run(const char *name, char **argv)
{
    const fl_face_program *program;
    fl_face face = {0};
    fl_error error = {0};
    fl_status rc =
        fl_face_choose(last_part(name), argv, environ, &program, &error);

    if (rc == FL_OK)
        rc = fl_face_translate(program, argv, environ, &face, &error);
    int status =
        rc == FL_OK ? run(&face) : fl_complain_usage(last_part(name), &error);
    fl_face_deinit(&face);
    return status;
}
