#!/usr/bin/env python3
"""test_guide.py - the programs in README.md and docs/guide.md, built and run.

Prints TAP. FAIRLEAD names the command, BUILD the build's root, whose library
is found by pkg-config as if it had been installed.

A block marked "c NAME.c" is a whole program: it is written down under that
name, and must compile without a warning. A block marked "c" alone is part of
one: it must compile behind the headers. A block marked "console" is run, as in
test_docs.py, in the directory the programs are in.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from flow import Skip, folder, main, require
from test_docs import Shell, check, read_blocks

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get('BUILD', str(ROOT / 'build'))
PAGES = {'readme': ROOT / 'README.md', 'guide': ROOT / 'docs' / 'guide.md'}
STRICT = ['-std=c17', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
          f'-I{ROOT}/include']
BEFORE = ('#include <fairlead/fairlead.h>\n#include <stdio.h>\n'
          '#include <string.h>\n')


def environment():
    """What somebody has who has installed it."""
    return {'PKG_CONFIG_PATH': f'{BUILD}/meson-uninstalled',
            'LD_LIBRARY_PATH': BUILD}


def compile_strictly(path, *more):
    done = subprocess.run(['cc', *STRICT, *more, str(path)], text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    require(done.returncode == 0, done.stdout)


def source_blocks(page):
    """The C of a page: a name or None, and the text."""
    return re.findall(r'^```c(?: (\w+\.c))?\n(.*?)^```$', page.read_text(),
                      re.M | re.S)


def program_test(name, path):
    def test():
        compile_strictly(path)
    test.__name__ = f'test_{name}_{path.stem}_compiles'
    return test


def part_test(name, path):
    def test():
        compile_strictly(path, '-Wno-unused-function')
    test.__name__ = f'test_{name}_{path.stem}_compiles'
    return test


def transcript_test(name, shell, number, title, steps):
    def test():
        for step in steps:
            check(step, *shell.run(step.command))
    words = re.sub(r'\W+', '_', title.lower())
    test.__name__ = f'test_{name}_{number}_{words}'
    return test


def tests_of(name, page, place):
    """Programs first: the transcripts build them."""
    tests = []
    for number, (program, text) in enumerate(source_blocks(page), 1):
        if program:
            path = place / program
            path.write_text(text)
            tests.append(program_test(name, path))
        else:
            path = place / f'part_{number}.c'
            path.write_text(BEFORE + text)
            tests.append(part_test(name, path))
    shell = Shell(str(place), 'tcp://127.0.0.1:0', environment())
    tests += [transcript_test(name, shell, number, title, steps)
              for number, (title, steps) in enumerate(read_blocks(page), 1)]
    return tests, shell


def anchors_of(page):
    """What can be linked to in a page: ids, and headings as GitHub has them."""
    text = re.sub(r'^```.*?^```', '', page.read_text(), flags=re.M | re.S)
    slugs = [re.sub(r'[^\w\- ]', '', line.lower()).replace(' ', '-')
             for line in re.findall(r'^#+ (.*)$', text, re.M)]
    return {*slugs, *re.findall(r'<a id="(.*?)">', text)}


def test_links_lead_somewhere():
    pages = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md',
             *sorted((ROOT / 'docs').glob('*.md'))]
    for page in pages:
        text = re.sub(r'^```.*?^```|`[^`\n]*`\(', '', page.read_text(),
                      flags=re.M | re.S)
        for link in re.findall(r'\]\(([^)\s]+)\)', text):
            name, _, anchor = link.partition('#')
            to = page.parent / name if name else page
            if '://' in link:
                continue
            require(to.exists(), page.name, 'links to', link)
            require(not anchor or anchor in anchors_of(to), page.name,
                    'links to', link)


def needs_compiler():
    raise Skip('there is no cc, or no pkg-config')


if __name__ == '__main__':
    with contextlib.ExitStack() as stack:
        if shutil.which('cc') is None or shutil.which('pkg-config') is None:
            globals()['test_guide'] = needs_compiler
            PAGES = {}
        for one, where in PAGES.items():
            home = Path(stack.enter_context(folder()))
            found, running = tests_of(one, where, home)
            stack.callback(running.end)
            globals().update({test.__name__: test for test in found})
        verdict = main(__name__)
    sys.exit(verdict)
