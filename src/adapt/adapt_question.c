/*
 * adapt_question.c - what a server asks, and what its client answers.
 *
 * Before 2025-11-25 a sampled message has one part, so that several parts
 * become several messages; and a form has neither titles for its choices nor
 * several of them. What a client could not be asked is refused rather than
 * asked in part: it would be answered as if it had been asked whole.
 */
#include "adapt/adapt_impl.h"

static fl_span content_of(fl_span message)
{
    return fl_json_get(message, FL_SPAN("content"));
}

/* A sampled part has no other words to be said in. */
static void check_part(const fl_adapt *adapt, fl_edit *edit, fl_span part)
{
    fl_span type = fl_json_get(part, FL_SPAN("type"));

    if (fl_json_string_is(type, FL_SPAN("tool_use")) ||
        fl_json_string_is(type, FL_SPAN("tool_result")) ||
        (fl_json_string_is(type, FL_SPAN("audio")) &&
         !fl_revision_has(adapt->to, FL_HAS_AUDIO)))
        fl_edit_note(edit, FL_E_UNSUPPORTED);
}

/* Several parts; whatever else may be in an array is none. */
static bool are_parts(fl_span content, size_t *count)
{
    fl_json_walk walk;
    fl_json_member part;

    *count = 0;
    if (fl_json_type_of(content) != FL_JSON_ARRAY)
        return false;
    fl_json_walk_init(&walk, content);
    for (; fl_json_walk_next(&walk, &part); ++*count)
        if (fl_json_type_of(part.value) != FL_JSON_OBJECT)
            return false;
    return true;
}

static void check_parts(const fl_adapt *adapt, fl_edit *edit, fl_span content)
{
    fl_json_walk walk;
    fl_json_member part;

    fl_json_walk_init(&walk, content);
    while (fl_json_walk_next(&walk, &part))
        check_part(adapt, edit, part.value);
}

static fl_span first_part(fl_span content)
{
    fl_json_walk walk;
    fl_json_member part;

    fl_json_walk_init(&walk, content);
    return fl_json_walk_next(&walk, &part) ? part.value : (fl_span){0};
}

/* What else there is in a message is said with its first part. */
static void write_first(fl_json_writer *writer, fl_span message, fl_span part)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_object(writer);
    fl_json_walk_init(&walk, message);
    while (fl_json_walk_next(&walk, &member)) {
        bool content = fl_edit_named(&member, "content");
        fl_json_raw_key(writer, member.key);
        fl_json_raw(writer, content ? part : member.value);
    }
    fl_json_object_end(writer);
}

/* The message is not walked over again: there may be many parts in it. */
static void write_other(fl_json_writer *writer, fl_span role, fl_span part)
{
    fl_json_object(writer);
    if (role.len > 0) {
        fl_json_key(writer, "role");
        fl_json_raw(writer, role);
    }
    fl_json_key(writer, "content");
    fl_json_raw(writer, part);
    fl_json_object_end(writer);
}

static void split_message(fl_edit *edit, fl_span message)
{
    fl_span role = fl_json_get(message, FL_SPAN("role"));
    bool first = true;
    fl_json_walk walk;
    fl_json_member part;

    fl_edit_cut(edit, message);
    fl_json_walk_init(&walk, content_of(message));
    for (; fl_json_walk_next(&walk, &part); first = false) {
        fl_json_writer writer;
        if (!first)
            fl_edit_put(edit, FL_SPAN(","));
        fl_json_writer_init(&writer, edit->out);
        if (first)
            write_first(&writer, message, part.value);
        else
            write_other(&writer, role, part.value);
        fl_edit_note(edit, fl_json_writer_end(&writer));
        if (edit->status != FL_OK)
            return;
    }
}

static void edit_message(const fl_adapt *adapt, fl_edit_walk *messages,
                         fl_span message)
{
    fl_span content = content_of(message);
    size_t count;

    if (!are_parts(content, &count)) {
        check_part(adapt, messages->edit, content);
        return;
    }
    check_parts(adapt, messages->edit, content);
    if (count == 0)
        fl_edit_drop(messages);
    else if (count == 1)
        fl_edit_replace(messages->edit, content, first_part(content));
    else
        split_message(messages->edit, message);
}

static void edit_messages(const fl_adapt *adapt, fl_edit *edit,
                          fl_span messages)
{
    fl_edit_walk walk;
    fl_json_member message;

    if (fl_json_type_of(messages) != FL_JSON_ARRAY)
        return;
    fl_edit_open(&walk, edit, messages);
    while (fl_edit_next(&walk, &message))
        edit_message(adapt, &walk, message.value);
}

static bool is_url(fl_span params)
{
    return fl_json_string_is(fl_json_get(params, FL_SPAN("mode")),
                             FL_SPAN("url"));
}

