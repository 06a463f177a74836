"""serving.py - servers that must be there until the end."""
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

LISTEN_SECONDS = 10


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def wait_until_open(port, process):
    deadline = time.monotonic() + LISTEN_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f'nothing listens on port {port}')


@contextmanager
def serving(command, port):
    """A server, which must be there until the end."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL,
                          stdout=sys.stderr) as process:
        try:
            wait_until_open(port, process)
            yield
            if process.poll() is not None:
                raise RuntimeError(f'the server left: {process.returncode}')
        finally:
            process.terminate()
            try:
                process.wait(LISTEN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
