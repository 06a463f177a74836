#!/usr/bin/env python3
"""results.py - what a whole run of bench/run leaves behind.

    bench/results.py     makes the pages anew of what is kept

A run is kept in bench/results/DATE.json, in two parts: "bench", beside the
references, and "peers". A part takes the place of the same part of that day and
leaves the other. Of the newest of each part are made docs/benchmarks.md
(bench/digest.py) and DATE.html (bench/page.py).
"""
import datetime
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import digest
import page
from harness import kernel

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'bench' / 'results'
DOCUMENT = ROOT / 'docs' / 'benchmarks.md'
DIGITS = 5


def fairlead_version():
    """With the commit, if there is one."""
    number = re.search(r"version: '([\d.]+)'",
                       (ROOT / 'meson.build').read_text()).group(1)
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT,
                            capture_output=True, text=True).stdout.strip()
    return f'{number} ({commit})' if commit else number


def compiler_version():
    done = subprocess.run(['cc', '--version'], capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.stdout else 'unknown'


def versions():
    return {'fairlead': fairlead_version(), 'compiler': compiler_version(),
            'kernel': kernel(), 'C library': ' '.join(platform.libc_ver())}


def brief(value):
    """No more digits than a measurement has."""
    if isinstance(value, float):
        return float(f'{value:.{DIGITS}g}')
    if isinstance(value, dict):
        return {key: brief(one) for key, one in value.items()}
    if isinstance(value, list):
        return [brief(one) for one in value]
    return value


def write(path, kept):
    """One line for each round, so that a difference can be read."""
    text = json.dumps(brief(kept), indent=1)
    text = re.sub(r'\{\s*("(?:[^{}[\]])*?)\s*\}', join_lines, text)
    path.write_text(text + '\n')


def join_lines(match):
    return '{' + re.sub(r'\n\s*', ' ', match.group(1)) + '}'


def keep(name, part):
    today = datetime.date.today().isoformat()
    path = FOLDER / f'{today}.json'
    FOLDER.mkdir(exist_ok=True)
    kept = json.loads(path.read_text()) if path.exists() else {}
    part['versions'] = {**versions(), **part['versions']}
    kept.update({'date': today, name: part})
    write(path, kept)
    for made in make_pages():
        print(f'written: {made.relative_to(ROOT)}')
    print(f'written: {path.relative_to(ROOT)}')


def newest():
    """{part: it, with its date}"""
    found = {}
    for path in sorted(FOLDER.glob('*.json')):
        kept = json.loads(path.read_text())
        for name in 'bench', 'peers':
            if name in kept:
                found[name] = {**kept[name], 'date': kept['date']}
    return found


def instructions():
    record = json.loads((ROOT / 'bench' / 'instructions.json').read_text())
    return record['made_with'], record['instructions']


def make_pages():
    parts = newest()
    if not parts:
        sys.exit('results.py: there are no results')
    date = max(part['date'] for part in parts.values())
    plots = FOLDER / f'{date}.html'
    plots.write_text(page.make(parts, instructions()))
    DOCUMENT.write_text(digest.make(parts, instructions(),
                                    plots.relative_to(ROOT)))
    return [plots, DOCUMENT]


if __name__ == '__main__':
    for one in make_pages():
        print(one.relative_to(ROOT))