static bool can_be_asked(const fl_adapt *adapt, fl_span params)
{
    if (adapt->method != FL_METHOD_ELICIT)
        return true;
    return fl_revision_has(adapt->to, FL_HAS_ELICITATION) &&
           (!is_url(params) ||
            fl_revision_has(adapt->to, FL_HAS_URL_ELICITATION));
}

static void edit_member(const fl_adapt *adapt, fl_edit_walk *walk,
                        const fl_json_member *member)
{
    bool elicit = adapt->method == FL_METHOD_ELICIT;

    if (fl_edit_named(member, "task")) {
        if (fl_adapt_lacks(adapt, FL_HAS_TASKS))
            fl_edit_drop(walk);
    } else if (elicit && fl_edit_named(member, "elicitationId")) {
        if (!adapt->to->legacy)
            fl_edit_drop(walk);
    } else if (elicit && fl_edit_named(member, "mode")) {
        if (!fl_revision_has(adapt->to, FL_HAS_URL_ELICITATION))
            fl_edit_drop(walk); /* there is but one */
    } else if (elicit && fl_edit_named(member, "requestedSchema")) {
        if (!fl_revision_has(adapt->to, FL_HAS_TITLED_ENUMS))
            fl_adapt_form(walk->edit, member->value);
    } else if (!elicit && fl_edit_named(member, "messages")) {
        if (!fl_revision_has(adapt->to, FL_HAS_SAMPLING_PARTS))
            edit_messages(adapt, walk->edit, member->value);
    }
}

static bool lacks_id(const fl_adapt *adapt, fl_span params)
{
    return adapt->method == FL_METHOD_ELICIT && fl_adapt_is_downward(adapt) &&
           adapt->object.len > 0 && is_url(params) &&
           fl_json_get(params, FL_SPAN("elicitationId")).len == 0;
}

fl_status fl_adapt_question(const fl_adapt *adapt, fl_span params, fl_buf *out)
{
    fl_edit_walk walk;
    fl_json_member member;
    fl_edit edit;

    if (!can_be_asked(adapt, params))
        return FL_E_UNSUPPORTED;
    if (fl_adapt_is_same(adapt) || fl_json_type_of(params) != FL_JSON_OBJECT ||
        (adapt->method != FL_METHOD_SAMPLE &&
         adapt->method != FL_METHOD_ELICIT))
        return FL_END;
    fl_edit_init(&edit, params, out);
    fl_edit_open(&walk, &edit, params);
    while (fl_edit_next(&walk, &member))
        edit_member(adapt, &walk, &member);
    if (lacks_id(adapt, params))
        fl_edit_add_raw(&walk, "elicitationId", adapt->object);
    return fl_edit_end(&edit);
}

/* The text of a part that is text and nothing else; empty for others. */
static fl_span text_of(fl_span part)
{
    fl_span text = fl_json_get(part, FL_SPAN("text"));
    bool is_text =
        fl_json_string_is(fl_json_get(part, FL_SPAN("type")), FL_SPAN("text"));

    return is_text && fl_json_type_of(text) == FL_JSON_STRING ? text
                                                              : (fl_span){0};
}

static bool is_all_text(fl_span content)
{
    fl_json_walk walk;
    fl_json_member part;

    fl_json_walk_init(&walk, content);
    while (fl_json_walk_next(&walk, &part))
        if (text_of(part.value).len == 0)
            return false;
    return true;
}

/* Strings are joined as they are spelled, with a line end between. */
static void join_texts(fl_edit *edit, fl_span content)
{
    bool first = true;
    fl_json_walk walk;
    fl_json_member part;

    fl_edit_put(edit, FL_SPAN("{\"type\":\"text\",\"text\":\""));
    fl_json_walk_init(&walk, content);
    for (; fl_json_walk_next(&walk, &part); first = false) {
        fl_span text = text_of(part.value);
        if (!first)
            fl_edit_put(edit, FL_SPAN("\\n"));
        fl_edit_put(edit, (fl_span){text.ptr + 1, text.len - 2});
    }
    fl_edit_put(edit, FL_SPAN("\"}"));
}

/* An answer is one message: its texts become one, or its first part stands
 * for it. */
static void edit_answer(fl_edit *edit, fl_span content)
{
    fl_span first = first_part(content);
    size_t count;

    if (!are_parts(content, &count))
        return;
    fl_edit_cut(edit, content);
    if (is_all_text(content))
        join_texts(edit, content);
    else
        fl_edit_put(edit, first);
}

fl_status fl_adapt_answer(const fl_adapt *adapt, fl_span result, fl_buf *out)
{
    fl_edit_walk walk;
    fl_json_member member;
    fl_edit edit;

    if (adapt->method != FL_METHOD_SAMPLE ||
        !fl_adapt_lacks(adapt, FL_HAS_SAMPLING_PARTS) ||
        fl_json_type_of(result) != FL_JSON_OBJECT)
        return FL_END;
    fl_edit_init(&edit, result, out);
    fl_edit_open(&walk, &edit, result);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "content"))
            edit_answer(&edit, member.value);
    return fl_edit_end(&edit);
}
