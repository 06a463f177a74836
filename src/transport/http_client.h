/*
 * http_client.h - a link to an MCP server behind a URL.
 */
#ifndef FL_TRANSPORT_HTTP_CLIENT_H
#define FL_TRANSPORT_HTTP_CLIENT_H

#include "transport/transport.h"
#include "wire/field.h"

/* http(s):// and sse+http(s)://: the link tells by the address which dialect
 * it speaks first, and has a transport of its own (it is in no table). */
FL_MUST_USE fl_status fl_http_connect(fl_loop *loop, const fl_address *address,
                                      const fl_options *options,
                                      const fl_link_events *events, void *user,
                                      fl_link **out, fl_error *error);

extern const fl_transport fl_http_client_transport;
extern const fl_transport fl_http_client_sse_transport;

/* Appends what "Name: value" each of `headers` says; the names lie in `names`,
 * which is to be reset after use, failure included. */
FL_MUST_USE fl_status fl_http_fields_custom(const char *const *headers,
                                            fl_field *fields, size_t room,
                                            size_t *count, fl_buf *names,
                                            fl_error *error);

#endif
