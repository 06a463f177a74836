/*
 * demo.h - "fairlead demo": a server to try things with.
 */
#ifndef FL_CMD_DEMO_H
#define FL_CMD_DEMO_H

#include <fairlead/server.h>

/* Runs until it is told to end; returns an fl_exit. */
int fl_demo(char **argv);

/* Adds echo, add, slow, fail, large, time, unlock; ask, consult, roots, note
 * and tick. */
FL_MUST_USE fl_status fl_demo_add_tools(fl_server *server);

/* Adds what there is to read, and a prompt. */
FL_MUST_USE fl_status fl_demo_add_resources(fl_server *server);

/* The tool that takes its time (demo_slow.c), those that ask back
 * (demo_inputs.c), and the one that has a resource change. */
fl_call_fn fl_demo_slow;
fl_call_fn fl_demo_ask;
fl_call_fn fl_demo_consult;
fl_call_fn fl_demo_roots;
fl_call_fn fl_demo_note;
fl_call_fn fl_demo_tick;

#endif
