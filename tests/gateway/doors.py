"""doors.py - one gateway before several servers, by a configuration file."""
import contextlib
import json
from pathlib import Path

from cases import Scripted, gateway
from flow import folder


def stanza(server, **more):
    """A server of mcpServers."""
    if server.target[0] == '--':
        words = [str(word) for word in server.target[1:]]
        return {'command': words[0], 'args': words[1:], **more}
    url = server.target[0]
    if url.startswith('sse+'):
        return {'type': 'sse', 'url': url.removeprefix('sse+'), **more}
    return {'url': url, **more}


def written(place, servers, **top):
    path = Path(place) / 'mcp.json'
    path.write_text(json.dumps({**top, 'mcpServers': servers}))
    return path


@contextlib.contextmanager
def door(*options, fronts=('http',), more=None, **servers):
    """The gateway in front of these, by name."""
    with folder() as place:
        path = written(place, {
            name: stanza(server, **(more or {}).get(name, {}))
            for name, server in servers.items()})
        with gateway(Scripted(['--config', path], '/dev/null'), *options,
                     fronts=fronts) as gate:
            yield gate
