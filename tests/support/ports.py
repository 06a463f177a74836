"""ports.py - ports for servers that must be told one, when tests run side by
side.

Whoever can listen on port 0 does that instead.
"""
import random
import socket

# Below those the kernel gives to connections, any of which might else take a
# port between its choice and its use.
PORTS = range(20000, 32000)
claims = []


def claim(port):
    """Whether the port is ours until we end: no other test beside us gets it.
    A name of an abstract socket is a lock that needs no file."""
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        mark.bind(f'\0fairlead-test-port-{port}')
    except OSError:
        mark.close()
        return False
    claims.append(mark)
    return True


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
        except OSError:
            return False
    return True


def free_port():
    return next(port for port in random.sample(PORTS, len(PORTS))
                if claim(port) and is_free(port))
