/*
 * hello.h - what a client of MCP 2025-11-25 says before anything else: the
 * first, and when that is answered the second. How it is framed is the
 * transport's business.
 */
#ifndef BENCH_HELLO_H
#define BENCH_HELLO_H

#define HELLO_INITIALIZE                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                  \
    "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}"

#define HELLO_INITIALIZED                                                      \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

#endif
