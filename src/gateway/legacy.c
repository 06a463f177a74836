/*
 * legacy.c - what a legacy server needs kept for it.
 */
#include "gateway/legacy.h"

#include "base/mem.h"
#include "base/span.h"
#include "gateway/listening.h"
#include "json/nav.h"

fl_legacy *fl_legacy_of(fl_back *back)
{
    if (back->legacy != NULL)
        return back->legacy;
    fl_legacy *legacy = fl_mem_zalloc(sizeof *legacy);
    if (legacy == NULL)
        return NULL;
    legacy->back = back;
    fl_roots_init(&legacy->roots, legacy);
    fl_list_init(&legacy->listens);
    fl_watches_init(&legacy->watches, back, fl_listening_settled);
    fl_verbosity_init(&legacy->verbosity, back);
    fl_taskers_init(&legacy->taskers);
    fl_wards_init(&legacy->wards, back);
    back->legacy = legacy;
    return legacy;
}

void fl_legacy_free(fl_back *back)
{
    fl_legacy *legacy = back->legacy;

    if (legacy == NULL)
        return;
    fl_wards_deinit(&legacy->wards);
    fl_taskers_deinit(&legacy->taskers);
    back->legacy = NULL;
    fl_roots_deinit(&legacy->roots);
    fl_watches_deinit(&legacy->watches);
    fl_verbosity_deinit(&legacy->verbosity);
    fl_mem_free(legacy);
}

bool fl_legacy_has(const fl_back *back, const char *name, const char *detail)
{
    fl_span said =
        fl_json_get(fl_lane_said(back->lane), FL_SPAN("capabilities"));
    fl_span value = fl_json_get(said, fl_span_of(name));

    if (fl_json_type_of(value) != FL_JSON_OBJECT)
        return false;
    return detail == NULL ||
           fl_json_type_of(fl_json_get(value, fl_span_of(detail))) ==
               FL_JSON_TRUE;
}
