#!/usr/bin/env python3
"""count.py LOG - how many test cases ran, by meson's own log of them.

Meson counts programs, and its JUnit file forgets time-outs and programs that
die after their last "ok". So this reads meson-logs/testlog.json: what each
program printed gives the cases (TAP), and the verdict meson came to has the
last word: a program that failed counts at least one failure, whatever it
printed.

With one exception. cmocka 1.1 says "not ok 2 # SKIP name" of a test that was
skipped, which meson reads as a failure. When that is all that was wrong, and
the program itself ended well, it is the skip it was meant to be.
"""
import json
import re
import sys
from collections import namedtuple

Case = namedtuple('Case', 'name outcome reason')
PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'

LINE = re.compile(r'(not )?ok\b\s*\d*\s*-?\s*(.*?)'
                  r'\s*(?:#\s*(SKIP|TODO)\S*\s*(.*))?$', re.I)
CMOCKA_SKIP = re.compile(r'not ok \d+ # SKIP (\S+)$')
SAID_WHY = re.compile(r'SKIPPED: (.*)')
SKIP_ALL = re.compile(r'1\.\.0\s*#\s*SKIP\S*\s*(.*)$', re.I)
COMMENT = re.compile(r'#\s*(\S.*)$')
MOST_COMMENTS, LONGEST_COMMENT = 6, 300
SANITIZER = re.compile(r'Sanitizer|runtime error:')
BY_THE_CLOCK = 'flow', 'gateway', 'interop'
# What these find comes by chance, and is a fault all the same: an answer that
# was lost, or that somebody else got.
RACES = re.compile(r'chaos|isolation|replicas')
PLAN = re.compile(r'1\.\.\d+\b')


def explain(case, comment):
    if not comment or case.reason.count('; ') >= MOST_COMMENTS - 1:
        return case
    words = comment.group(1)[:LONGEST_COMMENT]
    return case._replace(reason='; '.join(filter(None, [case.reason, words])))


def read_tap(program, output):
    """The cases a program reported, one for each top-level TAP line. What a
    failure says of itself is in the comments that follow it."""
    cases = []
    for line in output.splitlines():
        line = CMOCKA_SKIP.sub(r'ok - \1 # SKIP', line)
        match = LINE.match(line)
        if not match:
            if cases and cases[-1].outcome == FAILED:
                cases[-1] = explain(cases[-1], COMMENT.match(line))
            continue
        bad, name, directive, reason = match.groups()
        outcome = FAILED if bad else PASSED
        if (directive or '').upper() == 'SKIP':
            outcome = SKIPPED
        elif directive and bad:
            outcome, reason = SKIPPED, f'known failure: {reason}'
        cases.append(Case(f'{program}: {name}', outcome, reason or ''))
    return cases


def give_reasons(cases, complaints):
    """A skip without a reason takes the next "SKIPPED: ..." of stderr."""
    reasons = iter(SAID_WHY.findall(complaints))
    return [case._replace(reason=next(reasons, 'no reason given'))
            if case.outcome == SKIPPED and not case.reason else case
            for case in cases]


def only_skipped(entry):
    return (entry['result'] == 'FAIL' and entry.get('returncode') == 0 and
            any(CMOCKA_SKIP.match(line)
                for line in (entry.get('stdout') or '').splitlines()))


def speaks_tap(output):
    return any(PLAN.match(line) for line in output.splitlines())


def last_words(entry):
    """Why a program skipped itself: TAP says so, others on their last line."""
    said = (entry.get('stdout') or '') + '\n' + (entry.get('stderr') or '')
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for line in lines:
        match = SKIP_ALL.match(line)
        if match:
            return match.group(1)
    return lines[-1] if lines else 'no reason given'


def count_program(entry):
    """The cases of one line of testlog.json."""
    name = entry['name'].split(':', 1)[-1]  # without the project's
    verdict = entry['result']
    output = entry.get('stdout') or ''
    cases = read_tap(name, output) if speaks_tap(output) else []
    cases = give_reasons(cases, entry.get('stderr') or '')
    if verdict == 'SKIP':
        return cases or [Case(name, SKIPPED, last_words(entry))]
    if verdict in ('OK', 'EXPECTEDFAIL'):
        return cases or [Case(name, PASSED, '')]
    failed = any(case.outcome == FAILED for case in cases)
    if not failed and not only_skipped(entry):
        cases.append(Case(name, FAILED, f'{verdict}, exit code'
                                        f' {entry.get("returncode")}'))
    return cases


def read_log(path):
    with open(path, encoding='utf-8') as log:
        return [json.loads(line) for line in log if line.strip()]


def count_log(path):
    """The cases of one `meson test` run."""
    return [case for entry in read_log(path) for case in count_program(entry)]


def bad_programs(path):
    """How many programs meson thinks failed, which is its exit code too."""
    return sum(entry['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL')
               for entry in read_log(path))


def suite_and_name(entry):
    """("flow", "bad input") of "fairlead:flow / bad input"."""
    suites, _, name = entry['name'].split(':', 1)[-1].partition(' / ')
    return suites.split('+')[0], name


def deserves_a_second_hearing(entry):
    """A failure of a test that goes by the clock, among whole programs on a
    crowded machine. What a sanitizer found, or a test that looks for races, is
    never excused."""
    said = (entry.get('stdout') or '') + (entry.get('stderr') or '')
    suite, name = suite_and_name(entry)
    return (entry['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL') and
            suite in BY_THE_CLOCK and not RACES.search(name) and
            not SANITIZER.search(said))


def tally(cases):
    """(passed, failed, skipped)"""
    outcomes = [case.outcome for case in cases]
    return tuple(outcomes.count(o) for o in (PASSED, FAILED, SKIPPED))


def main(arguments):
    passed, failed, skipped = tally(count_log(arguments[0]))
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
