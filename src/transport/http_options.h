/*
 * http_options.h - the options only HTTP has, checked before anything starts.
 */
#ifndef FL_TRANSPORT_HTTP_OPTIONS_H
#define FL_TRANSPORT_HTTP_OPTIONS_H

#include "transport/address.h"
#include "wire/field.h"

#include <fairlead/options.h>

FL_MUST_USE fl_status fl_http_options_check_path(const char *option,
                                                 const char *path,
                                                 fl_error *error);

/* Where a server's endpoint is: the address's path, or what it has without. */
const char *fl_http_options_path(const fl_address *address);

/* Fills paths in, too. */
FL_MUST_USE fl_status fl_http_options_for_server(const fl_address *address,
                                                 fl_http_settings *http,
                                                 fl_error *error);
FL_MUST_USE fl_status fl_http_options_for_client(const fl_address *address,
                                                 const fl_http_settings *http,
                                                 fl_error *error);

/* "Name: value" into its two halves, which lie in `header`. FL_E_INVALID: it is
 * not fit to be sent, or not the caller's to send; the text of the error begins
 * with `where`. */
FL_MUST_USE fl_status fl_http_options_header(const char *header,
                                             const char *where, fl_field *field,
                                             fl_error *error);

#endif
