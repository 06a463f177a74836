#!/usr/bin/env python3
"""selftest.py - the tools must see what they are there to see.

A checker that finds nothing looks just like a clean tree. So every rule of
layers.py and checksrc.py is broken here on purpose, in a small tree of its
own, and must be found; and the tree that breaks none must pass. So it is with
the judgements of the bench. Speaks TAP.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import apidoc
import checksrc
import count
import layers

sys.path.append(str(Path(__file__).resolve().parent.parent / 'bench'))
import digest  # noqa: E402
import instructions  # noqa: E402
import page  # noqa: E402

CLEAN = {
    'include/fairlead/types.h': '/* types.h - words. */\n#include <stddef.h>\n',
    'src/base/buf.h': '/* buf.h - b. */\n#include <fairlead/types.h>\n',
    'src/base/buf.c': '/* buf.c - b. */\n#include "base/buf.h"\n',
    'src/base/mem.c': '/* mem.c - m. */\nvoid f(void)\n{\n    free(0);\n}\n',
    'src/json/scan.h': '/* scan.h - s. */\n#include "base/buf.h"\n',
    'src/io/loop.h': '/* loop.h - l. */\n#include <uv.h>\n',
    'src/transport/link.h': '/* link.h - l. */\n#include "io/loop.h"\n',
    'src/transport/tcp.h': '/* tcp.h - t. */\n',
    'src/server/server.c': '/* server.c - s. */\n#include "transport/link.h"\n',
}


def with_tree(changes, check):
    """Runs `check` on the clean tree with some files replaced."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {**CLEAN, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding='utf-8')
        return check(root)


def layer_faults(changes):
    return with_tree(changes, layers.check)


def source_faults(changes):
    return with_tree(changes, checksrc.check)[0]


def source_warnings(changes):
    return with_tree(changes, checksrc.check)[1]


def story(name, code):
    return {f'src/base/{name}': f'/* {name} - x. */\n{code}\n'}


