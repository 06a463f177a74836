/*
 * server.h - an MCP server: what it offers, and the addresses it does so on.
 *
 * A program makes a server, adds tools, resources and prompts to it, each with
 * a handler (see call.h), and runs it:
 *
 *     fl_server *server = fl_server_new("adder", "1.0");
 *     if (server == NULL || fl_server_add_tool(server, &add) != FL_OK)
 *         return fl_server_fail(server);
 *     return fl_server_run(server, (const char *[]){"stdio:", NULL});
 *
 * All may be added and removed at any time; clients that want to know are
 * told. A capability is declared when there is something behind it: tools,
 * resources, prompts when there is one, completions when one of these can
 * complete, tasks when a tool's calls may be some. Logging always is, since
 * any handler may have a word for the log.
 */
#ifndef FAIRLEAD_SERVER_H
#define FAIRLEAD_SERVER_H

#include <fairlead/call.h>
#include <fairlead/loop.h>
#include <fairlead/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_server fl_server;

/* Whether a tool's calls may be tasks (2025-11-25, and the extension). */
typedef enum fl_task_use {
    FL_TASK_NEVER,
    FL_TASK_MAY,  /* the client chooses, or the handler: fl_call_as_task() */
    FL_TASK_MUST, /* clients that hold no tasks cannot call it */
} fl_task_use;

/* Texts are optional but for the name. JSON is checked when it is added. */
typedef struct fl_tool {
    const char *name;
    const char *title;         /* shown from 2025-06-18 on */
    const char *description;   /* what the model reads */
    const char *input_schema;  /* JSON, of type object; NULL: any object */
    const char *output_schema; /* JSON; from 2025-06-18 on */
    const char *annotations;   /* JSON; from 2025-03-26 on */
    const char *icons;         /* JSON, an array; from 2025-11-25 on */
    const char *meta;          /* JSON; from 2025-06-18 on */
    fl_task_use task;
    fl_call_fn *call;
    void *user;
} fl_tool;

typedef struct fl_resource {
    const char *uri; /* of a template: "file:///logs/{day}.txt", RFC 6570 */
    const char *name;
    const char *title;
    const char *description;
    const char *mime_type;
    uint64_t size;           /* in bytes; 0: unknown. Templates have none */
    const char *annotations; /* JSON */
    const char *icons;       /* JSON, an array */
    const char *meta;        /* JSON */
    fl_call_fn *read;
    fl_call_fn *complete; /* optional: of a template's variables */
    void *user;
} fl_resource;

typedef struct fl_prompt_argument {
    const char *name;
    const char *title;
    const char *description;
    bool required; /* then a handler need not ask whether it is there */
} fl_prompt_argument;

typedef struct fl_prompt {
    const char *name;
    const char *title;
    const char *description;
    const fl_prompt_argument *arguments;
    size_t argument_count;
    const char *icons; /* JSON, an array */
    const char *meta;  /* JSON */
    fl_call_fn *get;
    fl_call_fn *complete; /* optional: of its arguments */
    void *user;
} fl_prompt;

/* NULL when there is no memory. Name and version are shown to clients. */
FL_API FL_MUST_USE fl_server *fl_server_new(const char *name,
                                            const char *version);

/* All its listeners and links must be closed: see fl_server_close(). */
FL_API void fl_server_free(fl_server *server);

/* Text shown to the model; optional. */
FL_API FL_MUST_USE fl_status fl_server_set_instructions(fl_server *server,
                                                        const char *text);

/* More members for what clients are told of us: title, description,
 * websiteUrl, icons. A JSON object. Before it listens. */
FL_API FL_MUST_USE fl_status fl_server_set_identity(fl_server *server,
                                                    const char *json);

/* How many elements a list has at most before it is continued on another page;
 * 1000. */
FL_API void fl_server_set_page_size(fl_server *server, size_t elements);

/* The only era to serve; before it listens. FL_ERA_AUTO: both, as ever. */
FL_API void fl_server_set_era(fl_server *server, fl_era era);

/* The key (32 bytes) that seals what clients carry for handlers. Set it when
 * several processes serve as one; it is random otherwise. */
