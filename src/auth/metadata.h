/*
 * metadata.h - what servers say about themselves: a protected resource
 * (RFC 9728), an authorization server (RFC 8414, OpenID Connect Discovery).
 *
 * Only reading, and only of what we go by. Whether to believe it is decided in
 * discover.h.
 */
#ifndef FL_AUTH_METADATA_H
#define FL_AUTH_METADATA_H

#include <fairlead/types.h>

enum { FL_PRM_ISSUERS = 8 };

typedef struct fl_prm {
    char *resource;
    char *issuers[FL_PRM_ISSUERS]; /* authorization_servers; no more count */
    size_t count;
    char *scopes;       /* scopes_supported, with spaces between; NULL: none */
    bool dpop_required; /* dpop_bound_access_tokens_required */
} fl_prm;

/* How a client proves at the token endpoint who it is. */
typedef enum fl_client_method {
    FL_METHOD_UNKNOWN,
    FL_METHOD_NONE,
    FL_METHOD_BASIC,
    FL_METHOD_POST,
    FL_METHOD_JWT, /* private_key_jwt */
} fl_client_method;

typedef struct fl_as {
    char *issuer;
    char *authorize, *token, *registration; /* endpoints */
    char *scopes;                           /* NULL: not said */
    unsigned methods; /* bit 1 << fl_client_method; 0: not said */
    bool cimd;        /* client_id_metadata_document_supported */
    bool says_iss;    /* authorization_response_iss_parameter_supported */
    bool says_pkce;   /* code_challenge_methods_supported is there */
    bool pkce;        /* and has S256 */
    bool dpop;        /* dpop_signing_alg_values_supported has ES256 */
    bool guessed;     /* there were no metadata: 2025-03-26's defaults */
} fl_as;

/* FL_E_BAD_JSON: it is no object. FL_E_NOMEM. What has the wrong type is as
 * good as not there. */
FL_MUST_USE fl_status fl_prm_read(fl_span json, fl_prm *out);
void fl_prm_deinit(fl_prm *prm);

FL_MUST_USE fl_status fl_as_read(fl_span json, fl_as *out);
void fl_as_deinit(fl_as *as);

/* "client_secret_basic" and the like; UNKNOWN, and NULL for that. */
fl_client_method fl_method_find(fl_span name);
const char *fl_client_method_name(fl_client_method method);

/* A string member of an object, decoded, into a slot. Not there, or not a
 * string: the slot stays. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_member_text(fl_span object, const char *key,
                                     char **slot);

#endif
