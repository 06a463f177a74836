#!/usr/bin/env python3
"""layers.py [ROOT] - hold the source to the plan of its rooms.

The table below is the one in docs/architecture.md, as data. Every #include in
src/, include/ and examples/ is checked against it, and every breach is named
with its file and line. Nothing is compiled: an include that the preprocessor
would skip is checked all the same.
"""
import re
import sys
from pathlib import Path

# A room may include itself, base, the public headers, and what stands here:
# a whole room ("json") or one header of it ("transport/link.h").
ROOMS = {
    'base': (),
    'json': (),
    'schema': ('json',),
    # Pure: variables and files are handed to it.
    'config': ('json',),
    'rpc': ('json',),
    'wire': (),
    'io': (),
    'guard': ('json',),
    'transport': ('wire', 'io', 'guard', 'store', 'rpc'),
    'store': ('io', 'rpc'),
    # Authorization asks over HTTP, but is no transport and knows none.
    'auth': ('wire', 'io', 'json', 'transport/credentials.h',
             'transport/http_fetch.h'),
    # Both keep time and take turns, but never touch a stream.
    'server': ('transport/link.h', 'transport/backoff.h', 'store', 'rpc',
               'json', 'schema/schema.h', 'io/digest.h', 'io/file.h',
               'io/loop.h', 'io/seal.h', 'io/signals.h', 'io/timer.h',
               'io/tree.h'),
    'client': ('transport/link.h', 'transport/backoff.h', 'rpc', 'json',
               'io/digest.h', 'io/loop.h', 'io/timer.h'),
    # Words alone: nothing here knows who says them, or over what.
    'adapt': ('json', 'rpc'),
    # Between a server's side and a client's: of each what has no state, or
    # none but what it is embedded in.
    'gateway': ('adapt', 'config', 'server/batch.h',
                'server/introductions.h', 'server/ladder.h',
                'server/levels.h', 'server/methods.h', 'client/lane.h',
                'client/target.h', 'transport/link.h',
                'transport/transport.h', 'transport/backoff.h',
                'io/digest.h', 'io/loop.h', 'io/proc.h', 'io/timer.h', 'rpc',
                'json', 'guard'),
    'admin': ('gateway',),
    # A client that wants to know how fast a server is, and no more.
    'load': ('client/lane.h', 'rpc', 'json', 'io/loop.h', 'io/ticker.h',
             'io/timer.h'),
    'cmd': ('json', 'schema', 'config', 'rpc', 'wire', 'io', 'guard', 'transport',
            'store', 'auth', 'adapt', 'server', 'client', 'gateway', 'load',
            'admin'),
}

# The one room that knows each library; nobody else needs to.
LIBRARIES = {
    'uv': 'io',
    'openssl': 'io',
    'zlib': 'wire',
    'pcre2': 'schema',
    'yaml': 'json',
    'hiredis': 'store',
    'malloc': 'cmd',  # to tune the allocator is for a program, not a library
}

C_HEADERS = set('''
    assert complex ctype errno fenv float inttypes iso646 limits locale math
    setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
    stdnoreturn string tgmath threads time uchar wchar wctype
'''.split())

SYSTEM_HEADERS = set('''
    cpuid dirent emmintrin endian fcntl getopt grp ifaddrs immintrin libgen
    netdb nmmintrin poll pthread pwd sched spawn strings syslog termios
    tmmintrin unistd
'''.split())

SYSTEM_FOLDERS = {'arpa', 'linux', 'net', 'netinet', 'sys'}

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


class Include:
    def __init__(self, path, line, name, quoted):
        self.path, self.line, self.name, self.quoted = path, line, name, quoted

    def blame(self, why):
        return f'{self.path}:{self.line}: {why}'


def read_includes(root, path):
    found = []
    text = (root / path).read_text(encoding='utf-8', errors='replace')
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            name = match.group(1) or match.group(2)
            found.append(Include(path, number, name, bool(match.group(1))))
    return found


def library_of(header):
    """'openssl/ssl.h' and 'uv.h' name their library in their first word."""
    first = re.split(r'[/.]', header)[0]
    return first if first in LIBRARIES else None


def is_c_header(header):
    return header.endswith('.h') and header[:-2] in C_HEADERS


def is_system_header(header):
    folder, slash, _ = header.partition('/')
    return (is_c_header(header) or bool(slash) and folder in SYSTEM_FOLDERS or
            header.endswith('.h') and header[:-2] in SYSTEM_HEADERS)


