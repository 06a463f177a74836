#!/usr/bin/env python3
"""test_jsonrpc_examples.py DRIVER DATA - a plain JSON-RPC 2.0 server, tried.

Runs the rpc-server driver over stdio with the examples of the JSON-RPC 2.0
specification, each in a process of its own and then all in one, and with some
cases the examples leave out. Prints TAP. Vectors are looked for in the
directory FAIRLEAD_DATA names, or else in DATA; when they are missing, their
tests are skipped and say so.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

from flow import WAIT

EXAMPLES = Path('jsonrpc') / 'jsonrpc2_spec_examples.json'
LIMIT = 16 << 20


class Mismatch(Exception):
    pass


def require(fact, *why):
    if not fact:
        raise Mismatch(' '.join(str(word) for word in why))


def serve(driver, text):
    """The lines the server answers to `text`, which it reads to the end."""
    if isinstance(text, str):
        text = text.encode()
    done = subprocess.run([driver, '--stdio'], input=text, timeout=2 * WAIT,
                          stdout=subprocess.PIPE, check=False)
    require(done.returncode == 0, 'exit', done.returncode)
    require(done.stdout[-1:] in (b'', b'\n'), 'the last line is cut short')
    return done.stdout.decode().splitlines()


def reduce(answer):
    """An answer as the vectors write it: of an error, the code counts."""
    if isinstance(answer, list):
        return sorted((reduce(one) for one in answer),
                      key=lambda one: json.dumps(one, sort_keys=True))
    answer = dict(answer)
    if 'error' in answer:
        answer['error'] = {'code': answer['error']['code']}
    return answer


def compare(expected, lines):
    require(len(lines) == 1, 'one line was expected, not', lines)
    got = json.loads(lines[0])
    require(reduce(got) == reduce(expected), 'want', expected, 'got', lines[0])
    for one in got if isinstance(got, list) else [got]:
        if 'error' in one:
            require(isinstance(one['error']['message'], str), 'no message')


def check_example(driver, vector):
    lines = serve(driver, vector['send'] + '\n')
    if vector['expect'] is None:
        require(lines == [], 'silence was expected, not', lines)
    else:
        compare(vector['expect'], lines)


def check_all_in_one(driver, vectors):
    lines = serve(driver, '\n'.join(v['send'] for v in vectors))
    answered = [v for v in vectors if v['expect'] is not None]
    require(len(lines) == len(answered), len(lines), 'answers')
    for vector, line in zip(answered, lines):
        compare(vector['expect'], [line])


def error_of(line):
    return json.loads(line)['error']


def check_ids_come_back_as_sent(driver):
    ids = ['1', '"1"', '-0', '1.50', '12345678901234567890' * 2,
           r'"\u0061\"\\"', '""']
    for token in ids:
        line, = serve(driver, '{"jsonrpc":"2.0","method":"get_data","id":'
                      + token + '}\n')
        require(f'"id":{token}' in line, token, 'came back in', line)


def check_numbers(driver):
    for params, result in (('[1.5, 1]', '0.5'), ('[1, 1]', '0'),
                           ('[1e3, 1]', '999'), ('[0, 2.25]', '-2.25'),
                           ('{"minuend":7,"subtrahend":9}', '-2')):
        line, = serve(driver, '{"jsonrpc":"2.0","method":"subtract","params":'
                      + params + ',"id":1}\n')
        require(f'"result":{result},' in line, params, 'gave', line)


def check_bad_params(driver):
    for method, params in (('subtract', '[1]'), ('subtract', '[1,2,3]'),
                           ('subtract', '["1",2]'), ('subtract', '{}'),
                           ('subtract', '{"minuend":1}'),
                           ('sum', '{"a":1}'), ('sum', '[1,null]'),
                           ('sum', '[1e308,1e308]')):
        line, = serve(driver, f'{{"jsonrpc":"2.0","method":"{method}",'
                      f'"params":{params},"id":1}}\n')
        require(error_of(line)['code'] == -32602, method, params, line)


def check_line_ends(driver):
    one = '{"jsonrpc":"2.0","method":"get_data","id":1}'
    for end in ('\n', '\r\n', '\r', ' \t\n\n \n'):
        require(len(serve(driver, (one + end) * 3)) == 3, repr(end))
    require(len(serve(driver, one)) == 1, 'no line end at the end')


def padded(size):
    """A request of exactly `size` bytes."""
    head, tail = '{"jsonrpc":"2.0","id":1,"method":"sum","params":[', '1]}'
    return head + ' ' * (size - len(head) - len(tail)) + tail


def check_size_limit(driver):
    lines = serve(driver, padded(LIMIT) + '\n' + padded(LIMIT + 1) + '\n'
                  + padded(100) + '\n')
    require(len(lines) == 3, len(lines), 'answers')
    require(json.loads(lines[0])['result'] == 1, lines[0])
    require(error_of(lines[1])['code'] == -32012, lines[1])
    require(error_of(lines[1])['data'] == {'limit': LIMIT}, lines[1])
    require(json.loads(lines[2])['result'] == 1, lines[2])


def check_bad_text(driver):
    lines = serve(driver, b'{"jsonrpc":"2.0","id":"\xff"}\n'
                  b'{"jsonrpc":"2.0","method":"sum","params":[1],"id":1}\n')
    require(error_of(lines[0])['code'] == -32700, lines[0])
    require(json.loads(lines[1])['result'] == 1, lines[1])


def check_batches(driver):
    line, = serve(driver, '[[],[1],{"jsonrpc":"1.0","method":"m","id":5},'
                  '{"jsonrpc":"2.0","method":"m","id":null}]\n')
    got = [(one['error']['code'], one['id']) for one in json.loads(line)]
    require(got == [(-32600, None), (-32600, None), (-32600, 5),
                    (-32600, None)], line)


def check_long_batch(driver):
    count = 20000
    one = '{"jsonrpc":"2.0","method":"sum","params":[1,2],"id":%d}'
    line, = serve(driver, '[' + ','.join(one % n for n in range(count))
                  + ']\n')
    answers = json.loads(line)
    require([answer['id'] for answer in answers] == list(range(count)), 'ids')


def check_responses_stay_unanswered(driver):
    lines = serve(driver, '{"jsonrpc":"2.0","id":1,"result":1}\n'
                  '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}\n'
                  '{"jsonrpc":"2.0","id":1,"error":1}\n'
                  '[{"jsonrpc":"2.0","id":1,"result":1}]\n')
    require(lines == [], lines)


OWN = (check_ids_come_back_as_sent, check_numbers, check_bad_params,
       check_line_ends, check_size_limit, check_bad_text, check_batches,
       check_long_batch, check_responses_stay_unanswered)


def examples(data):
    """(name, check) of each; a check of None is skipped."""
    path = data / EXAMPLES
    if not path.is_file():
        print(f'SKIPPED: {path} is not there', file=sys.stderr)
        return [('examples of the specification', None)]
    vectors = json.loads(path.read_text(encoding='utf-8'))['vectors']
    found = [(v['id'], lambda driver, v=v: check_example(driver, v))
             for v in vectors]
    return found + [('all examples in one process',
                     lambda driver: check_all_in_one(driver, vectors))]


def main(driver, data):
    data = Path(os.environ.get('FAIRLEAD_DATA') or data)
    tests = examples(data) + [
        (check.__name__.partition('_')[2].replace('_', ' '), check)
        for check in OWN]
    failures = 0
    print(f'1..{len(tests)}')
    for number, (name, check) in enumerate(tests, 1):
        if check is None:
            print(f'ok {number} - {name} # SKIP {EXAMPLES.name} is missing')
            continue
        try:
            check(driver)
            print(f'ok {number} - {name}')
        except (Mismatch, KeyError, ValueError, TypeError,
                subprocess.TimeoutExpired) as why:
            failures += 1
            print(f'not ok {number} - {name}')
            print(f'# {type(why).__name__}: {str(why)[:500]}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2]))
