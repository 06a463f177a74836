/*
 * register.h - who the client is at an authorization server, and how it proves
 * that (RFC 7591; MCP "Client Registration").
 */
#ifndef FL_AUTH_REGISTER_H
#define FL_AUTH_REGISTER_H

#include "auth/metadata.h"
#include "auth/record.h"

/* The method for a client that has these, at a server that takes what it
 * says; UNKNOWN: there is none. */
fl_client_method fl_register_method(const fl_as *as, bool has_secret,
                                    bool has_key);

/* The method to ask for when the client has nothing yet. */
fl_client_method fl_register_wish(const fl_as *as);

typedef struct fl_register_ask {
    fl_span name;
    fl_span redirect_uri;
    fl_span scope; /* {NULL, 0}: none */
    fl_client_method method;
} fl_register_ask;

/* Appends the request's JSON. */
FL_MUST_USE fl_status fl_register_write(const fl_register_ask *ask,
                                        fl_buf *out);

/* Notes in `record` who we are from now on. FL_E_REMOTE: the answer does not
 * say it, or wants a method that we cannot. */
FL_MUST_USE fl_status fl_register_read(fl_span json, const fl_as *as,
                                       fl_record *record, fl_error *error);

#endif
