#!/usr/bin/env python3
"""chaos_peer.py - the ends of the chaos test: they know nothing but to count.

    chaos_peer.py server FILE             on stdin and stdout; its pid to FILE
    chaos_peer.py client SOCKET FILE ERA  until SIGTERM

A client writes down what becomes of each request, before or as it happens, so
that the count is right even if it is killed:

    s N  sent         a N  answered, with what is its own
    f N  failed, by an error    c N  its link was cut
    x N  answered with what is not its own, or not JSON, or twice
    l N  lost: the link stood, and no answer came
"""
import json
import os
import random
import select
import signal
import socket
import sys
import time

MODERN, L4 = '2026-07-28', '2025-11-25'
KEY = 'io.modelcontextprotocol/'
WINDOW = 4  # requests at a time
PATIENCE = 30


def note(file, *words):
    os.write(file, ' '.join(map(str, words)).encode() + b'\n')


def serve(path):
    note(os.open(path, os.O_WRONLY | os.O_APPEND), os.getpid())
    for line in sys.stdin:
        one = json.loads(line)
        if 'id' not in one or 'method' not in one:
            continue
        said = {'jsonrpc': '2.0', 'id': one['id']}
        if one['method'] == 'initialize':
            said['result'] = {
                'protocolVersion': L4, 'capabilities': {'tools': {}},
                'serverInfo': {'name': 'chaos', 'version': '1'}}
        elif one['method'] == 'tools/call':
            time.sleep(random.random() / 200)
            said['result'] = {'content': [{
                'type': 'text', 'text': one['params']['arguments']['text']}]}
        else:
            said['error'] = {'code': -32601, 'message': 'no such method'}
        print(json.dumps(said), flush=True)


class Client:
    def __init__(self, path, file, era):
        self.path, self.modern = path, era == 'modern'
        self.file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.name, self.number, self.ending = os.getpid(), 0, False
        signal.signal(signal.SIGTERM, self.end)

    def end(self, *_):
        self.ending = True

    def say(self, **message):
        self.link.sendall(json.dumps(
            {'jsonrpc': '2.0', **message}).encode() + b'\n')

    def connect(self):
        self.link, self.rest, self.away = socket.socket(socket.AF_UNIX), b'', {}
        self.link.connect(self.path)
        self.ready = self.modern
        if not self.modern:
            self.say(id='hello', method='initialize', params={
                'protocolVersion': L4, 'capabilities': {},
                'clientInfo': {'name': str(self.name), 'version': '1'}})

    def ask(self):
        self.number += 1
        meta = {'_meta': {
            KEY + 'protocolVersion': MODERN, KEY + 'clientCapabilities': {},
            KEY + 'clientInfo': {'name': 'chaos', 'version': '1'}}}
        self.away[self.number] = time.monotonic()
        note(self.file, 's', self.number)
        self.say(id=self.number, method='tools/call', params={
            'name': 'echo', 'arguments': {'text': f'{self.name} {self.number}'},
            **(meta if self.modern else {})})

    def judge(self, said):
        number = said.get('id')
        if number == 'hello':
            self.ready = 'result' in said
            if self.ready:
                self.say(method='notifications/initialized')
            else:
                raise OSError('not let in')
        elif self.away.pop(number, None) is None:
            note(self.file, 'x', number)
        elif 'error' in said:
            note(self.file, 'f', number)
            time.sleep(0.01)
        else:
            own = said['result']['content'][0]['text'] == \
                f'{self.name} {number}'
            note(self.file, 'a' if own else 'x', number)

    def hear(self):
        if not select.select([self.link], [], [], 0.1)[0]:
            return
        data = self.link.recv(65536)
        if not data:
            raise OSError('the end')
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            self.judge(json.loads(line))

    def converse(self):
        self.connect()
        while not self.ending or self.away:
            while self.ready and not self.ending and len(self.away) < WINDOW:
                self.ask()
            self.hear()
            late = time.monotonic() - PATIENCE
            for number in [n for n, at in self.away.items() if at < late]:
                del self.away[number]
                note(self.file, 'l', number)

    def run(self):
        while not self.ending:
            try:
                self.converse()
            except OSError:
                for number in self.away:
                    note(self.file, 'c', number)
                time.sleep(0.05)


if __name__ == '__main__':
    if sys.argv[1] == 'server':
        serve(*sys.argv[2:])
    else:
        Client(*sys.argv[2:]).run()
