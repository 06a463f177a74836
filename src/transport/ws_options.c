/*
 * ws_options.c - the options only WebSocket has, checked before anything
 * starts.
 */
#include "transport/ws_options.h"

#include "base/status.h"
#include "transport/http_options.h"
#include "wire/ws.h"

#include <string.h>

/* RFC 6455 8.1 asks for 1007; some servers and their tests want 1002. */
static fl_status check_code(fl_websocket_settings *ws, fl_error *error)
{
    if (ws->utf8_code == 0)
        ws->utf8_code = FL_WS_BAD_DATA;
    if (ws->utf8_code == FL_WS_BAD_DATA ||
        ws->utf8_code == FL_WS_PROTOCOL_ERROR)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option ws.utf8_code: %u is no code for this; want "
                        "1007 or 1002",
                        ws->utf8_code);
}

static fl_status check_path(const fl_options *full, fl_error *error)
{
    const char *path = full->ws.path;

    if (path == NULL)
        return FL_OK;
    if (strcmp(path, full->http.sse_path) == 0 ||
        strcmp(path, full->http.messages_path) == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "option ws.path: '%s' is taken by HTTP+SSE", path);
    return fl_http_options_check_path("ws.path", path, error);
}

fl_status fl_ws_options_for_server(fl_options *full, fl_error *error)
{
    fl_status rc = check_code(&full->ws, error);

    return rc == FL_OK ? check_path(full, error) : rc;
}

fl_status fl_ws_options_for_client(fl_options *full, fl_error *error)
{
    return check_code(&full->ws, error);
}