FL_API void fl_server_set_key(fl_server *server, const unsigned char key[32]);

/* How long a client may take to answer what a handler asks it; 600000. */
FL_API void fl_server_set_input_timeout(fl_server *server, uint64_t ms);

/*
 * Each copies everything but `user`. FL_E_INVALID: no name (a resource needs a
 * URI, too), no handler, JSON that is not what it has to be, a schema that is
 * none, a template that cannot be understood, or an input schema that has
 * x-mcp-header where or how it may not be (a property that is a string, an
 * integer or a boolean, and a name no other has); FL_E_IN_USE: the name (the
 * URI) is taken; FL_E_LIMIT: there are too many. fl_server_error() says more.
 */
FL_API FL_MUST_USE fl_status fl_server_add_tool(fl_server *server,
                                                const fl_tool *tool);
FL_API FL_MUST_USE fl_status
fl_server_add_resource(fl_server *server, const fl_resource *resource);
FL_API FL_MUST_USE fl_status
fl_server_add_template(fl_server *server, const fl_resource *resource);
FL_API FL_MUST_USE fl_status fl_server_add_prompt(fl_server *server,
                                                  const fl_prompt *prompt);

/* What was wrong with the latest that could not be added, for people:
 * "tool 'add': input_schema: /properties/a/minimum: must be a number". */
FL_API const fl_error *fl_server_error(const fl_server *server);

/* FL_E_NOT_FOUND: there is none of this name (URI). Calls that are being
 * answered go on. */
FL_API fl_status fl_server_remove_tool(fl_server *server, const char *name);
FL_API fl_status fl_server_remove_resource(fl_server *server, const char *uri);
FL_API fl_status fl_server_remove_template(fl_server *server, const char *uri);
FL_API fl_status fl_server_remove_prompt(fl_server *server, const char *name);

/* A resource has other contents than before: who has subscribed is told. */
FL_API void fl_server_resource_updated(fl_server *server, const char *uri);

/* A list has changed in ways the server cannot see. */
FL_API void fl_server_list_changed(fl_server *server, fl_list_kind list);

/* A word to the log of every client whose session is open (legacy: modern
 * clients hear only about their requests, by fl_call_logf()). */
FL_API void fl_server_logf(fl_server *server, fl_level level,
                           const char *logger, const char *format, ...)
    FL_PRINTF(4, 5);

/*
 * Listens on the addresses, NULL-terminated, until SIGINT or SIGTERM, or, if
 * "stdio:" is one of them, until the last link has gone; finishes what is in
 * flight and returns an exit code for main: 0, or 1 after saying on stderr
 * what was wrong. Frees the server.
 */
FL_API int fl_server_run(fl_server *server, const char *const *urls);

/*
 * For a program that cannot run it: says on stderr what was wrong with the
 * latest that could not be added (of NULL, that there is no memory), frees the
 * server and returns 1, an exit code for main.
 */
FL_API int fl_server_fail(fl_server *server);

/* The parts of fl_server_run(), for a program with a loop of its own. */
FL_API FL_MUST_USE fl_status fl_server_listen(fl_server *server, fl_loop *loop,
                                              const char *url,
                                              const fl_options *options,
                                              fl_error *error);

/* The port of the latest tcp:// or tls:// listener, for port 0. */
FL_API uint16_t fl_server_port(const fl_server *server);

/* How many links are open. */
FL_API size_t fl_server_links(const fl_server *server);

/* Calls `done` when the last link has gone, whoever closed it. One at a time;
 * how a program that serves stdio learns that its client has left. */
FL_API void fl_server_on_idle(fl_server *server, fl_task *done, void *user);

/*
 * Stops listening, gives calls in flight `grace_ms` to be answered, fails the
 * rest with an error, closes every link, then calls `done`: always later,
 * except for a server that never listened. While it is closing a second call
 * does nothing. All doors are on one loop.
 */
FL_API void fl_server_close(fl_server *server, uint64_t grace_ms, fl_task *done,
                            void *user);

#ifdef __cplusplus
}
#endif

#endif
