/*
 * fixture.c - what more than one family does.
 */
#include "fixture.h"

#include <string.h>

fl_status add_tools(fl_server *server, const fl_tool *tools, size_t count)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; rc == FL_OK && i < count; i++) {
        fl_tool tool = tools[i];
        tool.user = server;
        rc = fl_server_add_tool(server, &tool);
    }
    return rc;
}

void complete_from(fl_call *call, const char *const *words)
{
    fl_span prefix = fl_call_prefix(call);

    for (; *words != NULL; words++)
        if (strncmp(*words, prefix.ptr, prefix.len) == 0)
            fl_call_suggest(call, (fl_span){*words, strlen(*words)});
    fl_call_finish(call);
}

answer_text text_of(fl_span object, const char *key)
{
    answer_text answer = {""};

    fl_raw_text(fl_raw_get(object, key), answer.text, sizeof answer.text);
    return answer;
}
