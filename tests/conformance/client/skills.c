/*
 * skills.c - scenarios about skills: nothing is read before it is needed, and
 * nothing is used that is not what the list said (SEP-2640).
 */
#include "talk.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST "/SKILL.md"

int run_skills_list(struct talk *talk)
{
    talk_ask(talk, "skills/list", TEXT("{}"));
    return talk->status != FL_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), more = strlen(end);

    return len >= more && strcmp(text + len - more, end) == 0;
}

/* "sha256:" and 64 digits, as a resource of a skill has it. */
static void digest(const char *text, char out[72])
{
    unsigned char hash[EVP_MAX_MD_SIZE] = {0};
    int at = snprintf(out, 72, "sha256:");

    EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL);
    for (int i = 0; i < 32; i++)
        at += snprintf(out + at, 72 - (size_t)at, "%02x", hash[i]);
}

/* What a resource of the skill was said to be is what came. */
static bool is_intact(fl_span resource, const char *text)
{
    fl_span size = fl_raw_get(resource, "size");
    char found[72], length[24];

    digest(text, found);
    snprintf(length, sizeof length, "%zu", strlen(text));
    return fl_raw_is(fl_raw_get(resource, "digest"), found) &&
           size.len == strlen(length) &&
           memcmp(size.ptr, length, size.len) == 0;
}

/* One "key: value" of the frontmatter is in the entry, too. */
static bool is_line_in(fl_span frontmatter, const char *line, size_t len)
{
    char key[64], value[1024];
    char copy[1200];

    snprintf(copy, sizeof copy, "%.*s", (int)len, line);
    if (sscanf(copy, "%63[A-Za-z0-9_-]: %1023[^\n]", key, value) != 2)
        return true; /* part of what is nested */
    return fl_raw_is(fl_raw_get(frontmatter, key), value);
}

/* The frontmatter of SKILL.md says what the entry does. */
static bool is_described(fl_span frontmatter, const char *text)
{
    const char *line = text;

    if (strncmp(line, "---\n", 4) != 0)
        return false;
    for (line += 4; strncmp(line, "---", 3) != 0; line++) {
        size_t len = strcspn(line, "\n");
        if (line[len] == '\0' || !is_line_in(frontmatter, line, len))
            return false;
        line += len;
    }
    return true;
}

/* Reads one file of the skill, and says whether it may be used. */
static bool use(struct talk *talk, fl_span entry, fl_span resource)
{
    char *uri = text_of(resource, "uri");
    if (uri == NULL)
        return false;
    fl_span result = talk_read(talk, (fl_span){uri, strlen(uri)});
    char *text = text_of(fl_raw_at(fl_raw_get(result, "contents"), 0), "text");
    bool good = text != NULL && is_intact(resource, text);

    if (good && ends_with(uri, MANIFEST))
        good = is_described(fl_raw_get(entry, "frontmatter"), text);
    if (!good)
        fprintf(stderr, "%s is not what the list said\n", uri);
    free(text);
    free(uri);
    return good;
}

/* SKILL.md first; the rest only if that is in order. */
static bool load(struct talk *talk, fl_span entry)
{
    fl_span resource, resources = fl_raw_get(entry, "resources");
    bool good = false;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; (resource = fl_raw_at(resources, i)).len > 0; i++) {
            char *uri = text_of(resource, "uri");
            bool first = uri != NULL && ends_with(uri, MANIFEST);
            free(uri);
            if (first == (pass == 0) && !(good = use(talk, entry, resource)))
                return false;
        }
    return good;
}

int run_skill(struct talk *talk)
{
    fl_span result = talk_ask(talk, "skills/list", TEXT("{}"));
    char *kept = strndup(result.ptr, result.len);
    fl_span list = {kept, kept != NULL ? strlen(kept) : 0};
    bool good = load(talk, fl_raw_at(fl_raw_get(list, "skills"), 0));

    free(kept);
    return !good;
}
