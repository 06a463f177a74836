/*
 * file_server.c - the files of a directory as resources, and its skills.
 *
 *     file_server DIRECTORY                          over stdin and stdout
 *     file_server DIRECTORY http://127.0.0.1:8080/mcp
 *     file_server --skills SKILLS DIRECTORY [ADDRESS]...
 *
 * Clients list the files, read them as docs:///<path>, and can have the server
 * look again when they know that there are others. No path they could ask for
 * leads out of the directory; see docs/files.md.
 */
#include <fairlead/fairlead.h>

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: file_server [--skills DIRECTORY] DIRECTORY [ADDRESS]...\n"
    "\n"
    "Serves the files below DIRECTORY as resources, docs:///<path>, on each\n"
    "ADDRESS (stdio: if there is none): tcp://HOST:PORT, unix:PATH,\n"
    "http://HOST:PORT/PATH, ws://HOST:PORT/PATH.\n"
    "\n"
    "  --skills DIRECTORY  serve the skills in it, too\n"
    "  --help              say this\n";

static void look_again(fl_call *call, void *user)
{
    fl_server *server = user;
    fl_files_count count;

    if (fl_server_files_rescan(server) != FL_OK ||
        fl_server_files_count(server, "docs:///", &count) != FL_OK)
        fl_call_fail(call, "the directory cannot be read now");
    else
        fl_call_replyf(call, "%zu files%s", count.listed,
                       count.more ? " and more" : "");
}

static fl_status add_all(fl_server *server, const char *directory,
                         const char *skills)
{
    fl_files files = {
        .root = directory,
        .uri_prefix = "docs:///",
        .name = "docs",
        .description = "A file, by its path below the directory",
    };
    fl_tool tool = {
        .name = "look_again",
        .description = "Lists the files that are there now",
        .call = look_again,
        .user = server,
    };
    fl_status rc = fl_server_add_files(server, &files);

    if (rc == FL_OK && skills != NULL)
        rc = fl_server_add_skills(server, skills);
    return rc == FL_OK ? fl_server_add_tool(server, &tool) : rc;
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    const char *skills = NULL;
    int at = 1;

    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "--skills") == 0) {
        skills = argv[2];
        at = 3;
    }
    if (at >= argc || argv[at][0] == '-') {
        fputs(help, stderr);
        return 2;
    }
    fl_server *server = fl_server_new("file_server", "1.0");
    if (server == NULL || add_all(server, argv[at], skills) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, at + 1 < argc
                                     ? (const char *const *)(argv + at + 1)
                                     : only_stdio);
}
