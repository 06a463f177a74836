/*
 * bench.h - "fairlead bench": how fast a server is.
 */
#ifndef FL_CMD_BENCH_H
#define FL_CMD_BENCH_H

int fl_bench_command(char **argv);

#endif
