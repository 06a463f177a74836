#!/usr/bin/env python3
"""matrixdoc.py FAIRLEAD [PAGE] - docs/matrix.md, from `fairlead matrix`.

Writes the page, or prints it if none is named. A test compares the two.
"""
import json
import subprocess
import sys
from pathlib import Path

HEAD = """\
# What each client gets of each server

Made by `tools/matrixdoc.py` from `fairlead matrix --json`; do not edit.

When `fairlead serve` or `fairlead connect` stands between a client and a
server of different revisions, each feature is

- **carried**: both have it, and it is passed on;
- **synthesised**: one has it not, or in another shape, and it is made of what
  there is;
- **lost**: it does not get through;
- or there is none (`-`): who would begin it does not have it.

Every cell was played: `tests/gateway/test_pairs.py` has a fact for each of
them, and the cases that are named go deeper. `fairlead matrix --feature NAME`
shows one of these tables, `--client` and `--server` a pair of revisions.
"""


def cells_of(fairlead):
    return json.loads(subprocess.run(
        [fairlead, 'matrix', '--json'], check=True,
        stdout=subprocess.PIPE).stdout)


def unique(things):
    return list(dict.fromkeys(things))


def table(cells):
    servers = unique(cell['server'] for cell in cells)
    yield '| client \\ server | ' + ' | '.join(servers) + ' |'
    yield '|---' * (len(servers) + 1) + '|'
    for client in unique(cell['client'] for cell in cells):
        words = [cell['outcome'].replace('none', '-') for cell in cells
                 if cell['client'] == client]
        yield f'| {client} | ' + ' | '.join(words) + ' |'


def reasons(cells):
    """Each reason once, with the cases that go with it."""
    for outcome, why in unique((cell['outcome'], cell['why'])
                               for cell in cells):
        own = 0 if outcome == 'none' else 1
        proofs = unique(proof for cell in cells if
                        (cell['outcome'], cell['why']) == (outcome, why)
                        for proof in cell['proofs'][own:])
        more = f" ({'; '.join(proofs)})" if proofs else ''
        yield f"- {outcome.replace('none', '-')}: {why}{more}"


def page(cells):
    lines = [HEAD]
    for feature in unique(cell['feature'] for cell in cells):
        own = [cell for cell in cells if cell['feature'] == feature]
        lines += [f'## {feature}', '', *table(own), '', *reasons(own), '']
    return '\n'.join(lines)


def main(fairlead, target=None):
    text = page(cells_of(fairlead))
    if target:
        Path(target).write_text(text, encoding='utf-8')
    else:
        print(text, end='')


if __name__ == '__main__':
    main(*sys.argv[1:])