# fact: (finder, the one change, what the only finding must contain)
FINDS = {
    'layers finds an include that is not in the table': (
        layer_faults, {'src/wire/a.h': '#include "io/loop.h"\n'},
        'src/wire/a.h:1: wire may not include "io/loop.h"'),
    'layers finds a header of a room of which one other is allowed': (
        layer_faults, {'src/server/a.c': '#include "transport/tcp.h"\n'},
        'server may not include "transport/tcp.h"'),
    'layers finds an include without a room': (
        layer_faults, {'src/base/a.c': '\n#include "buf.h"\n'},
        'src/base/a.c:2: "buf.h": name the room'),
    'layers finds an include of nothing': (
        layer_faults, {'src/base/a.c': '#include "base/nothing.h"\n'},
        'no such file'),
    'layers finds a library outside its room': (
        layer_faults, {'src/json/a.c': '#include <uv.h>\n'},
        '<uv.h> belongs to io alone'),
    'layers finds a library by its folder': (
        layer_faults, {'src/base/a.c': '#include <openssl/rand.h>\n'},
        '<openssl/rand.h> belongs to io alone'),
    'layers finds a library it was not told of': (
        layer_faults, {'src/io/a.c': '#include <curl/curl.h>\n'},
        '<curl/curl.h> is unknown'),
    'layers finds a public header that looks inside': (
        layer_faults, {'include/fairlead/a.h': '#include "base/buf.h"\n'},
        'a public header may not include'),
    'layers finds a public header that shows a library': (
        layer_faults, {'include/fairlead/a.h': '#include <uv.h>\n'},
        'a public header may not include'),
    'layers finds an own header that is not first': (
        layer_faults,
        {'src/base/buf.c': '#include <stdio.h>\n#include "base/buf.h"\n'},
        '"base/buf.h" must be the first include'),
    'layers finds a ring of headers': (
        layer_faults, {'src/io/a.h': '#include "io/b.h"\n',
                       'src/io/b.h': '#include "io/a.h"\n'},
        'io/a.h -> io/b.h -> io/a.h'),
    'layers finds a folder that is no room': (
        layer_faults, {'src/misc/a.c': ''}, 'misc is not a room'),
    'layers finds an example that looks inside': (
        layer_faults, {'examples/a.c': '#include "base/buf.h"\n'},
        'an example may not include'),

    'checksrc finds malloc outside mem.c': (
        source_faults, story('a.c', 'int *p = malloc(4);'),
        'src/base/a.c:2: malloc is for base/mem.c alone'),
    'checksrc finds free handed on as a pointer': (
        source_faults, story('a.c', 'void g(void) { each(list, free); }'),
        'free is for base/mem.c alone'),
    'checksrc finds strdup': (
        source_faults, story('a.c', 'char *s = strdup("x");'), 'strdup is for'),
    'checksrc finds sprintf': (
        source_faults, story('a.c', 'int n = sprintf(s, "x");'),
        'sprintf is banned'),
    'checksrc finds atoi': (
        source_faults, story('a.c', 'int n = atoi (s);'), 'atoi is banned'),
    'checksrc finds a line of 81 columns': (
        source_faults, story('a.c', '/* ' + 'x' * 75 + ' */'), '81 columns'),
    'checksrc finds a tab': (
        source_faults, story('a.c', '\tint a;'), 'a tab'),
    'checksrc finds white space at the end': (
        source_faults, story('a.c', 'int a; '), 'white space at the end'),
    'checksrc finds a file without a story': (
        source_faults, {'src/base/a.c': 'int a;\n'}, 'no story'),
    'checksrc finds a story about another file': (
        source_faults, {'tests/unit/a.c': '/* b.c - x. */\n'}, 'no story'),
    'checksrc finds work left undone': (
        source_faults, story('a.c', '/* TO' + 'DO: later */'), 'an issue'),
    'checksrc finds a function of 61 lines': (
        source_faults,
        story('a.c', 'void f(void)\n{\n' + '    g();\n' * 61 + '}'),
        'src/base/a.c:3: a function of 61 lines'),
    'checksrc finds a file of 601 lines': (
        source_faults, story('a.c', 'int a;\n' * 599), '601 lines'),
    'checksrc warns of a file of 401 lines': (
        source_warnings, story('a.c', 'int a;\n' * 399), '401 lines'),
}

# fact: (finder, changes that break no rule)
LETS_PASS = {
    'layers passes the clean tree': (layer_faults, {}),
    'checksrc passes the clean tree': (source_faults, {}),
    'checksrc passes words in comments and strings': (
        source_faults, story('a.c', 'char *s = "malloc(1)"; /* free(it) */')),
    'checksrc passes a member of a banned name': (
        source_faults, story('a.c', 'void g(void) { ops->free(x.free(1)); }')),
    'checksrc passes a name that contains a banned one': (
        source_faults,
        story('a.c', 'void g(void) { fl_mem_free(snprintf(1)); }')),
    'checksrc passes 80 columns': (
        source_faults, story('a.c', '/* ' + 'x' * 74 + ' */')),
    'checksrc passes a function of 60 lines': (
        source_faults,
        story('a.c', 'void f(void)\n{\n' + '    g();\n' * 60 + '}')),
    'checksrc passes a file of 600 lines': (
        source_faults, story('a.c', 'int a;\n' * 598)),
    'checksrc does not warn of 400 lines': (
        source_warnings, story('a.c', 'int a;\n' * 398)),
}


