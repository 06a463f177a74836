/*
 * roots.c - the folders a server may work on, from --root.
 */
#include "cmd/roots.h"

#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = FL_FLAG_LIST_MAX * 3 * PATH_MAX };

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || strchr("/-._~", c) != NULL;
}

/* RFC 8089: an absolute path, what is not plain in it as %XX. */
static fl_status add_path(fl_buf *to, const char *path)
{
    fl_status rc = fl_buf_append(to, FL_SPAN("file://"));

    for (; rc == FL_OK && *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        rc = is_unreserved(c) ? fl_buf_append(to, (fl_span){path, 1})
                              : fl_buf_printf(to, "%%%02X", c);
    }
    return rc;
}

static fl_status add(fl_buf *to, const char *root, fl_error *error)
{
    char path[PATH_MAX];
    fl_status rc;

    if (strstr(root, "://") != NULL)
        rc = fl_buf_append(to, fl_span_of(root));
    else if (realpath(root, path) == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "--root %s: there is nothing of that name", root);
    else
        rc = add_path(to, path);
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

fl_status fl_roots_tell(fl_client *client, const fl_flag_list *roots,
                        fl_error *error)
{
    fl_root list[FL_FLAG_LIST_MAX] = {0};
    size_t ends[FL_FLAG_LIST_MAX];
    fl_status rc = FL_OK;
    fl_buf text;

    if (roots->count == 0)
        return FL_OK;
    fl_buf_init(&text, TEXT_MAX);
    for (size_t i = 0; rc == FL_OK && i < roots->count; i++) {
        rc = add(&text, roots->items[i], error);
        ends[i] = fl_buf_len(&text);
    }
    for (size_t i = 0; rc == FL_OK && i < roots->count; i++) {
        size_t start = i > 0 ? ends[i - 1] : 0;
        list[i].uri =
            (fl_span){fl_buf_view(&text).ptr + start, ends[i] - start};
    }
    if (rc == FL_OK)
        rc = fl_client_set_roots(client, list, roots->count);
    fl_buf_reset(&text);
    return rc;
}
