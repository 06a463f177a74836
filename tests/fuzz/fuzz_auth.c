/*
 * fuzz_auth.c - whatever strangers say to a client that wants to be let in.
 *
 * The first byte says what the rest is: a challenge, metadata, a token, a
 * record, a place that a user came back to. Whatever is taken must be fit to be
 * sent on: no token with a line end in it, no code without our state, no scope
 * with a quote.
 */
#include "auth/challenge.h"
#include "auth/code.h"
#include "auth/discover.h"
#include "auth/record.h"
#include "auth/register.h"
#include "auth/text.h"
#include "auth/token.h"
#include "base/span.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 1 << 20 };

#define STATE "0123456789012345678901234567890123456789012"

static char issuer[] = "https://as.example";

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_challenge(fl_span text)
{
    fl_challenge challenge;

    require(fl_challenge_read(text, &challenge) == FL_OK);
    require(challenge.scope == NULL || challenge.bearer || challenge.dpop);
    require(challenge.metadata == NULL || challenge.bearer || challenge.dpop);
    fl_challenge_deinit(&challenge);
}

static void check_scopes(const char *scopes)
{
    for (; scopes != NULL && *scopes != '\0'; scopes++)
        require(*scopes >= ' ' && *scopes <= '~' && *scopes != '"');
}

static void check_metadata(fl_span text)
{
    fl_prm prm;
    fl_as as;
    fl_error error;
    fl_buf url;

    fl_buf_init(&url, MAX);
    if (fl_prm_read(text, &prm) == FL_OK) {
        check_scopes(prm.scopes);
        for (size_t i = 0; i < prm.count; i++)
            for (unsigned step = 0; step < 4; step++)
                require(fl_discover_as(fl_span_of(prm.issuers[i]), step,
                                       &url) != FL_E_NOMEM);
        fl_prm_deinit(&prm);
    }
    if (fl_as_read(text, &as) == FL_OK) {
        check_scopes(as.scopes);
        require(fl_discover_check_as(&as, fl_span_of(issuer), &error) !=
                    FL_OK ||
                strcmp(as.issuer, issuer) == 0);
        fl_as_deinit(&as);
    }
    fl_buf_reset(&url);
}

static void check_token(fl_span text)
{
    fl_record record = {0};
    char code[FL_TOKEN_ERROR];
    fl_error error;

    if (fl_token_read(text, FL_SPAN("s"), 1000, &record, &error) == FL_OK) {
        const char *token = record.text[FL_RECORD_ACCESS];
        require(*token != '\0');
        for (; *token != '\0'; token++)
            require(*token > ' ' && *token < 0x7f);
        require(!fl_token_is_stale(&record, 1000));
    }
    fl_token_read_error(text, code);
    fl_record_clear(&record);
}

static void check_registration(fl_span text)
{
    fl_as as = {.issuer = issuer};
    fl_record record = {0};
    fl_error error;

    if (fl_register_read(text, &as, &record, &error) == FL_OK)
        require(*record.text[FL_RECORD_CLIENT_ID] != '\0');
    fl_record_clear(&record);
}

/* What was read is written and read again the same. */
static void check_record(fl_span text)
{
    fl_record one = {0}, two = {0};
    fl_buf out;

    fl_buf_init(&out, MAX);
    if (fl_record_read(&one, text) == FL_OK) {
        require(fl_record_write(&one, &out) == FL_OK);
        require(fl_record_read(&two, fl_buf_view(&out)) == FL_OK);
        for (int i = 0; i < FL_RECORD_COUNT; i++)
            require(fl_span_equal(fl_span_of(one.text[i]),
                                  fl_span_of(two.text[i])));
        require(one.expires == two.expires && one.renew == two.renew);
    }
    fl_record_clear(&one);
    fl_record_clear(&two);
    fl_buf_reset(&out);
}

static void check_code(fl_span text)
{
    static const fl_code asked = {.verifier = STATE, .state = STATE};
    fl_as as = {.issuer = issuer, .says_iss = true};
    fl_error error;
    char *code;

    if (fl_code_read(&asked, &as, text, &code, &error) == FL_OK)
        require(*code != '\0' && memmem(text.ptr, text.len, "iss=", 4) != NULL);
    fl_text_drop(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(fl_span) = {
        check_challenge,    check_metadata, check_token,
        check_registration, check_record,   check_code};

    if (size == 0)
        return 0;
    checks[data[0] % 6]((fl_span){(const char *)data + 1, size - 1});
    return 0;
}
