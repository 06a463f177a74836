"""serving.py - servers that must be there until the end."""
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / 'support'))
from ports import free_port  # noqa: E402,F401

LISTEN_SECONDS = 30  # a machine may have much else to do


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
