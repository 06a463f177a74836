/*
 * tls_facts.h - what can be said of the other side of a TLS stream, for
 * people: its certificate, verified or not, and what was agreed on.
 */
#ifndef FL_IO_TLS_FACTS_H
#define FL_IO_TLS_FACTS_H

#include "io/stream.h"

typedef struct fl_tls_facts {
    char version[16];  /* "TLSv1.3" */
    int64_t starts;    /* seconds since 1970 */
    int64_t expires;   /* likewise */
    char subject[128]; /* as RFC 2253 has it; cut short if it is long */
    char issuer[128];
    char names[256]; /* it is for: "example.org, *.example.org", likewise */
    bool self_signed;
} fl_tls_facts;

/* False when it is no TLS stream, not open, or the peer has shown none. */
FL_MUST_USE bool fl_tls_facts_read(const fl_stream *stream,
                                   fl_tls_facts *facts);

#endif
