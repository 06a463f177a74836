#!/usr/bin/env python3
"""test_chaos.py - gateway, children and clients are killed at random, under
load; and no request is lost or gets another's answer, no process is left.

Prints TAP, and the counts. A few seconds for each way to share children; with
FL_LONG=1 five minutes in all. FAIRLEAD names the program.
"""
import collections
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from cases import HERE, fact, folder, main
from flow import FAIRLEAD, SLOW, equal, require, until

SECONDS = 75 if os.environ.get('FL_LONG') else 4 * SLOW
CLIENTS = 4
PEER = [sys.executable, '-S', '-E', str(HERE / 'chaos_peer.py')]


def stat(pid):
    """(state, parent), or None if there is no such process."""
    try:
        text = Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    words = text.rpartition(')')[2].split()
    return words[0], int(words[1])


class Scene:
    """One gateway and its clients, all of which may be killed."""

    def __init__(self, place, *options):
        self.place, self.options = Path(place), options
        self.pids, self.socket = self.place / 'pids', self.place / 's'
        self.pids.touch()
        self.gateway, self.clients, self.made = None, [], 0
        self.counts = collections.Counter()
        self.killed = collections.Counter()

    def open(self):
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()
        self.gateway = subprocess.Popen(
            [FAIRLEAD, 'serve', '--listen', f'unix:{self.socket}',
             *self.options, '--', *PEER, 'server', str(self.pids)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.socket.exists, 'the gateway listens')

    def add_client(self):
        self.made += 1
        file = self.place / f'client{self.made}'
        era = ('legacy', 'modern')[self.made % 2]
        self.clients.append((subprocess.Popen(
            [*PEER, 'client', str(self.socket), str(file), era]), file))

    def count(self, file, killed):
        """All that became of the requests of one client."""
        fates = {}
        for line in file.read_text().splitlines() if file.exists() else ():
            fate, number = line.split()
            if fate == 's':
                fates[number] = None
            elif fate == 'x' or fates.get(number, 'none') is not None:
                fates[number] = 'x'
            else:
                fates[number] = fate
        for fate in fates.values():
            self.counts['sent'] += 1
            self.counts[fate or ('d' if killed else 'l')] += 1

    def children(self):
        return [int(pid) for pid in self.pids.read_text().split()]

    def kill_child(self):
        living = [pid for pid in self.children() if stat(pid)]
        if living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(living), signal.SIGKILL)
            self.killed['child'] += 1

    def kill_client(self):
        process, file = self.clients.pop(random.randrange(len(self.clients)))
        process.kill()
        process.wait()
        self.count(file, True)
        self.killed['client'] += 1
        self.add_client()

    def kill_gateway(self):
        require(self.gateway.poll() is None, 'the gateway has fallen:',
                self.gateway.returncode)
        self.gateway.kill()
        self.gateway.wait()
        self.killed['gateway'] += 1
        self.open()

    def rage(self):
        """Each of them once, and then at random."""
        ways = (self.kill_child, self.kill_client, self.kill_gateway)
        chosen, end = list(ways), time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(random.uniform(0.1, 0.4) * SLOW)
            way = chosen.pop() if chosen else \
                random.choices(ways, (6, 3, 1))[0]
            way()

    def calm(self):
        """Whoever lives has been answered since."""
        files = [file for _, file in self.clients]
        until(lambda: any(line.startswith('a ') for file in files
                          if file.exists()
                          for line in file.read_text().splitlines()),
              'somebody is answered', 30 * SLOW)

    def zombies(self):
        """The dead children the gateway does not reap: one that has just
        ended is a zombie too, until the loop hears of it."""
        dead = {entry.name for entry in Path('/proc').iterdir()
                if entry.name.isdigit()}
        end = time.monotonic() + 5 * SLOW
        while True:
            dead = {pid for pid in dead
                    if stat(pid) == ('Z', self.gateway.pid)}
            if not dead or time.monotonic() > end:
                return sorted(dead)
            time.sleep(0.01)

    def end(self):
        """Whoever lives may finish; then all end as they should."""
        for process, _ in self.clients:
            process.terminate()
        for process, file in self.clients:
            code = process.wait(60 * SLOW)  # or it had hardly begun
            require(code in (0, -signal.SIGTERM), 'a client ended with', code)
            self.count(file, code != 0)
        zombies = self.zombies()
        self.gateway.terminate()
        equal(self.gateway.wait(20 * SLOW), 0, 'the gateway')
        until(lambda: not any(map(stat, self.children())),
              'no child is left', 10 * SLOW)
        return zombies

    def clear(self):
        for process in [self.gateway, *(one for one, _ in self.clients)]:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def rage(*options):
    with folder() as place:
        scene = Scene(place, *options)
        try:
            scene.open()
            for _ in range(CLIENTS):
                scene.add_client()
            scene.rage()
            scene.calm()
            zombies = scene.end()
        finally:
            scene.clear()
        judge(scene, zombies)


def judge(scene, zombies):
    counts, killed = scene.counts, scene.killed
    print(f"# killed: {killed['gateway']} gateways, {killed['child']} "
          f"children, {killed['client']} clients; "
          f"{len(scene.children())} children were started")
    print(f"# requests: {counts['sent']} sent, {counts['a']} answered, "
          f"{counts['f']} failed, {counts['c']} cut off with their link, "
          f"{counts['d']} of killed clients, {counts['l']} lost, "
          f"{counts['x']} crossed; {len(zombies)} zombies, 0 orphans")
    equal(counts['l'], 0, 'lost')
    equal(counts['x'], 0, 'crossed')
    equal(zombies, [], 'zombies')
    equal(counts['sent'], sum(counts[fate] for fate in 'afcdlx'), 'the sum')
    require(counts['a'] > 0, 'none was answered')


for mode in ('shared', 'session', 'request', 'auto'):
    fact(f'nothing is lost while all is killed, --child {mode}',
         lambda mode=mode: rage('--child', mode, '--warm', '2'))

if __name__ == '__main__':
    sys.exit(main())
