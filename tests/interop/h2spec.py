"""h2spec.py - h2spec's cases of HTTP/2 and HPACK, and a load of requests.

The suite plays the client, in strict mode. http2-host answers whole requests
only, so that it hears each verdict of the codec; our demo is what users run,
and many a case is over for it before the fault comes. Each chapter is one
result here; a case that is not right is named, and so is one that need not be,
with the reason. h2spec is of RFC 7540, and where RFC 9113 says otherwise we
are with the latter.
"""
import re
import shutil
import tempfile
import xml.etree.ElementTree as Xml
from pathlib import Path

from serving import free_port, serving
from toolchains import last_line, run_to_end

SUITE_SECONDS = 300
LOAD_SECONDS = 120
ALL_CASES = 147
REQUESTS = 20000

UNRANKED = 'RFC 9113 5.3.2 takes priorities away, and with them this rule'
BY_HEAD = 'it answers such a request by its head, before the fault comes'

HOST_MAY_FAIL = {
    ('http2/5.3.1', 'Sends HEADERS frame that depends on itself'): UNRANKED,
    ('http2/5.3.1', 'Sends PRIORITY frame that depend on itself'): UNRANKED,
}
DEMO_MAY_FAIL = {
    **HOST_MAY_FAIL,
    ('http2/3.5', 'Sends invalid connection preface'):
        'what does not begin as HTTP/2 is answered in HTTP/1.1',
    ('http2/5.1', 'closed: Sends a DATA frame after sending RST_STREAM '
                  'frame'): BY_HEAD,
    ('http2/5.1', 'closed: Sends a HEADERS frame after sending RST_STREAM '
                  'frame'): BY_HEAD,
    ('http2/6.9', 'Sends a WINDOW_UPDATE frame with a flow control window '
                  'increment of 0 on a stream'): BY_HEAD,
    ('http2/6.9.1', 'Sends multiple WINDOW_UPDATE frames increasing the flow '
                    'control window to above 2^31-1 on a stream'): BY_HEAD,
    ('http2/8.1', 'Sends a second HEADERS frame without the END_STREAM '
                  'flag'): BY_HEAD,
    ('http2/8.1.2.1', 'Sends a HEADERS frame that contains a pseudo-header '
                      'field as trailers'): BY_HEAD,
    ('http2/8.1.2.6', 'Sends a HEADERS frame with the "content-length" header '
                      'field which does not equal the DATA frame payload '
                      'length'): BY_HEAD,
    ('http2/8.1.2.6', 'Sends a HEADERS frame with the "content-length" header '
                      'field which does not equal the sum of the multiple DATA '
                      'frames payload length'): BY_HEAD,
}


def read_report(path):
    """{case: what went wrong, or None}; a case is (section, title)."""
    if not path.is_file():
        return {}
    return {(case.get('package'), case.get('classname')):
            ' / '.join((case[0].text or case[0].tag).split('\n'))
            if len(case) else None
            for case in Xml.parse(path).iter('testcase')}


def chapter(case):
    """'http2/5.1.2' is of 'http2/5'."""
    return case[0].split('.')[0]


def tell_chapter(tap, who, name, report, may_fail):
    cases = {case: why for case, why in report.items() if chapter(case) == name}
    failed = {case: why for case, why in cases.items() if why is not None}
    wrong = len(failed.keys() - may_fail.keys())
    excused = len(failed) - wrong
    for case, why in failed.items():
        print(f'# {who} {case[0]}: {case[1]}: '
              + may_fail.get(case, f'wanted, and got: {why}'))
    aside = f', {excused} aside that need not be' if excused else ''
    tap.result(not wrong,
               f'{who}: the {len(cases)} cases of {name} are right{aside}',
               f'{wrong} are not')


def run_suite(tap, suite, who, port, may_fail):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'report.xml')
        _, out, err = run_to_end(
            [suite.h2spec, '--strict', '--host', '127.0.0.1', '--port',
             str(port), '--path', '/mcp', '--junit-report', str(path)],
            SUITE_SECONDS)
        report = read_report(path)
    tap.result(len(report) == ALL_CASES, f'{who}: all {ALL_CASES} cases ran',
               f'{len(report)} did; {last_line(out + err)}')
    for name in sorted(set(map(chapter, report))):
        tell_chapter(tap, who, name, report, may_fail)


def run_load(tap, port):
    fact = f'host: {REQUESTS} requests, a hundred at a time, are answered'
    h2load = shutil.which('h2load')
    if not h2load:
        tap.skip(fact, 'h2load not found (Debian: nghttp2-client)')
        return
    _, out, err = run_to_end(
        [h2load, '-c', '4', '-m', '100', '-n', str(REQUESTS),
         f'http://127.0.0.1:{port}/mcp'], LOAD_SECONDS)
    counts = re.search(r'requests: .*', out)
    good = f'{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout'
    tap.result(counts is not None and good in counts.group(), fact,
               counts.group() if counts else last_line(out + err))


def prove_h2spec(tap, tools, suite, _ways):
    """The codec by itself, and the server that it is in."""
    port = free_port()
    with serving([tools.http2_host, str(port)], port):
        run_suite(tap, suite, 'host', port, HOST_MAY_FAIL)
        run_load(tap, port)
    port = free_port()
    with serving([tools.fairlead, 'demo', '--listen',
                  f'http://127.0.0.1:{port}/mcp'], port):
        run_suite(tap, suite, 'demo', port, DEMO_MAY_FAIL)
