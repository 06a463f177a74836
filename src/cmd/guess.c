/*
 * guess.c - which of its tools, or prompts, somebody meant whose name for it
 * the server does not know.
 */
#include "cmd/guess.h"

#include "base/span.h"
#include "cmd/suggest.h"
#include "cmd/texts.h"
#include "json/nav.h"

#include <string.h>

enum { NAME_MAX_BYTES = 1024 };

/* Those that are too long to be mistyped are left out. */
static void gather(fl_span list, fl_texts *names)
{
    fl_json_walk walk;
    fl_json_member one;
    fl_buf name;

    fl_buf_init(&name, NAME_MAX_BYTES);
    fl_json_walk_init(&walk, list);
    while (fl_json_walk_next(&walk, &one)) {
        fl_buf_truncate(&name, 0);
        if (fl_json_string_copy(fl_json_get(one.value, FL_SPAN("name")),
                                &name) == FL_OK)
            fl_texts_add_span(names, fl_buf_view(&name));
    }
    fl_buf_reset(&name);
}

static bool has(const fl_texts *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static fl_status write_guess(const fl_texts *names, const char *what,
                             const char *name, fl_buf *out)
{
    const char *nearest =
        names->count > 0 ? fl_suggest_nearest(fl_span_of(name),
                                              (const char *const *)names->items)
                         : NULL;
    fl_status rc = fl_buf_printf(out, "There is no %s '%s'. ", what, name);

    if (rc != FL_OK)
        return rc;
    return nearest != NULL ? fl_buf_printf(out, "Did you mean %s?", nearest)
                           : fl_buf_printf(out, "'%ss' lists them.", what);
}

fl_status fl_guess_name(fl_span list, const char *what, const char *name,
                        fl_buf *out)
{
    fl_texts names = {0};
    fl_status rc = FL_OK;

    gather(list, &names);
    if (names.failed)
        rc = FL_E_NOMEM;
    else if (!has(&names, name))
        rc = write_guess(&names, what, name, out);
    fl_texts_deinit(&names);
    return rc;
}
