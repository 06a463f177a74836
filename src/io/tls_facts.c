/*
 * tls_facts.c - what can be said of the other side of a TLS stream.
 *
 * Nothing here decides anything: whether a certificate is to be believed was
 * the handshake's business.
 */
#include "io/tls_facts.h"

#include "io/stream_impl.h"
#include "io/tls_impl.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm when = {0};

    return ASN1_TIME_to_tm(time, &when) == 1 ? (int64_t)timegm(&when) : 0;
}

static void print_name(const X509_NAME *name, char *out, size_t size)
{
    BIO *text = BIO_new(BIO_s_mem());
    char *bytes = NULL;

    out[0] = '\0';
    if (text == NULL)
        return;
    if (X509_NAME_print_ex(text, name, 0, XN_FLAG_RFC2253) >= 0) {
        long len = BIO_get_mem_data(text, &bytes);
        snprintf(out, size, "%.*s", len > 0 ? (int)len : 0,
                 bytes != NULL ? bytes : "");
    }
    BIO_free(text);
}

static void add_name(char *out, size_t size, const char *text, int len)
{
    size_t used = strlen(out);

    if (len > 0 && used + (size_t)len + 3 < size)
        snprintf(out + used, size - used, "%s%.*s", used > 0 ? ", " : "", len,
                 text);
}

static void add_address(char *out, size_t size, const ASN1_OCTET_STRING *ip)
{
    const unsigned char *byte = ASN1_STRING_get0_data(ip);
    char text[64] = "";
    int len = ASN1_STRING_length(ip), used = 0;

    if (len == 4)
        used = snprintf(text, sizeof text, "%u.%u.%u.%u", byte[0], byte[1],
                        byte[2], byte[3]);
    for (int i = 0; len == 16 && i < 16; i += 2)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%x",
                         i > 0 ? ":" : "", byte[i] << 8 | byte[i + 1]);
    add_name(out, size, text, used);
}

static void list_names(X509 *certificate, char *out, size_t size)
{
    GENERAL_NAMES *names =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_DNS)
            add_name(out, size,
                     (const char *)ASN1_STRING_get0_data(name->d.dNSName),
                     ASN1_STRING_length(name->d.dNSName));
        else if (name->type == GEN_IPADD)
            add_address(out, size, name->d.iPAddress);
    }
    GENERAL_NAMES_free(names);
}

bool fl_tls_facts_read(const fl_stream *stream, fl_tls_facts *facts)
{
    *facts = (fl_tls_facts){0};
    SSL *ssl = fl_tls_layer_ssl(stream->tls);
    X509 *certificate = ssl != NULL ? SSL_get1_peer_certificate(ssl) : NULL;
    if (certificate == NULL)
        return false;
    snprintf(facts->version, sizeof facts->version, "%s", SSL_get_version(ssl));
    facts->starts = seconds_of(X509_get0_notBefore(certificate));
    facts->expires = seconds_of(X509_get0_notAfter(certificate));
    print_name(X509_get_subject_name(certificate), facts->subject,
               sizeof facts->subject);
    print_name(X509_get_issuer_name(certificate), facts->issuer,
               sizeof facts->issuer);
    list_names(certificate, facts->names, sizeof facts->names);
    facts->self_signed = X509_NAME_cmp(X509_get_subject_name(certificate),
                                       X509_get_issuer_name(certificate)) == 0;
    X509_free(certificate);
    ERR_clear_error();
    return true;
}
