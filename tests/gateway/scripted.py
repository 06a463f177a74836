#!/usr/bin/env python3
"""scripted.py - an MCP server of any revision, on any transport, that does as
it is told and writes down all it sees.

    scripted.py --revision DATE --listen URL --record FILE [--manner WORD]...

URL is stdio:, tcp://127.0.0.1:0, http://127.0.0.1:0/mcp (Streamable HTTP),
sse+http://127.0.0.1:0/sse (HTTP+SSE) or ws://127.0.0.1:0/mcp; where it listens
is printed as a line of JSON. What it does is in scenes.py; manners are what it
does before that:

    exit-on-probe       ends when it is asked server/discover
    silent-on-probe     says nothing to it
    401-once            answers the first request with 401
    503                 answers every request with 503
    32022               answers claims with -32022, naming its own revision
    no-get              has no stream for GET
    ask-on-get          asks on the stream of GET, not on that of the call
    roots               wants to know the roots at once
    roots-first         ... and lists no tools before it was answered
    no-subscriptions    tells of no change
    insist              answers initialize with its own revision only
    slow-start          takes a second before it listens

FILE gets a line of JSON for each message, in order, as it came and with the
head it came with; many processes may write to one file.
"""
import argparse
import contextlib
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.dont_write_bytecode = True  # the source folder stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'flow'))
from scripted_http import serve_http  # noqa: E402
from stage import Channel, Record, Server, announce  # noqa: E402


def serve_lines(server, source, sink, die=None):
    def write(data):
        sink.write(data + b'\n')
        sink.flush()
    channel = Channel(server, write, die)
    with contextlib.suppress(OSError, ValueError):
        for line in source:
            channel.hear(line.rstrip(b'\n'))
    channel.close()


def serve_stdio(server, _):
    serve_lines(server, sys.stdin.buffer, sys.stdout.buffer)


def serve_tcp(server, url):
    listener = socket.create_server((url.hostname, url.port))
    announce(f'tcp://127.0.0.1:{listener.getsockname()[1]}')
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        files = client.makefile('rb'), client.makefile('wb')
        server.record.write('opened')
        threading.Thread(
            target=serve_lines, daemon=True, args=(server, *files),
            kwargs={'die': lambda one=client: one.shutdown(2)}).start()


SERVE = {'stdio': serve_stdio, 'tcp': serve_tcp, 'http': serve_http,
         'sse+http': serve_http, 'ws': serve_http}


def main():
    words = argparse.ArgumentParser()
    words.add_argument('--revision', required=True)
    words.add_argument('--listen', default='stdio:')
    words.add_argument('--record', default='/dev/null')
    words.add_argument('--manner', action='append', default=[])
    words = words.parse_args()
    record = Record(words.record)
    record.write('started')
    url = urlsplit(words.listen)
    if 'slow-start' in words.manner:
        time.sleep(1)
    SERVE[url.scheme](Server(words.revision, record, words.manner), url)


if __name__ == '__main__':
    main()