def compile_symbols(code):
    """What check_symbols says of a library made of `code`."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f'{folder}/a.c', f'{folder}/a.o'
        Path(source).write_text(code, encoding='utf-8')
        subprocess.run(['cc', '-fPIC', '-O0', '-c', source, '-o', target],
                       check=True)
        return checksrc.check_symbols(target)


def log_cases(*entries):
    with tempfile.NamedTemporaryFile('w', suffix='.json') as log:
        for entry in entries:
            log.write(json.dumps(entry) + '\n')
        log.flush()
        return count.count_log(log.name)


def program(result, stdout='', stderr='', returncode=0):
    return {'name': 'p', 'result': result, 'stdout': stdout, 'stderr': stderr,
            'returncode': returncode}


# fact: (log entry, (passed, failed, skipped))
COUNTS = {
    'a program without TAP is one case': (program('OK', 'hello'), (1, 0, 0)),
    'TAP lines are cases': (
        program('FAIL', '1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP why\n'),
        (1, 1, 1)),
    'a program that dies after its last ok has failed': (
        program('ERROR', '1..2\nok 1 - a\nok 2 - b\n', '', -11), (2, 1, 0)),
    'a time-out has failed': (program('TIMEOUT'), (0, 1, 0)),
    'a program that skips itself is one skip': (
        program('SKIP', '', 'no node here\n', 77), (0, 0, 1)),
    'a skip as cmocka tells it is a skip': (
        program('FAIL', '1..2\nok 1 - a\nnot ok 2 # SKIP b\n'), (1, 0, 1)),
    'a failure beside such a skip stays a failure': (
        program('FAIL', '1..2\nnot ok 1 - a\nnot ok 2 # SKIP b\n', '', 1),
        (0, 1, 1)),
    'such a skip does not excuse a crash': (
        program('ERROR', '1..2\nok 1 - a\nnot ok 2 # SKIP b\n', '', -6),
        (1, 1, 1)),
    'lines inside a subtest are not counted': (
        program('OK', '1..1\n    ok 1 - inner\nok 1 - outer\n'), (1, 0, 0)),
}


def run_finds():
    for fact, (finder, change, expected) in FINDS.items():
        found = finder(change)
        yield fact, len(found) == 1 and expected in found[0], found
    for fact, (finder, change) in LETS_PASS.items():
        found = finder(change)
        yield fact, found == [], found


def run_symbols():
    for fact, code in (
            ('a static counter', 'int f(void) { static int n; return n++; }'),
            ('an initialised global', 'int f = 3;'),
            ('a table of pointers that is not const',
             'static const char *t[] = {"a"};'
             'const char *f(int i) { return t[i]; }'),
            ('a thread-local', '_Thread_local int f;')):
        found = compile_symbols(code)
        yield f'checksrc finds {fact}', len(found) == 1, found
    found = compile_symbols('static const char *const t[] = {"a", "b"};'
                            'const char *f(int i) { return t[i]; }')
    yield 'checksrc passes a const table of pointers', found == [], found


def run_counts():
    for fact, (entry, expected) in COUNTS.items():
        found = count.tally(log_cases(entry))
        yield fact, found == expected, found
    reasons = [case.reason for case in log_cases(
        program('SKIP', '1..0 # SKIP no vectors\n'),
        program('OK', '1..1\nok 1 - a # skip no such thing\n'),
        program('FAIL', '1..1\nnot ok 1 # SKIP a\n', 'SKIPPED: no file\n'))]
    yield ('the reason of a skip is kept',
           reasons == ['no vectors', 'no such thing', 'no file'], reasons)
    reasons = [case.reason for case in log_cases(program(
        'FAIL', '1..3\nnot ok 1 - a\n# it broke\n# at a.py:3\nok 2 - b\n'
                '# all is well\nnot ok 3 - c\n' + '# x\n' * 100, '', 1))]
    yield ('what a failure says of itself is kept, if it is brief',
           reasons == ['it broke; at a.py:3', '', 'x; x; x; x; x; x'], reasons)


def run_hearings():
    said = 'ERROR: AddressSanitizer: heap-use-after-free\n'
    for fact, name, result, complaint, expected in (
            ('a whole program that failed', 'flow / a', 'FAIL', '', True),
            ('one that took too long', 'gateway+pairs / a', 'TIMEOUT', '',
             True),
            ('one that passed', 'flow / a', 'OK', '', False),
            ('a unit test', 'unit / a', 'FAIL', '', False),
            ('one that looks for races', 'gateway / gateway chaos', 'FAIL', '',
             False),
            ('what a sanitizer found', 'flow / p q', 'FAIL', said, False)):
        entry = {**program(result, '', complaint, 1),
                 'name': f'fairlead:{name}'}
        found = count.deserves_a_second_hearing(entry)
        yield (f'{fact} is heard {"again" if expected else "once"}',
               found == expected, found)
    found = count.suite_and_name(entry)
    yield 'a program has a suite and a name', found == ('flow', 'p q'), found


def run_table():
    graph = {room: {may.split('/')[0] for may in mays}
             for room, mays in layers.ROOMS.items()}
    cycle = layers.find_cycle({**graph, 'json': {'cmd'}})
    yield 'a ring through many rooms is found', cycle is not None, cycle
    cycle = layers.find_cycle(graph)
    yield 'the table of rooms has no ring', cycle is None, cycle
    homes = set(layers.LIBRARIES.values()) - set(layers.ROOMS)
    yield 'every library lives in a room', not homes, homes


HEADER = '''/*
 * call.h - a call.
 *
 * Use fl_call_end() and no <other>.
 */
#ifndef FAIRLEAD_CALL_H
#define FAIRLEAD_CALL_H
#ifdef __cplusplus
extern "C" {
#endif

/* Ends it: fl_call_new(). See docs/tasks.md. */
FL_API FL_MUST_USE fl_status fl_call_end(
    fl_call *call, const char *format, ...) FL_PRINTF(2, 3);
FL_API void fl_call_new(void);

/* Two of them. */
typedef struct fl_two {
    int one; /* with; a semicolon */
    int other;
} fl_two;

#ifdef __cplusplus
}
#endif

#endif
'''


def run_apidoc():
    _, ends, two = items = apidoc.read_items(HEADER)
    yield 'a header is cut into what belongs together', \
        (ends.names, two.names) == (['fl_call_end', 'fl_call_new'],
                                    ['fl_two']), [i.names for i in items]
    known = {'fl_call_end', 'fl_call_new'}
    text = apidoc.item_text(ends, known, [])
    for part in ('<a id="fl_call_end"></a>', '### fl_call_end, fl_call_new',
                 'fl_status fl_call_end(fl_call *call, const char *format, '
                 '...);', 'Ends it: [`fl_call_new()`](#fl_call_new).',
                 '[tasks.md](tasks.md)'):
        yield f'a function is shown with {part[:24]}', part in text, text
    _, story = apidoc.split_story(items[0])
    yield 'what is no Markdown is not taken for it', \
        'no &lt;other>' in apidoc.prose(story, known), story
    table = apidoc.table_of('#define S_MAP(X) X(OK, 0, "fine") X(E, -1, "no")')
    yield 'an enum made of a table is one', '| `FL_E` | -1 | no |' in table, \
        table


def run_bench():
    for fact, count_of, recorded, expected in (
            ('as many instructions as recorded pass', 1000, 1000, True),
            ('a tenth more passes', 1100, 1000, True),
            ('more than a tenth more fails', 1101, 1000, False),
            ('what is cheaper passes', 500, 1000, True),
            ('what is not recorded fails', 1000, None, False),
            ('what cannot be counted fails', OSError('no'), 1000, False)):
        good, words = instructions.judge('a way', count_of, recorded)
        yield fact, good == expected, words
    _, words = instructions.judge('a way', 800, 1000)
    yield 'what is cheaper by a fifth is told of', '--record' in words, words
    row = {'what': 'http 64x1 beside nginx, rate', 'ours': '1', 'beside': '2',
           'reference': 'nginx', 'ratio': 0.5, 'low': 0.4, 'high': 0.6,
           'more_is_better': True, 'target': '', 'verdict': ''}
    yield 'a peer that is faster is shown as such', digest.loses(row), row
    yield 'and one that is slower is not', \
        not digest.loses({**row, 'ratio': 2}), row
    yield 'a missed target is a loss', digest.loses(
        {**row, 'ratio': 2, 'target': '>= 3', 'verdict': 'MISSED'}), row
    drawn = page.chart('a & b', 'x', {'ours': [(1, 2), (10, 3)]})
    yield 'a plot has its points and its title', \
        drawn.count('<circle') == 2 and 'a &amp; b' in drawn, drawn


NOBODY = 65534


def run_as(user, *words, **env):
    """A command as somebody else, if we are one who can become that."""
    options = {'user': user, 'group': user, 'extra_groups': []} \
        if os.getuid() == 0 else {}
    return subprocess.run(words, env={**os.environ, **env}, text=True,
                          capture_output=True, check=False, **options)


def run_install():
    """In a tree with nothing to build: what is said before it is."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / 'tools').mkdir()
        for name in 'install', 'build':
            shutil.copy(Path(__file__).parent / name, root / 'tools' / name)
        closed = root / 'closed'
        closed.mkdir(mode=0o555)
        for prefix in closed, closed / 'not' / 'there':
            done = run_as(NOBODY, root / 'tools/install', PREFIX=str(prefix),
                          DESTDIR='')
            yield f'{prefix.name} that is not ours is told of at once', \
                done.returncode == 1 and str(closed) in done.stderr and \
                f'sudo make install PREFIX={prefix}' in done.stderr and \
                'make install PREFIX=$HOME/.local' in done.stderr, done
        (root / 'build').mkdir(mode=0o555)
        done = run_as(NOBODY, root / 'tools/build', 'run')
        yield 'a build that is not ours is told of', \
            done.returncode == 1 and \
            'sudo chown -R "$(id -un)" build' in done.stderr, done
        if os.getuid() != 0:
            return
        (root / 'meson').write_text('#!/bin/sh\nexit 1\n')
        (root / 'meson').chmod(0o755)
        for owner in 0, NOBODY:
            os.chown(root, owner, owner)
            run_as(0, root / 'tools/install', PREFIX=str(root),
                   PATH=f'{root}:{os.environ["PATH"]}', SUDO_UID=str(NOBODY),
                   SUDO_GID=str(NOBODY))
            log = root / 'build/install-setup.log'
            yield f'what sudo built is the owner\'s, {owner}', \
                log.stat().st_uid == owner, log.stat()


