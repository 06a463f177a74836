#!/usr/bin/env python3
"""test_bench.py - `fairlead bench`, the whole program, on every transport and
against servers that are slow, wrong, too small or dying.

How fast anything is nobody says here: runs are short and the machine is busy.
Prints TAP. FAIRLEAD and BADCHILD name the programs.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from flow import (FAIRLEAD, Fake, SLOW, Terminal, WAIT, alive, at_once,
                  contains, demo, equal, folder, free_port, main, require, run,
                  started, until)
from wire import identity, server_options

BADCHILD = os.environ.get('BADCHILD', 'badchild')
CHILD = (FAIRLEAD, 'demo', '--listen', 'stdio:')
SHORT = ('--warmup', '0.1', '--duration', '0.5')
# A run that ends as soon as there is something to see, however busy it is here.
ENOUGH = ('--warmup', '0.05', '--duration', '20', '--requests', '200')
TCP = 'tcp://127.0.0.1:0'
HTTP = 'http://127.0.0.1:0/mcp'
PERCENTILES = ('min', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99.9', 'p99.99',
               'max')


def bench(*words, **more):
    return run(FAIRLEAD, 'bench', *words, **more)


def check_times(times):
    values = [times[name] for name in PERCENTILES]
    equal(values, sorted(values), 'percentiles in order:')
    require(times['min'] <= times['mean'] <= times['max'], times)


def check(report):
    """What is true of every run; returns it."""
    check_times(report['latency_us'])
    require(report['latency_us']['count'] >= report['answers'], report)
    faults = {key: value for key, value in report['faults'].items()
              if key not in ('all', 'first')}
    equal(sum(faults.values()), report['faults']['all'], 'faults:')
    require(report['elapsed_s'] > 0, report['elapsed_s'])
    return report


def measure(*words, code=0):
    """A run as a script sees it."""
    done = bench('--json', *words).expect(code)
    equal(len(done.out.splitlines()), 1, 'lines of JSON:')
    return check(done.json())


def good(*words, asks='tools/call echo'):
    report = measure(*ENOUGH, *words)
    require(report['answers'] > 0, report)
    equal(report['faults']['all'], 0, report['faults'].get('first'))
    equal(report['plan']['ask'], asks)
    equal(report['server'].split()[0], 'fairlead-demo')
    equal(report['interrupted'], False)
    require(report['bytes_in'] > 0 and report['bytes_out'] > 0, report)
    return report


# Every way there is.

def test_sockets_are_measured():
    with folder() as place, demo(listen=(TCP, f'unix:{place}/s')) as serving:
        at_once(*serving.urls, do=lambda url: good(url, '-c', '4', '--depth',
                                                   '4'))


def test_http_is_measured_in_both_eras():
    def one(case):
        era, revision = case
        report = good(serving.urls[0], '-c', '4', '--depth', '2', '--era', era)
        equal(report['revision'], revision)
    with demo(listen=(HTTP,)) as serving:
        at_once(('legacy', '2025-11-25'), ('modern', '2026-07-28'), do=one)


def test_http2_is_measured():
    with demo(listen=(HTTP,)) as serving:
        good(serving.urls[0], '--http2', '-c', '2', '--depth', '16')


def test_the_http_of_2024_is_measured():
    with demo(listen=(HTTP,)) as serving:
        good(f'sse+{serving.urls[0]}', '-c', '2', '--depth', '4')


def test_websocket_is_measured():
    with demo(listen=('ws://127.0.0.1:0/mcp',)) as serving:
        good(serving.urls[0], '-c', '4', '--depth', '4')


def test_commands_are_measured_and_gone_afterwards():
    with folder() as place:
        mark = f'{place}/pids'
        report = good('-c', '2', '--depth', '4', '--', 'sh', '-c',
                      f'echo $$ >>{mark}; exec "$@"', 'sh', *CHILD)
        equal(report['target'].split()[0], 'sh')
        pids = Path(mark).read_text().split()
        equal(len(pids), 3, 'one to look at, and two to measure:')
        until(lambda: not any(alive(int(pid)) for pid in pids),
              'all children are gone')


def test_what_is_inside_tls_is_measured():
    with identity() as place, demo(
            *server_options(place),
            listen=('tls://127.0.0.1:0', 'https://127.0.0.1:0/mcp')) as serving:
        trust = ('--tls-ca', f'{place}/known.pem')
        for url in serving.urls:
            good(url, '-c', '2', *trust)
            contains(bench(url, *SHORT).expect(2, '').err, '--tls-ca')


def test_every_action_is_measured():
    def one(case):
        words, asks = case
        good(serving.urls[0], *words, asks=asks)
    with demo() as serving:
        at_once((('call', 'add', 'a=1', 'b=2'), 'tools/call add'),
                (('tools',), 'tools/list'),
                (('ping', '--era', 'legacy'), 'ping'),
                (('ping', '--era', 'modern'), 'server/discover'), do=one)


def test_a_server_without_echo_has_its_tools_listed():
    def answer(_):
        return [{'result': {'tools': [{'name': 'echo', 'inputSchema': {
            'type': 'object'}}]}}]  # which takes no text
    with Fake(answer) as fake:
        report = measure(fake.url, *ENOUGH)
        equal(report['plan']['ask'], 'tools/list')
        require(report['answers'] > 0, report)


def test_threads_share_the_work():
    with demo() as serving:
        report = good(serving.urls[0], '-c', '5', '--threads', '2')
        equal(report['plan']['threads'], 2)
        report = good(serving.urls[0], '--threads', '8')  # of one connection
        equal(report['plan']['connections'], 1)


# How much is asked.

def test_an_open_loop_keeps_its_rate():
    def one(arrivals):
        report = measure(serving.urls[0], '-c', '4', '--depth', '64', '--rate',
                         '200', '--warmup', '0.2', '--duration', '1',
                         '--arrivals', arrivals)
        plan = report['plan']
        equal((plan['loop'], plan['rate'], plan['arrivals']),
              ('open', 200, arrivals))
        equal(report['faults']['all'], 0)
        asked = report['latency_us']['count']
        want = (180, 220) if arrivals == 'even' else (140, 260)
        require(want[0] <= asked <= want[1], asked, 'requests in a second')
        check_times(report['service_us'])
        for name in PERCENTILES:
            require(report['latency_us'][name] >= report['service_us'][name] *
                    0.99, name, report)
    with demo() as serving:
        one('even')
        one('random')


def test_an_open_loop_on_two_threads_is_one_loop():
    with demo() as serving:
        report = measure(serving.urls[0], '-c', '3', '--depth', '64',
                         '--threads', '2', '--rate', '300', '--warmup', '0.1',
                         '--duration', '1')
        require(270 <= report['latency_us']['count'] <= 330, report)


def test_a_server_that_does_not_keep_up_is_told():
    words = ('call', 'slow', 'steps=1', 'delay_ms=50', '--rate', '1000',
             '--no-warmup', '--duration', '1')
    with demo() as serving:
        report = measure(serving.urls[0], *words, code=3)
        require(report['faults']['unsent'] > 100, report['faults'])
        require(report['latency_us']['max'] > report['service_us']['max'],
                'waiting does not count', report)
        contains(' '.join(report['notes']), 'does not keep up')
        done = bench(serving.urls[0], *words).expect(3)
        contains(done.out, '   never sent ')
        contains(done.out, '\n  service ')


def test_so_many_requests_are_made_and_no_more():
    def one(case):
        number, words = case
        report = measure(serving.urls[0], '--requests', number, '--duration',
                         '60', '--no-warmup', *words)
        equal(report['answers'], number)
        equal(report['latency_us']['count'], number)
        require(report['elapsed_s'] < 50, report['elapsed_s'])
    with demo() as serving:
        at_once((1, ()), (100, ()), (100, ('-c', '7', '--depth', '3')),
                (101, ('-c', '4', '--threads', '2')),
                (1, ('-c', '2', '--threads', '2')),
                (40, ('--rate', '400')), do=one)


def test_a_text_has_the_size_it_was_asked_for():
    def one(size):
        report = good(serving.urls[0], '--size', size, '--requests', '20')
        number = {'1': 1, '1M': 1 << 20}[size]
        equal(report['plan']['size'], number)
        require(report['bytes_out'] >= number * report['answers'], report)
    with demo() as serving:
        one('1')
        one('1M')


def test_a_text_goes_into_an_argument_that_is_left():
    def answer(message):
        if message['method'] == 'tools/list':
            return [{'result': {'tools': [{'name': 'tool', 'inputSchema': {
                'type': 'object', 'required': ['text'], 'properties': {
                    'kind': {'type': 'string', 'enum': ['a']},
                    'other': {'type': 'string'},
                    'text': {'type': 'string'}}}}]}}]
        return [{'result': {'content': []}}]
    with Fake(answer) as fake:
        measure(fake.url, 'call', 'tool', 'n=1', '--size', '30', *ENOUGH)
        measure(fake.url, 'call', 'tool', 'text=x', '--size', '5', *ENOUGH)
        sent = [message['params']['arguments'] for message in fake.heard
                if message['method'] == 'tools/call']
    equal(sent[0], {'n': 1, 'text': 'abcdefghijklmnopqrstuvwxyzabcd'})
    equal(sent[-1], {'text': 'x', 'other': 'abcde'})


# What goes wrong.

def test_wrong_usage_is_exit_1_and_is_named():
    url = 'tcp://127.0.0.1:1'
    for words, quote in (
            ((), 'which server?'), ((url, 'ecko'), 'To call a tool: call ecko'),
            ((url, 'call'), 'which tool?'), ((url, '--rate', '0'), "'0'"),
            ((url, '--arrivals', 'random'), '--rate'),
            ((url, '--duratoin', '1'), 'did you mean --duration?'),
            (('ftp://127.0.0.1:1',), 'ftp'),
            ((url, '--threads', '65'), 'at most 64')):
        contains(bench(*words).expect(1, '').err, quote)
    contains(bench().err, "Try 'fairlead bench --help'")


def test_a_text_without_a_place_is_exit_1():
    with demo() as serving:
        contains(bench(serving.urls[0], 'call', 'time', '--size',
                       '5').expect(1, '').err, 'no text argument')


def test_nobody_there_is_exit_2_with_advice():
    with folder() as place:
        for url in (f'tcp://127.0.0.1:{free_port()}', f'unix:{place}/none',
                    f'http://127.0.0.1:{free_port()}/mcp'):
            contains(bench(url).expect(2, '').err, 'Is the server running')
    contains(bench('--', 'no-such-command').expect(2, '').err,
             'Is it installed')
    contains(bench('--', BADCHILD, 'exit-code', '7').expect(2, '').err,
             'fairlead doctor')


def test_a_tool_that_fails_is_exit_3_before_there_is_a_load():
    with demo() as serving:
        for words, *parts in (
                (('call', 'fail', 'message=oh no'), 'oh no', 'failed'),
                (('call', 'ecko'), "no tool 'ecko'", 'Did you mean echo?'),
                (('call', 'qqqqqqqq', '--size', '1'), "no tool 'qqqqqqqq'"),
                (('call', 'add', 'a=x', 'b=1', '--revision', '2025-06-18'),
                 '/a: ')):
            done = bench(serving.urls[0], *words).expect(3, '')
            for part in parts:
                contains(done.err, part)
            require('Is the server running' not in done.err, done.err)
        require('panic' not in ''.join(serving.lines), serving.lines)


def test_a_first_answer_that_does_not_come_is_exit_5():
    with demo() as serving:
        done = bench(serving.urls[0], 'call', 'slow', 'steps=1',
                     'delay_ms=60000', '--timeout', f'{0.3 * SLOW:g}')
        contains(done.expect(5, '').err, '--timeout')
    contains(bench('--timeout', f'{0.3 * SLOW:g}', '--', BADCHILD,
                   'never-read').expect(5, '').err, '--timeout')


class Fickle:
    """Answers the first calls well, and the others as it is told."""

    def __init__(self, then, good_ones=1):
        self.then, self.left = then, good_ones

    def __call__(self, message):
        if message['method'] == 'tools/list':
            return [{'result': {'tools': [{'name': 'echo', 'inputSchema': {
                'type': 'object', 'properties': {
                    'text': {'type': 'string'}}}}]}}]
        self.left -= 1
        return [{'result': {'content': []}}] if self.left >= 0 \
            else self.then(message)


def test_answers_that_are_wrong_are_counted_by_kind():
    for reply, kind, part in (
            ({'error': {'code': -32000, 'message': 'no more'}}, 'errors',
             'no more'),
            ({'result': {'content': [], 'isError': True}}, 'tool_errors',
             'isError')):
        with Fake(Fickle(lambda _, reply=reply: [reply], 21)) as fake:
            report = measure(fake.url, '--requests', '50', '--no-warmup',
                             code=3)
        equal(report['answers'], 20)
        equal(report['latency_us']['count'], 20)
        equal((report['faults'][kind], report['faults']['all']), (30, 30))
        contains(report['faults']['first'], part)


def test_no_right_answer_at_all_is_exit_3():
    with Fake(Fickle(lambda _: [{'error': {
            'code': -32000, 'message': 'no <more>'}}])) as fake:
        done = bench(fake.url, '--requests', '5', '--no-warmup').expect(3, '')
        contains(done.err, 'no answer was right')
        contains(done.err, 'no <more>')


def test_answers_that_do_not_come_are_time_outs():
    with Fake(Fickle(lambda _: [], 6)) as fake:
        report = measure(fake.url, '--no-warmup', '--duration', '0.2',
                         '--timeout', f'{0.3 * SLOW:g}', code=3)
    equal(report['answers'], 5)
    equal(report['faults']['timeouts'], 1)
    contains(report['faults']['first'], '--timeout')


def test_more_connections_than_a_server_takes_is_told():
    with demo('--max-connections', '4',
              listen=(TCP, 'ws://127.0.0.1:0/mcp')) as serving:
        for url in serving.urls:
            done = bench(url, '-c', '8', *SHORT, '--timeout',
                         f'{SLOW:g}').expect(2, '')
            require(done.err.startswith('fairlead bench: '), done.err)


def test_a_server_that_dies_is_told_and_nothing_hangs():
    for listen in (TCP, HTTP, 'ws://127.0.0.1:0/mcp'):
        with demo(listen=(listen,)) as serving:
            with started(FAIRLEAD, 'bench', serving.urls[0], 'call', 'slow',
                         'steps=1', 'delay_ms=20', '-c', '2', '--depth', '4',
                         '--no-warmup', '--duration', f'{3 * SLOW:g}',
                         '--timeout', '2', '--json') as process:
                time.sleep(1.5 * SLOW)
                serving.process.kill()
                out, err = process.communicate(timeout=WAIT)
        require(process.returncode in (2, 3), process.returncode, err)
        if process.returncode == 3:
            report = check(json.loads(out))
            require(report['faults']['lost'] > 0, listen, report['faults'])
            require(report['answers'] > 0, report)
            if listen != HTTP:  # where nothing stands that could break
                require(report['outages'] > 0, listen, report)
        else:
            require(err, 'not a word')


def bereaved(connections, *words):
    """The report of a run whose first child is killed on the way; before the
    children of the run, one was started to look at."""
    with folder() as place:
        mark = Path(place) / 'pids'
        with started(FAIRLEAD, 'bench', '--no-warmup', '--duration',
                     f'{2 * SLOW:g}', '--timeout', '2', '--json', '-c',
                     connections, *words, '--', 'sh', '-c',
                     f'echo $$ >>{mark}; exec "$@"', 'sh', *CHILD) as process:
            until(lambda: mark.exists() and
                  len(mark.read_text().split()) == 1 + connections,
                  'they are started')
            time.sleep(0.5 * SLOW)
            os.kill(int(mark.read_text().split()[1]), signal.SIGKILL)
            out, err = process.communicate(timeout=WAIT)
    equal(process.returncode, 3, err)
    report = check(json.loads(out))
    require(report['deserted'] and report['answers'] > 0, report)
    return report


def test_a_child_that_dies_is_told():
    report = bereaved(1)
    require(report['elapsed_s'] < 2 * SLOW, report['elapsed_s'])
    require(any('for good' in note for note in report['notes']), report)


def test_of_two_threads_one_may_lose_its_server():
    report = bereaved(2, '--threads', '2')
    require(report['elapsed_s'] > 1.9 * SLOW, report['elapsed_s'])


# How it ends before its time.

def interrupt(after, *words, number=signal.SIGINT):
    """(exit code, stdout, stderr) of a run that is told to stop."""
    with started(FAIRLEAD, 'bench', *words) as process:
        time.sleep(after * SLOW)
        process.send_signal(number)
        out, err = process.communicate(timeout=WAIT)
    return process.returncode, out.decode(), err.decode()


def test_an_interrupted_run_shows_its_figures():
    def one(number):
        code, out, _ = interrupt(1.5, serving.urls[0], '--no-warmup',
                                 '--duration', '600', '--json', number=number)
        equal(code, 130)
        report = check(json.loads(out))
        equal(report['interrupted'], True)
        require(0 < report['elapsed_s'] < 100, report['elapsed_s'])
        require(report['answers'] > 0, report)
        contains(report['notes'][0], 'interrupted')
    with demo() as serving:
        at_once(signal.SIGINT, signal.SIGTERM, do=one)


def test_an_interrupted_warm_up_has_no_figures():
    with demo() as serving:
        for words in ((), ('--rate', '1000000', 'call', 'slow', 'steps=1',
                           'delay_ms=20')):
            code, out, err = interrupt(1, serving.urls[0], '--warmup', '600',
                                       *words)
            equal((code, out), (130, ''), err)
            contains(err, 'before anything was measured')


def test_an_interrupted_run_leaves_no_child():
    with folder() as place:
        mark = f'{place}/pids'
        code, _, _ = interrupt(2, '-c', '2', '--no-warmup', '--duration',
                               '600', '--', 'sh', '-c',
                               f'echo $$ >>{mark}; exec "$@"', 'sh', *CHILD)
        equal(code, 130)
        pids = Path(mark).read_text().split()
        until(lambda: not any(alive(int(pid)) for pid in pids),
              'all children are gone')


# How it is told.

def test_people_get_a_table():
    with demo() as serving:
        done = bench(serving.urls[0], '-c', '2', '--warmup', '0.1',
                     '--duration', '1').expect(0)
    lines = done.out.splitlines()
    require(re.match(r'fairlead-demo \S+ \(\d{4}-\d\d-\d\d\), tcp://',
                     lines[0]), lines[0])
    contains(lines[1], 'tools/call echo: 2 connections, 1 request under way on '
             'each, closed loop, 1 thread; 1.0 s after 0.1 s of warm-up')
    for pattern in (r'  answers +[\d,]+$', r'  per second +[\d,]+$',
                    r'  faults +0$', r' +p50 +p90 +p95 +p99 +p99\.9 +max$',
                    r'  latency( +[\d.]+ (ns|us|ms|s)){6}$',
                    r'  all connections ready after .*; generator \d+ % busy$',
                    r'A closed loop .*coordinated omission'):
        require(any(re.match(pattern, line) for line in lines), pattern, lines)
    equal(done.err, '')
    require('\x1b' not in done.out, 'colours where there is no terminal')


def test_a_terminal_shows_how_far_it_is():
    with demo() as serving, Terminal() as screen:
        with started(FAIRLEAD, 'bench', serving.urls[0], '--warmup', '0.5',
                     '--duration', '1', stderr=screen.slave,
                     stdout=subprocess.DEVNULL) as process:
            seen = screen.read()
            equal(process.wait(WAIT), 0)
    contains(seen, 'measuring')


def test_a_page_needs_nothing_but_itself():
    with folder() as place, demo() as serving:
        path = f'{place}/report.html'
        done = bench(serving.urls[0], *ENOUGH, '--html', path, '--json')
        check(done.expect(0).json())
        page = Path(path).read_text(encoding='utf-8')
    contains(page, '<!doctype html>')
    equal(page.count('<svg'), page.count('</svg>'))
    equal(page.count('<svg'), 3)
    for part in ('http://', 'https://', '<script', '<link', '<img', ' src=',
                 'url(', '@import', 'nan', 'inf"'):
        require(part not in page, part, 'is in the page')


def test_a_page_that_cannot_be_written_is_told_before_anything_else():
    done = bench('tcp://127.0.0.1:1', '--html', '/nowhere/at/all.html')
    contains(done.expect(1, '').err, '/nowhere/at/all.html')


def test_a_page_that_was_never_made_leaves_no_file():
    with folder() as place:
        bench('tcp://127.0.0.1:1', '--html', f'{place}/new').expect(2)
        equal(os.listdir(place), [])
        Path(f'{place}/old').write_text('kept')
        bench('tcp://127.0.0.1:1', '--html', f'{place}/old').expect(2)
        equal(Path(f'{place}/old').read_text(), 'kept')


def test_a_query_is_not_shown():
    with folder() as place, demo(listen=(HTTP,)) as serving:
        path = f'{place}/report.html'
        done = bench(f'{serving.urls[0]}?token=s3cr3t', *ENOUGH, '--json',
                     '--html', path).expect(0)
        page = Path(path).read_text(encoding='utf-8')
        require('s3cr3t' not in done.out + done.err + page, done.out)


def test_help_names_every_option_and_exit_status():
    out = bench('--help').expect(0).out
    for part in ('  0  ', '  1  ', '  2  ', '  3  ', '  5  ', '  130',
                 'Usage:', 'Examples:', '--rate', '--html'):
        contains(out, part)
    require(max(map(len, out.splitlines())) <= 80, 'too wide')
    contains(run(FAIRLEAD, '--help').expect(0).out, 'bench')


def test_the_manual_names_every_option():
    page = (Path(__file__).resolve().parents[2] / 'docs' / 'man' /
            'fairlead-bench.1').read_text(encoding='utf-8')
    for option in set(re.findall(r'(?<=[ ,])--([a-z0-9-]+)',
                                 bench('--help').out)):
        contains(page, f'Fl -{option}')


if __name__ == '__main__':
    sys.exit(main(__name__))
