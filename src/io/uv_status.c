/*
 * uv_status.c - libuv's error codes in our words.
 *
 * Foreign codes are translated once, here at the border. What has no word of
 * its own is an input/output error, and its text still says which.
 */
#include "io/uv_status.h"

#include <uv.h>

static const struct {
    int code;
    fl_status status;
} words[] = {
    {UV_EOF, FL_END},
    {UV_ENOMEM, FL_E_NOMEM},
    {UV_ENOBUFS, FL_E_NOMEM},
    {UV_EINVAL, FL_E_INVALID},
    {UV_ENAMETOOLONG, FL_E_INVALID},
    {UV_EPIPE, FL_E_CLOSED},
    {UV_ENOTCONN, FL_E_CLOSED},
    {UV_ETIMEDOUT, FL_E_TIMEOUT},
    {UV_ECONNREFUSED, FL_E_REFUSED},
    {UV_ECONNRESET, FL_E_RESET},
    {UV_ECONNABORTED, FL_E_RESET},
    {UV_EHOSTUNREACH, FL_E_UNREACHABLE},
    {UV_ENETUNREACH, FL_E_UNREACHABLE},
    {UV_ENETDOWN, FL_E_UNREACHABLE},
    {UV_EADDRNOTAVAIL, FL_E_UNREACHABLE},
    {UV_EAI_AGAIN, FL_E_UNREACHABLE},
    {UV_EAI_FAIL, FL_E_UNREACHABLE},
    {UV_EAI_FAMILY, FL_E_UNREACHABLE},
    {UV_EAI_NODATA, FL_E_UNREACHABLE},
    {UV_EAI_NONAME, FL_E_UNREACHABLE},
    {UV_EAI_MEMORY, FL_E_NOMEM},
    {UV_ENOENT, FL_E_NOT_FOUND},
    {UV_ENOTDIR, FL_E_NOT_FOUND},
    {UV_EACCES, FL_E_DENIED},
    {UV_EPERM, FL_E_DENIED},
    {UV_EROFS, FL_E_DENIED},
    {UV_EADDRINUSE, FL_E_IN_USE},
    {UV_EEXIST, FL_E_IN_USE},
    {UV_EMFILE, FL_E_LIMIT},
    {UV_ENFILE, FL_E_LIMIT},
    {UV_ENOSPC, FL_E_LIMIT},
    {UV_EFBIG, FL_E_LIMIT},
    {UV_ECANCELED, FL_E_CANCELLED},
    {UV_EAI_CANCELED, FL_E_CANCELLED},
    {UV_ENOSYS, FL_E_UNSUPPORTED},
    {UV_ENOTSUP, FL_E_UNSUPPORTED},
    {UV_EAFNOSUPPORT, FL_E_UNSUPPORTED},
};

fl_status fl_status_from_uv(int code)
{
    if (code >= 0)
        return FL_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return words[i].status;
    return FL_E_IO;
}

const char *fl_uv_text(int code)
{
    /* uv_strerror() leaks memory for a code it does not know */
    switch (code) {
#define TEXT(name, text)                                                       \
    case UV_##name:                                                            \
        return text;
        UV_ERRNO_MAP(TEXT)
#undef TEXT
    default:
        return "unknown error";
    }
}