def allowed(room, header):
    target = header.split('/')[0]
    return (target in (room, 'base') or target in ROOMS[room] or
            header in ROOMS[room])


def check_room_include(root, room, inc):
    target, slash, _ = inc.name.partition('/')
    if not slash or target not in ROOMS:
        return [inc.blame(f'"{inc.name}": name the room, as in "base/buf.h"')]
    if not (root / 'src' / inc.name).is_file():
        return [inc.blame(f'"{inc.name}": no such file in src/')]
    if not allowed(room, inc.name):
        may = ', '.join(('base',) + ROOMS[room])
        return [inc.blame(f'{room} may not include "{inc.name}"'
                          f' (it may include: {may})')]
    return []


def check_foreign_include(root, room, inc):
    if inc.name.startswith('fairlead/'):
        if (root / 'include' / inc.name).is_file():
            return []
        return [inc.blame(f'<{inc.name}>: no such file in include/')]
    library = library_of(inc.name)
    if library:
        home = LIBRARIES[library]
        if home == room:
            return []
        return [inc.blame(f'<{inc.name}> belongs to {home} alone,'
                          f' not to {room}')]
    if is_system_header(inc.name):
        return []
    return [inc.blame(f'<{inc.name}> is unknown; if it is wanted, give it a'
                      ' home in tools/layers.py')]


def check_own_header_first(root, path, includes):
    own = path.relative_to('src').with_suffix('.h')
    if path.suffix != '.c' or not (root / 'src' / own).is_file():
        return []
    if includes and includes[0].quoted and includes[0].name == str(own):
        return []
    line = includes[0].line if includes else 1
    return [f'{path}:{line}: "{own}" must be the first include']


def check_source(root, path):
    room = path.parts[1]
    if room not in ROOMS:
        return [f'{path}:1: {room} is not a room']
    includes = read_includes(root, path)
    faults = check_own_header_first(root, path, includes)
    for inc in includes:
        check = check_room_include if inc.quoted else check_foreign_include
        faults += check(root, room, inc)
    return faults


def check_public(root, path):
    return [inc.blame(f'a public header may not include "{inc.name}",'
                      ' only <fairlead/...> and the C library')
            for inc in read_includes(root, path)
            if inc.quoted or not (inc.name.startswith('fairlead/') or
                                  is_c_header(inc.name))]


def check_example(root, path):
    return [inc.blame(f'an example may not include "{inc.name}":'
                      ' it shows what users can do')
            for inc in read_includes(root, path)
            if inc.name.split('/')[0] in ROOMS and '/' in inc.name]


def find_cycle(graph):
    """One cycle as a list of nodes, first and last the same, or None."""
    done, trail = set(), []

    def walk(node):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        trail.append(node)
        for target in sorted(graph.get(node, ())):
            cycle = walk(target)
            if cycle:
                return cycle
        done.add(trail.pop())
        return None

    for start in sorted(graph):
        cycle = walk(start)
        if cycle:
            return cycle
    return None


def check_cycles(root, sources):
    files, rooms = {}, {}
    for path in sources:
        here = str(path.relative_to('src'))
        for inc in read_includes(root, path):
            if not inc.quoted or '/' not in inc.name:
                continue
            files.setdefault(here, set()).add(inc.name)
            if inc.name.split('/')[0] != path.parts[1]:
                rooms.setdefault(path.parts[1], set()).add(
                    inc.name.split('/')[0])
    faults = []
    for what, graph in (('headers', files), ('rooms', rooms)):
        cycle = find_cycle(graph)
        if cycle:
            faults.append(f'src: {what} include each other in a ring: '
                          + ' -> '.join(cycle))
    return faults


def files_under(root, folder):
    return sorted(path.relative_to(root)
                  for suffix in ('*.c', '*.h')
                  for path in (root / folder).rglob(suffix))


def check(root):
    """All breaches in the tree at `root`, as lines of text."""
    sources = [p for p in files_under(root, 'src') if len(p.parts) > 2]
    faults = []
    for path in sources:
        faults += check_source(root, path)
    for path in files_under(root, 'include'):
        faults += check_public(root, path)
    for path in files_under(root, 'examples'):
        faults += check_example(root, path)
    return faults + check_cycles(root, sources)


def main(arguments):
    root = Path(arguments[0] if arguments else '.')
    faults = check(root)
    for fault in faults:
        print(fault)
    print(f'layers: {len(faults)} breaches')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
