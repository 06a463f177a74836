/*
 * prompts.c - the prompts of a server, and how each revision lists them.
 */
#include "server/prompts.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"

#include <assert.h>
#include <string.h>

static void write_arguments(fl_json_writer *writer, const fl_prompt *prompt,
                            bool titled)
{
    if (prompt->argument_count == 0)
        return;
    fl_json_key(writer, "arguments");
    fl_json_array(writer);
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const fl_prompt_argument *argument = &prompt->arguments[i];
        fl_json_object(writer);
        fl_catalog_write_text(writer, "name", argument->name);
        if (titled)
            fl_catalog_write_text(writer, "title", argument->title);
        fl_catalog_write_text(writer, "description", argument->description);
        fl_json_key(writer, "required");
        fl_json_bool(writer, argument->required);
        fl_json_object_end(writer);
    }
    fl_json_array_end(writer);
}

static void write_prompt(fl_json_writer *writer, const fl_entry *entry,
                         const fl_revision *revision)
{
    const fl_prompt *prompt = &((const fl_prompts_entry *)entry)->prompt;
    bool titled = fl_revision_has(revision, FL_HAS_TITLE);

    fl_json_object(writer);
    fl_catalog_write_text(writer, "name", prompt->name);
    if (titled)
        fl_catalog_write_text(writer, "title", prompt->title);
    fl_catalog_write_text(writer, "description", prompt->description);
    write_arguments(writer, prompt, titled);
    if (fl_revision_has(revision, FL_HAS_ICONS))
        fl_catalog_write_json(writer, "icons", prompt->icons);
    if (titled) /* _meta came with titles */
        fl_catalog_write_json(writer, "_meta", prompt->meta);
    fl_json_object_end(writer);
}

const fl_catalog_kind fl_prompts_kind = {.member = "prompts",
                                         .write = write_prompt};

static void free_prompt(fl_entry *entry)
{
    fl_mem_free(entry);
}

/* What a prompt and each of its arguments have of texts. */
enum { OWN_TEXTS = 5, ARGUMENT_TEXTS = 3 };

static void gather_texts(const fl_prompt *prompt, const char **texts)
{
    *texts++ = prompt->name;
    *texts++ = prompt->title;
    *texts++ = prompt->description;
    *texts++ = prompt->icons;
    *texts++ = prompt->meta;
    for (size_t i = 0; i < prompt->argument_count; i++) {
        *texts++ = prompt->arguments[i].name;
        *texts++ = prompt->arguments[i].title;
        *texts++ = prompt->arguments[i].description;
    }
}

static void fill(fl_prompts_entry *made, const fl_prompt *prompt,
                 const char *const *texts)
{
    fl_prompt_argument *arguments = (fl_prompt_argument *)(made + 1);
    const char *const *text = texts + OWN_TEXTS;

    for (size_t i = 0; i < prompt->argument_count; i++) {
        arguments[i] = (fl_prompt_argument){
            .name = text[0],
            .title = text[1],
            .description = text[2],
            .required = prompt->arguments[i].required,
        };
        text += ARGUMENT_TEXTS;
    }
    made->prompt = (fl_prompt){
        .name = texts[0],
        .title = texts[1],
        .description = texts[2],
        .arguments = arguments,
        .argument_count = prompt->argument_count,
        .icons = texts[3],
        .meta = texts[4],
        .get = prompt->get,
        .complete = prompt->complete,
        .user = prompt->user,
    };
    made->entry = (fl_entry){
        .key = made->prompt.name,
        .run = prompt->get,
        .complete = prompt->complete,
        .user = prompt->user,
        .refs = 1,
        .free = free_prompt,
    };
}

/* The prompt, its arguments and all texts in one block. */
static fl_prompts_entry *copy(const fl_prompt *prompt)
{
    size_t count = OWN_TEXTS + ARGUMENT_TEXTS * prompt->argument_count;
    const char **texts = fl_mem_alloc(count * sizeof *texts);
    fl_prompts_entry *made;

    if (texts == NULL)
        return NULL;
    gather_texts(prompt, texts);
    made = fl_catalog_copy(sizeof *made + prompt->argument_count *
                                              sizeof *prompt->arguments,
                           texts, count);
    if (made != NULL)
        fill(made, prompt, texts);
    fl_mem_free(texts);
    return made;
}

/* Each has a name, and one of its own. */
static bool are_sound(const fl_prompt *prompt)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const char *name = prompt->arguments[i].name;
        if (name == NULL || name[0] == '\0')
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(prompt->arguments[j].name, name) == 0)
                return false;
    }
    return true;
}

/* What is wrong with it, or NULL. */
static const char *find_fault(const fl_prompt *prompt)
{
    if (prompt->name == NULL || prompt->name[0] == '\0')
        return "it has no name";
    if (prompt->get == NULL)
        return "it has no handler";
    if (!fl_catalog_is_json(prompt->icons, '['))
        return "icons is not a JSON array";
    if (!fl_catalog_is_json(prompt->meta, '{'))
        return "meta is not a JSON object";
    if (prompt->argument_count > FL_PROMPTS_ARGUMENTS)
        return "it has more than 256 arguments";
    return are_sound(prompt) ? NULL : "an argument has no name of its own";
}

fl_status fl_prompts_add(fl_catalog *prompts, const fl_prompt *prompt,
                         fl_error *error)
{
    const char *fault = find_fault(prompt);

    static_assert(FL_PROMPTS_ARGUMENTS == 256, "as it says above");
    if (fault != NULL)
        return fl_error_set(error, FL_E_INVALID, "%s", fault);
    fl_prompts_entry *made = copy(prompt);
    if (made == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_catalog_add(prompts, &made->entry);
    if (rc != FL_OK)
        fl_entry_unref(&made->entry);
    return rc;
}

const fl_prompt_argument *fl_prompts_argument(const fl_prompt *prompt,
                                              fl_span token)
{
    for (size_t i = 0; i < prompt->argument_count; i++)
        if (fl_json_string_is(token, fl_span_of(prompt->arguments[i].name)))
            return &prompt->arguments[i];
    return NULL;
}
