#!/usr/bin/env python3
"""test_docs.py - the transcripts in docs/http.md, docs/websocket.md,
docs/moving.md, docs/gateway.md, docs/doctor.md and docs/load.md, run as they
stand.

Prints TAP. FAIRLEAD names the program. Each page has a demo of its own, whose
address is $URL, and its port $PORT. A block marked `console` is one test:
its commands run in one shell for the whole page, in order, and each line below
a command must be found in what it printed, in that order. `...` in such a line
stands for anything.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from flow import FAIRLEAD, Skip, WAIT, demo, folder, main, require

DOCS = Path(__file__).resolve().parents[2] / 'docs'
# What a page's server listens on, and the program its commands need.
PAGES = {'http': ('http://127.0.0.1:0/mcp', 'curl'),
         'websocket': ('ws://127.0.0.1:0/mcp', 'od'),
         'moving': ('tcp://127.0.0.1:0', 'sh'),
         'gateway': ('tcp://127.0.0.1:0', 'curl'),
         'doctor': ('http://127.0.0.1:0/mcp', 'sh'),
         'load': ('http://127.0.0.1:0/mcp', 'sh')}
MARK = 'end-of-command'


class Step:
    def __init__(self, command):
        self.command, self.expected = command, []


def read_blocks(page):
    """The transcripts of a page: a title and its steps."""
    title, blocks, steps, other = '', [], None, False
    for line in page.read_text().splitlines():
        if steps is None:
            if line == '```console':
                steps = []
            elif line.startswith('```'):
                other = not other
            elif line.startswith('#') and not other:
                title = line.lstrip('# ')
        elif line == '```':
            blocks.append((title, steps))
            steps = None
        elif line.startswith('$ '):
            steps.append(Step(line[2:]))
        elif line.startswith('> '):
            steps[-1].command += '\n' + line[2:]
        elif line.startswith('>'):
            steps[-1].command += '\n' + line[1:]
        else:
            steps[-1].expected.append(line)
    return blocks


class Shell:
    """One bash that lives as long as the page."""

    def __init__(self, place, url, env=None):
        home = os.path.dirname(os.path.abspath(shutil.which(FAIRLEAD)))
        self.process = subprocess.Popen(
            ['bash', '--norc'], cwd=place, text=True, bufsize=1,
            env={'PATH': f'{home}:/usr/bin:/bin', 'URL': url, 'LC_ALL': 'C',
                 'PORT': str(urlsplit(url).port), **(env or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def run(self, command):
        self.process.stdin.write(f'{command}\necho; echo {MARK} $?\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.rstrip('\r\n')
            if line.startswith(MARK):
                return lines, line.split()[1]
            lines.append(line)
        raise EOFError('the shell has gone')

    def end(self):
        self.process.stdin.close()
        self.process.wait(WAIT)


def pattern(line):
    return re.compile('.*'.join(map(re.escape, line.split('...'))))


def check(step, printed, code):
    require(code == '0', step.command, 'ended with', code, printed)
    rest = iter(printed)
    for line in step.expected:
        wanted = pattern(line)
        require(any(wanted.fullmatch(one) or
                    (line.endswith('...') and wanted.match(one))
                    for one in rest),
                'no line', repr(line), 'after', step.command, 'in', printed)


def make_test(shell, title, steps):
    def test():
        for step in steps:
            check(step, *shell.run(step.command))
    test.__name__ = 'test_docs_' + re.sub(r'\W+', '_', title.lower())
    return test


def needs(program):
    def test():
        raise Skip(f'{program} is not installed')
    return test


@contextlib.contextmanager
def shell_for(listen):
    with folder() as home, demo(listen=(listen,)) as serving:
        shell = Shell(home, serving.urls[0])
        yield shell
        shell.end()


def tests_of(name, stack):
    """A test for each transcript of a page, by name."""
    listen, program = PAGES[name]
    if shutil.which(program) is None:
        return {f'test_docs_{name}': needs(program)}
    shell = stack.enter_context(shell_for(listen))
    blocks = enumerate(read_blocks(DOCS / f'{name}.md'), 1)
    tests = [make_test(shell, f'{name} {number} {heading}', steps)
             for number, (heading, steps) in blocks]
    return {test.__name__: test for test in tests}


if __name__ == '__main__':
    with contextlib.ExitStack() as pages:
        for page in PAGES:
            globals().update(tests_of(page, pages))
        verdict = main(__name__)
    sys.exit(verdict)
