#!/usr/bin/env python3
"""test_schema_check.py [DATA] - the driver that judges by JSON Schema.

Its lines and answers, and every required case of the JSON Schema Test Suite
through it, remotes in the first line. Prints TAP. DRIVERS is the directory it
is in; the suite is looked for where FAIRLEAD_DATA says, or else in DATA, and
skipped by name if it is not there.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

from flow import WAIT, Skip, equal, main, require

DRIVER = Path(os.environ.get('DRIVERS', '.')) / 'schema-check'
ROOT = 'http://localhost:1234/'


def judge(*lines):
    """What the driver answers to each line, and what it says beside that."""
    if not DRIVER.is_file():
        print(f'SKIPPED: {DRIVER} is not there', file=sys.stderr)
        raise Skip(f'{DRIVER} is not there')
    text = ''.join(json.dumps(line) + '\n' for line in lines)
    done = subprocess.run([DRIVER], input=text, capture_output=True, text=True,
                          timeout=WAIT, check=False)
    equal(done.returncode, 0, done.stderr)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    equal([list(answer) for answer in answers], [['valid']] * len(lines))
    return [answer['valid'] for answer in answers], done.stderr


def suite(*where):
    folder = os.environ.get('FAIRLEAD_DATA') or (sys.argv[1:] or ['.'])[0]
    path = Path(folder, 'jsonschema', *where)
    if not path.is_dir():
        print(f'SKIPPED: {path} is not there', file=sys.stderr)
        raise Skip(f'{path} is not there')
    return path


def remotes():
    folder = suite('remotes')
    return {ROOT + str(path.relative_to(folder)):
            json.loads(path.read_text(encoding='utf-8'))
            for path in sorted(folder.rglob('*.json'))}


def agree_with(draft):
    """All cases of the suite's folder; returns how many there were."""
    groups = [(path.name, group)
              for path in sorted(suite('tests', draft).glob('*.json'))
              for group in json.loads(path.read_text(encoding='utf-8'))]
    answers, _ = judge(
        {'draft': draft, 'schema': True, 'instances': [],
         'remotes': remotes()},
        *({'draft': draft, 'schema': group['schema'],
           'instances': [test['data'] for test in group['tests']]}
          for _, group in groups))
    for (name, group), answer in zip(groups, answers[1:]):
        equal(answer, [test['valid'] for test in group['tests']],
              f'{name}: {group["description"]}:')
    return sum(len(group['tests']) for _, group in groups)


def test_schema_check_answers_each_instance_of_each_line():
    answers, _ = judge(
        {'draft': '2020-12', 'schema': {'type': 'integer'},
         'instances': [1, 1.0, 'a', 1.5]},
        {'draft': 'draft7', 'schema': False, 'instances': [None]},
        {'draft': '2020-12', 'schema': True, 'instances': []})
    equal(answers, [[True, True, False, False], [False], []])


def test_schema_check_knows_drafts_by_many_names():
    # a list of items is an error in 2020-12
    schema = {'items': [{'type': 'null'}]}
    for name in ('draft7', 'draft-07',
                 'http://json-schema.org/draft-07/schema#'):
        answers, _ = judge({'draft': name, 'schema': schema,
                            'instances': [[None], [1]]})
        equal(answers, [[True, False]], name)
    for name in ('draft2020-12', '2020-12',
                 'https://json-schema.org/draft/2020-12/schema'):
        answers, _ = judge({'draft': name, 'schema': schema,
                            'instances': [[None], [1]]})
        equal(answers, [[None, None]], name)


def test_schema_check_says_null_where_it_cannot_decide():
    answers, said = judge(
        {'draft': '2020-12', 'schema': {'$ref': 'http://x/y'},
         'instances': [1, 2]},
        {'draft': '2020-12', 'schema': {'$ref': '#'}, 'instances': [1]},
        {'draft': '2020-12', 'schema': {'pattern': '^(a+)+$'},
         'instances': ['a' * 40 + '!', 'a']})
    equal(answers, [[None, None], [None], [None, True]])
    require('http://x/y' in said, said)


def test_schema_check_asserts_formats_when_asked():
    line = {'draft': '2020-12', 'schema': {'format': 'ipv4'},
            'instances': ['1.2.3.4', '1.2.3']}
    answers, _ = judge(line, {**line, 'formats': True},
                       {**line, 'formats': False})
    equal(answers, [[True, True], [True, False], [True, True]])


def test_schema_check_keeps_the_remotes_of_the_first_line():
    answers, _ = judge(
        {'draft': '2020-12', 'schema': True, 'instances': [],
         'remotes': {'http://x/y': {'type': 'string'}}},
        {'draft': '2020-12', 'schema': {'$ref': 'http://x/y'},
         'instances': ['a', 1]})
    equal(answers, [[], [True, False]])


def test_schema_check_agrees_with_the_suite_on_2020_12():
    require(agree_with('draft2020-12') > 1000)


def test_schema_check_agrees_with_the_suite_on_draft_07():
    require(agree_with('draft7') > 900)


if __name__ == '__main__':
    sys.exit(main(__name__))
