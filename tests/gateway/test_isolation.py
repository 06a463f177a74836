#!/usr/bin/env python3
"""test_isolation.py ERA - two clients of one gateway, with equal ids and equal
tokens, on every pair of transports, before servers of that era: each gets all
that is its own, and nothing of the other's.

Prints TAP. FAIRLEAD names the program.
"""
import atexit
import contextlib
import sys
import threading

from cases import fact, gateway, main, scripted
from clients import Http, text_of
from flow import SLOW, equal, require
from scenes import KEY, L4, MODERN

FRONTS = ('stdio', 'tcp', 'unix', 'http', 'sse', 'ws')
BACKS = ('stdio', 'tcp', 'http', 'sse', 'ws')
STEPS = 4
ADDRESSES = ('127.0.0.1', '127.0.0.2')
OF = {'legacy': L4, 'modern': MODERN}


class Standing:
    """One gateway for all fronts of a back, started when it is wanted."""

    def __init__(self, back, revision):
        self.back, self.revision = back, revision
        self.stack, self.gate = contextlib.ExitStack(), None
        atexit.register(self.close)

    def get(self):
        if self.gate and self.gate.demo.process.poll() is not None:
            self.close()  # after a fall the others shall have their chance
        if not self.gate:
            with contextlib.ExitStack() as stack:
                server = stack.enter_context(
                    scripted(self.back, self.revision))
                self.gate = stack.enter_context(
                    gateway(server, fronts=('tcp', 'unix', 'http')))
                self.stack = stack.pop_all()
        return self.gate

    def close(self):
        self.gate = None
        self.stack.close()

    def end(self):
        """After all of it, it ends as it should."""
        require(self.gate, 'nothing was done to it')
        self.close()


def converse(client, barrier, trouble):
    """The same words for both; only the text differs."""
    try:
        meta = {'progressToken': 'p'}
        client.begin()
        if isinstance(client, Http) and client.session:
            client.get().expect(200)  # for what is said about no request
        if client.modern:
            meta[KEY + 'logLevel'] = 'debug'
        else:
            client.ask('logging/setLevel', {'level': 'debug'}, 'level')
        barrier.wait()
        number = client.request('tools/call', {
            'name': 'slow', 'arguments': {
                'text': client.name, 'steps': STEPS, 'delay': 0.03,
                'log': True}}, 1, meta)
        equal(text_of(client.answer(number)['result']), client.name)
        read = client.ask('resources/read', {'uri': 'test://a'}, 2)
        equal(read['contents'][0]['text'], 'a')
    except Exception as why:
        trouble.append(f'{client.name}: {why}')
        barrier.abort()


def check(client, other):
    progress = [one.message['params'] for one in client.all
                if one.message.get('method') == 'notifications/progress']
    equal([(one['progressToken'], one['progress'], one['message'])
           for one in progress],
          [('p', step, client.name) for step in range(1, STEPS + 1)],
          f"{client.name}'s progress")
    for _ in range(STEPS):
        equal(client.notification('notifications/message', 2 * SLOW)['data'],
              client.name, f"{client.name}'s log")
    client.never(lambda said: said.get('method') == 'notifications/message',
                 'more of the log than there is', 0.02)
    for one in client.all:
        require(f'"{other}"'.encode() not in one.raw, client.name,
                'heard of', other, one.raw)


def apart(standing, way, revision):
    gate, trouble = standing.get(), []
    # Nobody has been there before under these names: the log of a call may
    # trail it, and would be withheld from whoever comes right after.
    names = [f'{name} by {way} {revision}' for name in ('one', 'two')]
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(gate.client(
            way, revision, name=name,
            source=address if way != 'unix' else None))
            for name, address in zip(names, ADDRESSES)]
        barrier = threading.Barrier(2)
        threads = [threading.Thread(target=converse, args=(
            client, barrier, trouble)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(not trouble, *trouble)
        for client, other in zip(clients, reversed(names)):
            check(client, other)


def matrix(era):
    for back in BACKS:
        if back == 'sse' and era == 'modern':
            continue  # HTTP+SSE was gone by then
        standing = Standing(back, OF[era])
        for front in FRONTS:
            for other, revision in OF.items():
                if front != 'sse' or revision != MODERN:
                    fact(f'two {other} clients on {front} and a {era} server '
                         f'on {back}', lambda standing=standing, front=front,
                         revision=revision: apart(standing, front, revision))
        fact(f'the gateway before a {era} server on {back} ends well',
             standing.end)


if __name__ == '__main__':
    matrix(sys.argv.pop(1))
    sys.exit(main())
