#!/usr/bin/env python3
"""test_children.py - `fairlead call` and children of the worst manners.

However a child behaves, the command says what happened, exits with the status
it promises, soon, and leaves nobody behind. Families are told apart by a mark
in their environment. This process adopts the orphans of all the programs it
starts, so that a zombie somebody forgot ends up here, where it is seen.

Most of these wait for a timeout of somebody's, so all are started at once;
each test then looks at how its own went. Prints TAP. FAIRLEAD and BADCHILD
name the programs.
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from flow import (Done, FAIRLEAD, SLOW, WAIT, contains, equal, folder, main,
                  require, run, started, stretched, until)

BADCHILD = os.environ.get('BADCHILD', 'badchild')
SERVER = (FAIRLEAD, 'demo', '--listen', 'stdio:', '--quiet')
MARK = 'FAMILY_MARK'
SOON = 10 * SLOW  # seconds, for the command to give a bad child up
GONE = 3 * SLOW  # for a family to go when its keeper is told to end it
MIB = 1 << 20

# To answer in: for those who will not, who do nothing but talk, and who will.
# The first is less than the five seconds in which a peer must take what it is
# sent, or else that would end the case first.
BRIEF, BRIEF_TOLD = stretched(0.5)
NOISY, NOISY_TOLD = stretched(1)
AMPLE, _ = stretched(20)

PR_SET_CHILD_SUBREAPER = 36

LONG = 'x' * (4 * MIB)
ANSWERS_ONCE = '''
import sys, time
sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",'
      '"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}',
      flush=True)
time.sleep(3600)
'''


def bad(*manner, timeout=BRIEF):
    return ('tools', '--timeout', timeout, '--', BADCHILD, *manner)


def shell(script, *words, timeout=AMPLE):
    return ('ping', '--timeout', timeout, '--', 'sh', '-c', script, 'sh',
            *(words or SERVER))


CASES = {
    'garbage': bad('garbage'),
    'garbage first': shell(r'printf "hello\n{\"\n\377\376\n[1,2]\n{}\n\n";'
                           'exec "$@"'),
    'close-stdout': bad('close-stdout', timeout=AMPLE),
    'ignore-term': bad('ignore-term'),
    'never-read': bad('never-read'),
    'stop-itself': bad('stop-itself'),
    'fork-grandchild': bad('fork-grandchild'),
    'setsid-grandchild': bad('setsid-grandchild'),
    'daemon-grandchild': bad('daemon-grandchild'),
    'family': bad('family'),
    'die-mid-message': bad('die-mid-message', timeout=AMPLE),
    'exit 0': bad('exit-code', '0', timeout=AMPLE),
    'exit 3': shell('echo no licence found >&2; exit 3'),
    'exit at once': shell('exit 3'),
    'stderr, then exit': shell('"$@" >/dev/null; exit 3', BADCHILD,
                               'flood-stderr', str(20 * MIB)),
    'stderr, then serves': shell(f'"{BADCHILD}" flood-stderr {20 * MIB} '
                                 '>/dev/null; exec "$@"'),
    'stderr all the time': shell('yes >&2 & exec "$@"'),
    'never reads much': ('call', 'echo', '-', '--timeout', BRIEF, '--',
                         sys.executable, '-c', ANSWERS_ONCE),
    'a line without end': shell('exec cat /dev/zero', timeout=NOISY),
    'notes without end': shell(
        """exec yes '{"jsonrpc":"2.0","method":"notifications/x"}'""",
        timeout=NOISY),
    'not found': ('tools', '--', 'no-such-command'),
    'no such path': ('tools', '--', '/nowhere/at/all'),
    'not executable': ('tools', '--', '/etc/passwd'),
    'a directory': ('tools', '--', '/etc'),
    'no such cwd': ('tools', '--cwd', '/nowhere/at/all', '--', 'true'),
}


class Case(threading.Thread):
    """One run of `fairlead call`, and what it left behind."""

    def __init__(self, words, stdin=b''):
        super().__init__(daemon=True)
        self.words, self.stdin = words, stdin
        self.mark = uuid.uuid4().hex
        self.done = self.left = self.peak = None
        self.start()

    def run(self):
        start = time.monotonic()
        with subprocess.Popen(
                (FAIRLEAD, 'call', *self.words), env=marked(self.mark),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as process:
            out, err = process.communicate(self.stdin, WAIT)
        self.left = family(self.mark)
        self.seconds = time.monotonic() - start
        self.done = Done(subprocess.CompletedProcess(
            self.words, process.returncode, out, err))


def marked(mark):
    return {**os.environ, MARK: mark}


def family(mark, name=None):
    """Who lives with this mark: pids; of one name only, if it is given."""
    found = []
    for place in Path('/proc').glob('[0-9]*'):
        try:
            if f'{MARK}={mark}'.encode() in (place / 'environ').read_bytes() \
                    and name in (None, (place / 'comm').read_text().strip()):
                found.append(int(place.name))
        except OSError:  # it went while we looked
            continue
    return found


def names(pids):
    """For people, who is left."""
    shown = []
    for pid in pids:
        try:
            shown.append((pid, Path(f'/proc/{pid}/cmdline').read_bytes()))
        except OSError:
            shown.append((pid, 'gone by now'))
    return shown


STARTED = {}


def outcome(name, code, *quotes, out=None):
    """How that case went: as promised, soon, and without a trace."""
    if not STARTED:
        for each, words in CASES.items():
            more = json.dumps({'text': LONG}) if '-' in words else ''
            STARTED[each] = Case(words, more.encode())
    case = STARTED[name]
    case.join(2 * WAIT)
    require(case.done is not None, name, 'did not end')
    case.done.expect(code, out)
    for quote in quotes:
        contains(case.done.err, quote)
    equal(names(case.left), [], f'{name}: left behind:')
    require(case.seconds < SOON, name, 'took', case.seconds, 's')
    return case.done


def test_garbage_and_nothing_else_is_no_answer_in_time():
    outcome('garbage', 5, BRIEF_TOLD, 'does it speak MCP on stdio?', out='')


def test_garbage_before_the_answers_is_passed_over():
    done = outcome('garbage first', 0, 'line is not a message')
    contains(done.out, 'pong')


def test_a_child_that_closes_its_stdout_is_gone_for_us():
    outcome('close-stdout', 2, 'closed its stdout', out='')


def test_children_that_only_a_kill_ends_are_killed():
    for name in ('ignore-term', 'never-read', 'stop-itself'):
        outcome(name, 5, BRIEF_TOLD, out='')


def test_no_grandchild_outlives_the_command():
    for name in ('fork-grandchild', 'setsid-grandchild', 'daemon-grandchild',
                 'family'):
        outcome(name, 5, BRIEF_TOLD, out='')


def test_a_child_that_dies_in_a_message_is_told_by_its_signal():
    outcome('die-mid-message', 2, f"'{BADCHILD[:40]}", 'signal 9', out='')


def test_a_child_that_exits_is_told_by_its_code_and_last_words():
    outcome('exit 0', 2, 'exited\n', out='')
    outcome('exit 3', 2, 'code 3', 'no licence found', out='')
    outcome('exit at once', 2, 'code 3', out='')


def test_a_flood_on_stderr_holds_nobody_up():
    done = outcome('stderr, then exit', 2, 'code 3', out='')
    require(len(done.err) < 10000, 'all of it is shown')
    for name in ('stderr, then serves', 'stderr all the time'):
        contains(outcome(name, 0).out, 'pong')


def test_a_child_that_reads_no_more_is_no_answer_in_time():
    outcome('never reads much', 5, BRIEF_TOLD, out='')


def test_output_without_end_is_no_answer_and_costs_no_memory():
    outcome('a line without end', 5, NOISY_TOLD, out='')
    outcome('notes without end', 5, NOISY_TOLD, out='')
    plain = peak(CASES['exit at once'])
    # a sanitizer frees nothing at once, and the child is tried twice
    most = 160 * MIB if 'ASAN_OPTIONS' in os.environ else 40 * MIB
    for words in (CASES['a line without end'], CASES['notes without end']):
        grown = peak(words) - plain
        require(grown < most, words, 'memory grew by', grown)


def peak(words):
    """The most memory `fairlead call` had, in bytes."""
    # the largest of its children is all that one process can ask for
    script = ('import resource, subprocess, sys;'
              'subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL);'
              'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    done = run(sys.executable, '-c', script, FAIRLEAD, 'call', *words)
    return int(done.expect(0).out) * 1024


def test_commands_that_cannot_be_run_are_told_by_name():
    outcome('not found', 2, 'no-such-command', 'PATH', out='')
    outcome('no such path', 2, '/nowhere/at/all', out='')
    outcome('not executable', 2, '/etc/passwd', 'May this user run it?',
            out='')
    outcome('a directory', 2, "'/etc'", out='')
    outcome('no such cwd', 2, '/nowhere/at/all', out='')


def test_a_mark_is_found_where_there_is_one():
    # for all of the above would hold if families could not be seen
    mark = uuid.uuid4().hex
    with started(FAIRLEAD, 'call', *bad('family')[:1], '--', BADCHILD,
                 'family', env=marked(mark)):
        until(lambda: len(family(mark, 'badchild')) == 5, 'five generations')
        equal(len(family(mark, 'fairlead-keeper')), 1)
        equal(len(family(mark)), 7)
    until(lambda: not family(mark), 'all are gone')


def kill_and_see(manner, count, numbers, seconds, to='fairlead'):
    """Signals to the command, or to its keeper, while the family lives.

    The era is given, for a child that goes while it is asked would be started
    once more."""
    mark = uuid.uuid4().hex
    with started(FAIRLEAD, 'call', 'tools', '--era', 'legacy', '--', BADCHILD,
                 manner, env=marked(mark)) as caller:
        until(lambda: len(family(mark, 'badchild')) == count, 'all are up')
        target, = (family(mark, to) if to != 'fairlead' else [caller.pid])
        start = time.monotonic()
        for number in numbers:
            os.kill(target, number)
            time.sleep(0.1)
        code = caller.wait(WAIT)
        at_exit = family(mark)
        try:
            until(lambda: not family(mark), 'all are gone',
                  seconds - (time.monotonic() - start))
        except Exception:
            left = names(family(mark))
            for pid in family(mark):
                os.kill(pid, signal.SIGKILL)
            bury()
            equal(left, [], f'{manner}: left after {seconds} s:')
        bury()
        return code, at_exit, caller.stderr.read().decode()


def bury():
    """Those whose parents we killed are ours now, and so are their graves."""
    def nobody_left():
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                continue
            return False
        except ChildProcessError:
            return True

    for case in STARTED.values():
        case.join(2 * WAIT)  # it buries its own
    until(nobody_left, 'all are buried')


FAMILIES = (('never-read', 1), ('fork-grandchild', 2),
            ('setsid-grandchild', 2), ('daemon-grandchild', 2), ('family', 5))


def test_a_killed_command_takes_all_with_it():
    for manner, count in (*FAMILIES, ('ignore-term', 1)):
        code, _, _ = kill_and_see(manner, count, [signal.SIGKILL], GONE)
        equal(code, -signal.SIGKILL)


def test_a_command_told_to_end_ends_all_first():
    for manner, count in FAMILIES:
        for number in (signal.SIGTERM, signal.SIGINT):
            code, left, _ = kill_and_see(manner, count, [number], GONE)
            equal((code, left), (130, []), f'{manner} {number}')
    code, left, _ = kill_and_see('ignore-term', 1, [signal.SIGINT], SOON)
    equal((code, left), (130, []))


def test_a_command_told_twice_goes_at_once_and_all_with_it():
    for manner, count in (('ignore-term', 1), ('daemon-grandchild', 2)):
        code, _, _ = kill_and_see(manner, count, [signal.SIGINT] * 2, GONE)
        require(code in (130, -signal.SIGINT), code)


def kill_keeper(manner, count):
    code, left, said = kill_and_see(manner, count, [signal.SIGKILL], GONE,
                                    to='fairlead-keeper')
    equal((code, left), (2, []), manner)
    contains(said, 'keeper')


def test_a_killed_keeper_takes_the_child_and_its_group_with_it():
    for manner, count in FAMILIES[:2]:
        kill_keeper(manner, count)


def environment(*options, **env):
    """What a child run with these options finds in its environment."""
    script = 'import json, os; json.dump(dict(os.environ), open("env", "w"))'
    with folder() as place:
        done = run(FAIRLEAD, 'call', 'tools', '--cwd', place, *options, '--',
                   sys.executable, '-c', script, env=env)
        done.expect(2)
        for value in env.values():
            require(value not in done.err, 'told to all:', done.err)
        return json.loads(Path(place, 'env').read_text(encoding='utf-8'))


SECRETS = ('GITHUB_TOKEN', 'OPENAI_API_KEY', 'AWS_SECRET_ACCESS_KEY',
           'AWS_SESSION_TOKEN', 'DATABASE_URL', 'PGPASSWORD', 'DB_PASS',
           'npm_config__auth', 'SSH_PRIVATE_KEY', 'GOOGLE_CREDENTIALS')
PLAIN = ('KEYBOARD', 'MONKEY_BUSINESS', 'PATIENCE', 'LC_EXAMPLE')


def test_secrets_are_not_passed_on_unless_named():
    ours = {name: f'value-of-{name}' for name in SECRETS + PLAIN}
    theirs = environment(**ours)
    equal([name for name in SECRETS if name in theirs], [])
    equal([name for name in PLAIN if name not in theirs], [])
    for name in ('PATH', 'HOME'):
        equal(theirs.get(name), os.environ.get(name))
    for named in ('GITHUB_TOKEN', 'OPENAI_API_KEY'):
        theirs = environment('--inherit-env', named, **ours)
        equal([name for name in SECRETS if name in theirs], [named])
        equal(theirs[named], ours[named])


def test_what_is_set_for_a_child_is_what_it_gets():
    theirs = environment('--env', 'COLOUR=blue', '--env', 'MY_TOKEN=a=b',
                         '--env', 'EMPTY=', COLOUR='red', MY_TOKEN='secret-x')
    equal([theirs.get(name) for name in ('COLOUR', 'MY_TOKEN', 'EMPTY')],
          ['blue', 'a=b', ''])


def test_a_child_runs_where_it_is_told():
    with folder() as place:
        run(FAIRLEAD, 'call', 'tools', '--cwd', place, '--', 'sh', '-c',
            'pwd -P > here').expect(2)
        equal(Path(place, 'here').read_text(encoding='utf-8').strip(),
              os.path.realpath(place))


def test_nothing_else_of_ours_is_inherited():
    ends = os.pipe()
    try:
        with started(FAIRLEAD, 'call', 'tools', '--', BADCHILD,
                     'print-inherited', pass_fds=ends,
                     restore_signals=False) as caller:  # SIGPIPE is ignored
            said = caller.stderr.read().decode()
            equal(caller.wait(WAIT), 2, 'exit')
    finally:
        for end in ends:
            os.close(end)
    contains(said, 'files 0 blocked 0 ignored 0')


def test_what_it_said_before_it_stopped_listening_is_heard():
    # our first message meets a broken pipe, or not: it is the same to us
    script = 'exec <&-; echo "usage: serve FILE"; exit 4'
    for _ in range(20):
        done = run(FAIRLEAD, 'call', 'tools', '--', 'sh', '-c', script)
        contains(done.expect(2).err, 'usage: serve FILE')
        contains(done.err, 'code 4')


def test_many_at_once_leave_nobody():
    kinds = (bad('family'), bad('daemon-grandchild'),
             bad('exit-code', '3', timeout=AMPLE), shell('exec "$@"'))
    cases = [Case(kinds[number % len(kinds)]) for number in range(20)]
    for number, case in enumerate(cases):
        case.join(2 * WAIT)
        require(case.done is not None, 'did not end:', case.words)
        case.done.expect((5, 5, 2, 0)[number % len(kinds)])
    for case in cases:
        equal(names(family(case.mark)), [], 'left behind:')


def test_no_zombie_was_left_to_anybody():
    try:
        stray = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    require(False, 'left to us:', stray)


if __name__ == '__main__':
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sys.exit(main(__name__))
