/*
 * help_matrix.c - the help text of "fairlead matrix".
 */
#include "cmd/help.h"

static const char text[] =
    "fairlead matrix - what each client gets of each server, and how\n"
    "\n"
    "Usage: fairlead matrix [--client REVISION] [--server REVISION]\n"
    "                       [--feature NAME] [--json]\n"
    "\n"
    "Examples:\n"
    "  fairlead matrix\n"
    "  fairlead matrix --feature tasks\n"
    "  fairlead matrix --client 2026-07-28 --server 2025-06-18\n"
    "  fairlead matrix --json | jq '.[] | select(.outcome == \"lost\")'\n"
    "\n"
    "When 'fairlead serve' stands between a client and a server of different\n"
    "revisions, each feature is carried, synthesised or lost. Every cell was\n"
    "established by tests, whose names --json gives.\n"
    "\n"
    "Options:\n"
    "  --client REVISION  clients of that one only, with reasons\n"
    "  --server REVISION  servers of that one only, with reasons\n"
    "  --feature NAME     one feature, revision by revision\n"
    "  --json             all cells, for scripts: feature, client, server,\n"
    "                     outcome (carried, synthesised, lost, none), why,\n"
    "                     proofs\n"
    "\n"
    "Revisions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28.\n"
    "\n"
    "Exit status: 0, or 1 for wrong usage.\n";

void fl_help_matrix(FILE *to)
{
    fputs(text, to);
}
