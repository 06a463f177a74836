#!/usr/bin/env python3
"""test_matrix.py - what `fairlead matrix` says is what the tests have proven.

Every cell names its proofs. Each of them has to be a fact of a program here,
and to hold: it was established since the program was built, as the record in
FL_FACTS says, or it is played now. Of the cells' own facts, of which there are
hundreds, one for each feature is played if there is no record. Prints TAP.
FAIRLEAD names the program.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from cases import FAIRLEAD, HERE, fact, main
from flow import contains, equal, require, run
from scenes import LEGACY, MODERN

REVISIONS = (*LEGACY, MODERN)
ROOT = HERE.parent.parent
ERAS = {'test_isolation.py': ('legacy', 'modern')}  # a word they want


def matrix(*words):
    return run(FAIRLEAD, 'matrix', *words)


def cells():
    return matrix('--json').expect(0).json()


def listed():
    """{fact: (program, words)} of all programs."""
    found = {}
    for program in sorted(HERE.glob('test_*.py')):
        if program.name == Path(__file__).name:
            continue
        for word in ERAS.get(program.name, (None,)):
            words = [sys.executable, str(program), *([word] if word else [])]
            names = subprocess.run([*words, '--list'], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
            for name in names.splitlines():
                require(name not in found, 'two facts have one name:', name)
                found[name] = words
    return found


def resolve(proof, facts):
    """The whole name of what a cell names: cases go by their number."""
    if proof in facts:
        return proof
    fits = [name for name in facts if name.startswith(f'{proof}: ')]
    require(proof.startswith('case ') and len(fits) == 1,
            f'no test establishes {proof!r}')
    return fits[0]


def recorded():
    """{fact: verdict}, of what was played since the program was built."""
    found, built = {}, os.path.getmtime(FAIRLEAD)
    place = os.environ.get('FL_FACTS')
    for path in Path(place).glob('*') if place else ():
        for line in path.read_text().splitlines():
            name, verdict, when = json.loads(line)
            if when > built:
                found[name] = verdict
    return found


def play(names, facts):
    """{fact: verdict} of these, by running their programs."""
    found, programs = {}, {}
    for name in names:
        programs.setdefault(tuple(facts[name]), []).append(name)
    for words, some in programs.items():
        said = subprocess.run([*words, *some], check=False, text=True,
                              stdout=subprocess.PIPE).stdout
        for good, name, skip in re.findall(
                r'^(ok|not ok) \d+ - (.*?)( # SKIP.*)?$', said, re.M):
            found[name] = 'skipped' if skip else good
    return found


def proofs_hold():
    facts, known = listed(), recorded()
    own, named = {}, set()
    for cell in cells():
        for proof in cell['proofs']:
            name = resolve(proof, facts)
            if re.match(f"{cell['feature']}: .* to ", proof):
                own.setdefault(cell['feature'], []).append(name)
            else:
                named.add(name)
    wanted = {name for name in named if name not in known}
    for some in own.values():
        if not any(name in known for name in some):
            wanted.add(some[len(some) // 2])
    known.update(play(sorted(wanted), facts))
    cited = named.union(*own.values())
    wrong = {name: known[name] for name in cited
             if known.get(name, 'ok') != 'ok'}
    equal(wrong, {}, 'proofs that prove nothing:')
    missing = sorted(wanted - known.keys())
    equal(missing, [], 'proofs that were not played:')


fact('every proof is a fact that holds', proofs_hold)


def every_pair_has_a_cell():
    seen = {}
    for cell in cells():
        seen.setdefault(cell['feature'], []).append(
            (cell['client'], cell['server']))
        contains(('carried', 'synthesised', 'lost', 'none'), cell['outcome'])
        require(cell['why'], cell)
        if cell['outcome'] != 'none':
            equal(cell['proofs'][0], f"{cell['feature']}: {cell['client']} to "
                  f"{cell['server']}")
    for feature, pairs in seen.items():
        equal(sorted(pairs), sorted((client, server) for client in REVISIONS
                                    for server in REVISIONS), feature)


fact('every pair has a cell, and every cell a proof of its own',
     every_pair_has_a_cell)


def the_page_is_current():
    spec = importlib.util.spec_from_file_location(
        'matrixdoc', ROOT / 'tools' / 'matrixdoc.py')
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    equal((ROOT / 'docs' / 'matrix.md').read_text(), tool.page(cells()),
          'docs/matrix.md is old; tools/matrixdoc.py makes it anew:')


fact('docs/matrix.md is current', the_page_is_current)


def it_fits_a_terminal():
    for words in ((), ('--feature', 'tasks'), ('--client', MODERN),
                  ('--client', LEGACY[0], '--server', MODERN)):
        text = matrix(*words).expect(0).out
        require('\x1b' not in text, 'colours where there is no terminal')
        for line in text.splitlines():
            require(len(line) <= 80 and line == line.rstrip(), repr(line))


fact('it fits a terminal', it_fits_a_terminal)


def what_is_asked_for_is_shown():
    chosen = matrix('--json', '--client', LEGACY[2], '--server', MODERN,
                    '--feature', 'elicitation').expect(0).json()
    equal([(one['client'], one['server'], one['outcome']) for one in chosen],
          [(LEGACY[2], MODERN, 'synthesised')])
    grid = matrix('--feature', 'tasks').expect(0).out.splitlines()
    equal(grid[2].split()[1:], list(REVISIONS))
    equal([line.split() for line in grid[3:8]],
          [[client, '-', '-', '-', *last] for client, last in zip(REVISIONS, (
              *[('lost', 'synthesised')] * 3, ('carried', 'synthesised'),
              ('synthesised', 'carried')))])
    pair = matrix('--client', MODERN, '--server', LEGACY[0]).expect(0).out
    contains(pair, f'client {MODERN}, server {LEGACY[0]}')
    for feature in {cell['feature'] for cell in cells()}:
        contains(pair, f'  {feature} ')
        contains(matrix().expect(0).out, feature)


fact('what is asked for is shown', what_is_asked_for_is_shown)


def wrong_usage_is_told():
    for words, part in ((('--client', 'x'), "'x' is no revision"),
                        (('--feature', 'taks'), 'tasks'), (('x',), "'x'"),
                        (('--cleint', MODERN), '--client')):
        contains(matrix(*words).expect(1, '').err, part)
    contains(matrix('--help').expect(0).out, 'Usage: fairlead matrix')


fact('wrong usage is told', wrong_usage_is_told)


if __name__ == '__main__':
    sys.exit(main())
