/*
 * fuzz_adapt.c - whatever is said, it is JSON in every other revision, and
 * saying it again changes nothing.
 *
 * Four bytes choose what is done, from which revision to which and about which
 * method; the rest is the text. A line end after the four lets a seed be read.
 */
#include "../unit/adapt_laws.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DICE = 4 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* Learning from a list is of the same kind: any text will do. */
static void check_outputs(laws_case *chosen, fl_span text)
{
    fl_outputs outputs;
    fl_buf out;

    fl_outputs_init(&outputs, 16);
    fl_buf_init(&out, LAWS_MAX);
    (void)!fl_outputs_learn(&outputs, text);
    (void)fl_outputs_find(&outputs, fl_json_get(text, FL_SPAN("name")));
    (void)fl_output_judge(text);
    chosen->adapt.outputs = &outputs;
    if (laws_say(chosen, text, &out) == FL_OK)
        require(laws_is_json(fl_buf_view(&out)));
    fl_buf_reset(&out);
    fl_outputs_deinit(&outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fl_json_top top;
    laws_case chosen;

    if (size <= DICE)
        return 0;
    fl_span text = {(const char *)data + DICE, size - DICE};
    if (fl_json_scan(text, LAWS_DEPTH, &top, NULL) != FL_OK)
        return 0;
    laws_choose(&chosen, data);
    const char *fault = laws_check(&chosen, top.value);
    if (fault != NULL)
        fprintf(stderr, "%s\n", fault);
    require(fault == NULL);
    check_outputs(&chosen, top.value);
    return 0;
}