def run_uninstall():
    """What Meson noted goes, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        log = root / 'build/install/meson-logs/install-log.txt'
        ours, others = root / 'usr/include/ours', root / 'usr/lib'
        before = root / 'usr/bin'  # empty, but not made by us
        for place in log.parent, ours, others, before, root / 'tools':
            place.mkdir(parents=True)
        shutil.copy(Path(__file__).parent / 'uninstall', root / 'tools')

        def uninstall():
            return run_as(os.getuid(), root / 'tools/uninstall')

        done = uninstall()
        yield 'nothing to go by is told of', done.returncode == 1 and \
            'Run make install once more' in done.stderr, done
        for path in (ours / 'a.h', others / 'a.so', others / 'b.so',
                     before / 'a b', before / '*', before / 'a'):
            path.touch()
        (others / 'c.so').symlink_to('nowhere')
        log.write_text(f'# a list\n{ours}/a.h\n{others}/a.so\n'
                       f'{before}/a b\n{before}/*\n'
                       f'{others}/c.so\n{others}/gone\n{ours}\n{others}\n')
        done = uninstall()
        left = sorted(path.name for path in (root / 'usr').rglob('*'))
        yield 'what was installed is removed', \
            left == ['a', 'b.so', 'bin', 'include', 'lib'] and \
            not log.exists() and \
            done.stdout == 'uninstall: 5 files removed\n', (left, done)
        log.write_text('# nothing\n')
        done = uninstall()
        yield 'an empty list is no fault', done.returncode == 0 and \
            done.stdout == 'uninstall: 0 files removed\n', done


def main():
    results = [*run_finds(), *run_symbols(), *run_counts(), *run_hearings(),
               *run_table(), *run_apidoc(), *run_bench(), *run_install(),
               *run_uninstall()]
    print(f'1..{len(results)}')
    for number, (fact, good, found) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {fact}')
        if not good:
            print(f'# found: {found}')
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == '__main__':
    raise SystemExit(main())
