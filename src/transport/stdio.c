/*
 * stdio.c - the table row of stdio.
 */
#include "transport/stdio.h"

#include "transport/line_link.h"

static const char *const schemes[] = {"stdio", NULL};

const fl_transport fl_transport_stdio = {
    .name = "stdio",
    .schemes = schemes,
    .address = FL_ADDRESS_BARE,
    .traits = FL_LINK_CHANNEL,
    .listen = fl_stdio_listen,
    .connect = fl_stdio_connect,
    .close_listener = fl_stdio_close_listener,
    .send = fl_line_link_send,
    .answer = fl_line_link_answer,
    .close = fl_line_link_close,
    .free = fl_line_link_free,
    .info = fl_stdio_info,
    .operate = fl_stdio_operate,
    .released = fl_line_link_released,
};
