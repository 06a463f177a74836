"""autobahn.py - the Autobahn test suite against our two WebSocket drivers.

The suite plays the client to ws-echo and the server to ws-echo-client, and
writes an index of its verdicts. Each group of cases is one result here; a case
that is not OK is named. What is chosen leaves out what only takes long: of the
limits (9), the compression of one message after the other (12, 13) a sample.
"""
import json
import os
import subprocess
import tempfile
from pathlib import Path

from serving import free_port, serving
from toolchains import last_line, run_to_end

AGENT = 'fairlead'
SUITE_SECONDS = 3000
ALL_CASES = 500  # the suite says "over 500"

GOOD = {'OK', 'INFORMATIONAL'}
CHOSEN = [f'{group}.*' for group in (1, 2, 3, 4, 5, 6, 7, 10)] + [
    *(f'9.{n}.{m}' for n in (1, 2, 7, 8) for m in (1, 2, 3)),
    '9.3.4', '9.4.8', '9.5.4', '9.6.5', '12.1.11',
    *(f'12.{n}.{m}' for n in range(1, 6) for m in (2, 5)),
    *(f'13.{n}.{m}' for n in range(1, 8) for m in (1, 4)),
]


def chosen_cases():
    named = os.environ.get('FAIRLEAD_AUTOBAHN', '')
    if named == 'all':
        return ['*']
    return named.split(',') if named else CHOSEN


def write_spec(folder, **what):
    path = Path(folder, 'spec.json')
    path.write_text(json.dumps({
        'outdir': str(Path(folder, 'reports')), 'cases': chosen_cases(),
        'exclude-cases': [], 'exclude-agent-cases': {}, **what}),
        encoding='utf-8')
    return str(path)


def read_index(folder):
    """{case: verdict}, of an index that must be there."""
    path = Path(folder, 'reports', 'index.json')
    if not path.is_file():
        return {}
    return json.loads(path.read_text(encoding='utf-8')).get(AGENT, {})


def order(case):
    return [int(number) for number in case.split('.')]


def faults(index, group):
    """What is wrong with the cases of this group, a line for each."""
    for case in sorted(index, key=order):
        verdict = index[case]
        ends = verdict['behavior'], verdict['behaviorClose']
        if case.split('.')[0] == group and not GOOD.issuperset(ends):
            yield '{}: {}, its close {}, code {}'.format(
                case, *ends, verdict.get('remoteCloseCode'))


def tell(tap, role, index):
    wanted = {case.split('.')[0] for case in chosen_cases()} - {'*'}
    groups = sorted(wanted | {case.split('.')[0] for case in index}, key=int)
    for group in groups:
        count = sum(case.split('.')[0] == group for case in index)
        wrong = list(faults(index, group))
        for line in wrong:
            print(f'# {role} {line}')
        tap.result(count > 0 and not wrong,
                   f'{role}: the {count} cases of group {group} are OK',
                   f'{len(wrong)} are not')
    if not wanted:
        tap.result(len(index) > ALL_CASES, f'{role}: all cases have run',
                   f'{len(index)} have')


def prove_server(tap, tools, suite):
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen([tools.ws_echo, '0'], text=True,
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE) as server:
        try:
            url = f'ws://127.0.0.1:{int(server.stdout.readline())}'
            spec = write_spec(folder, servers=[{'agent': AGENT, 'url': url}])
            code, out, err = run_to_end(
                [suite.wstest, '--mode=fuzzingclient', f'--spec={spec}'],
                SUITE_SECONDS, cwd=folder)
            tap.result(code == 0 and server.poll() is None,
                       'server: the suite ran to its end',
                       f'exit code {code}; {last_line(out + err)}')
        finally:
            server.kill()
        tell(tap, 'server', read_index(folder))


def prove_client(tap, tools, suite):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        spec = write_spec(folder, url=f'ws://127.0.0.1:{port}')
        with serving([suite.wstest, '--mode=fuzzingserver', '--webport=0',
                      f'--spec={spec}'], port):
            code, _, err = run_to_end([tools.ws_echo_client, str(port)],
                                      SUITE_SECONDS)
        tap.result(code == 0, 'client: it ran to its end',
                   f'exit code {code}; {last_line(err)}')
        tell(tap, 'client', read_index(folder))


def prove_autobahn(tap, tools, suite, _ways):
    """Both sides of our codec."""
    prove_server(tap, tools, suite)
    prove_client(tap, tools, suite)
