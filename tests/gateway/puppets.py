"""puppets.py - servers over stdio that are played by the test itself: what it
says they say, word for word, and when it says so they die.

The child is but a pipe to a socket of the test's; each time it is started the
test gets another puppet.
"""
import contextlib
import json
import os
import socket
import sys
import threading
from pathlib import Path

from cases import Scripted, folder
from clients import PATIENCE
from flow import require
from scenes import L4

SELF = Path(__file__).resolve()


def pump(source, sink):
    """Until either ends; then so does the whole process."""
    with contextlib.suppress(OSError):
        while data := os.read(source, 65536):
            while data:
                data = data[os.write(sink, data):]
    os._exit(0)


class Puppet:
    """One child. Messages are taken out in any order."""

    def __init__(self, link):
        self.link, self.lines = link, link.makefile('rb')
        self.kept = []
        link.settimeout(PATIENCE)

    def say(self, **message):
        self.raw(json.dumps({'jsonrpc': '2.0', **message}).encode())

    def raw(self, data):
        self.link.sendall(data + b'\n')

    def hear(self, method):
        """The next message of that method; others wait."""
        for one in self.kept:
            if one.get('method') == method:
                self.kept.remove(one)
                return one
        while True:
            line = self.lines.readline()
            require(line, 'the puppet was closed, and did not hear', method)
            one = json.loads(line)
            if one.get('method') == method:
                return one
            self.kept.append(one)

    def open(self, capabilities=None):
        """As a legacy server."""
        one = json.loads(self.lines.readline())
        if one['method'] == 'server/discover':
            self.say(id=one['id'], error={'code': -32601, 'message': 'what?'})
            one = self.hear('initialize')
        self.say(id=one['id'], result={
            'protocolVersion': L4, 'capabilities': capabilities or {},
            'serverInfo': {'name': 'puppet', 'version': '1'}})
        self.hear('notifications/initialized')
        return self

    def die(self):
        self.link.shutdown(socket.SHUT_RDWR)
        self.lines.close()
        self.link.close()


class Theatre(Scripted):
    """A command to be put behind the gateway, and the puppets it starts."""

    def __init__(self, place):
        path = Path(place) / 'theatre'
        super().__init__(['--', sys.executable, '-S', '-E', SELF, path], path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)
        self.cast = []

    def next(self):
        return Puppet(self.listener.accept()[0])

    def open_each(self, capabilities):
        """Opens whoever comes, for as long as the theatre is open. Who is in
        the cast has been opened."""
        def play():
            with contextlib.suppress(OSError, ValueError, AssertionError):
                while True:
                    self.cast.append(self.next().open(capabilities))
        threading.Thread(target=play, daemon=True).start()


@contextlib.contextmanager
def theatre():
    with folder() as place:
        one = Theatre(place)
        with one.listener:
            yield one


if __name__ == '__main__':
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(sys.argv[1])
    threading.Thread(target=pump, args=(0, channel.fileno())).start()
    pump(channel.fileno(), 1)
