"""digest.py - docs/benchmarks.md, made of the newest results.

What loses is shown like what wins: every row of the run is here, and those that
missed their target, or that somebody else does better, come first.
"""
from statistics import median

from harness import cells, show_rate, show_us

GROUPS = (
    ('Lines over TCP and pipes', ('tcp', 'stdio', 'start')),
    ('HTTP', ('http', 'http/2')),
    ('WebSocket', ('ws',)),
    ('The gateway', ('gateway',)),
    ('No transport at all', ('in',)),
    ('Memory and many connections', ('idle', '10000', '50000')),
)
HEAD = ('scenario', 'fairlead', 'beside', 'ratio (range)', 'target', '')
INTRODUCTION = '''\
# Benchmarks

Made by `make bench` and `make bench-peers`; do not edit. How it is measured, \
what the rows mean and what the method cannot tell is in [bench.md](bench.md). \
The curves are drawn in [{page}](../{page}), which opens in any browser; all \
rounds are in the file beside it.
'''
LIMITS = '''\
## Limits of the method

- Server and load share one machine, and speak over loopback: no network, no \
loss, no other distance than the kernel's.
- Each has one processor. Nothing here tells how anything scales over several.
- The sides take turns in rounds of 0.3 s (peers 1 s), so a disturbed second \
strikes all of them; on a machine that others use, rates are low and the \
tails of latency long for everybody. Trust ratios and processor time first.
- The load generator needs about as much per message as the fastest server, so \
rates cannot show a server that is faster than the references.
- Instructions are those outside the kernel, counted by callgrind in a build \
with -O2 and no link-time optimization, one request under way at a time.
'''


def table(head, rows):
    lines = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
    lines += ['| ' + ' | '.join(str(cell) for cell in row) + ' |'
              for row in rows]
    return '\n'.join(lines) + '\n'


def first_word(row):
    return row['what'].split()[0]


def shown(row):
    """With the name of what it is beside, unless the scenario has it."""
    made = cells(row)
    if row['beside'] and row['reference'] not in row['what']:
        made[2] = f'{row["reference"]} {row["beside"]}'
    made[5] = '**missed**' if row['verdict'] == 'MISSED' else row['verdict']
    return made


def loses(row):
    """By its target; or, of what has none, by a twentieth and more."""
    if row['target']:
        return row['verdict'] == 'MISSED'
    if 'ratio' not in row or row['reference'].startswith('raw'):
        return False
    return (row['ratio'] < 0.95 if row['more_is_better']
            else row['ratio'] > 1.05)


def about(name, part):
    versions = ', '.join(f'{what} {version}'
                         for what, version in part['versions'].items())
    return (f'- `make {name}` of {part["date"]}, {part["seconds"]} s, '
            f'{part["rounds"]} rounds. {part["machine"]}.\n'
            f'  {versions}.\n')


def losses(parts):
    rows = [row for part in parts.values() for row in part['rows']
            if loses(row)]
    text = '## Where it loses\n\n'
    if not rows:
        return text + 'Nowhere in this run.\n'
    return text + ('Targets that were missed, and everything but the '
                   'references that did better:\n\n') + table(
                       HEAD, map(shown, rows))


def is_compared(runs):
    """Rounds of several sides under load."""
    return isinstance(runs, dict) and all(
        isinstance(rounds, list) and rounds and 'p50_us' in rounds[0]
        for rounds in runs.values()) and runs


def middle(rounds, field):
    return median(one[field] for one in rounds)


def costs(part):
    """A line for each side of each scenario under load."""
    rows = []
    for name, runs in part['runs'].items():
        if not is_compared(runs) or name == 'start':
            continue
        for side, rounds in runs.items():
            rows.append([name, side, show_rate(middle(rounds, 'rate')),
                         *(show_us(middle(rounds, field)) for field in (
                             'server_cpu_us', 'p50_us', 'p95_us', 'p99_us',
                             'p999_us'))])
    return ('Medians of the rounds. `cpu` is the server\'s processor time for '
            'one message.\n\n'
            ) + table(('scenario', 'side', 'rate', 'cpu', 'p50', 'p95', 'p99',
                       'p99.9'), rows)


def instruction_table(record):
    made_with, counts = record
    return ('## Instructions per message\n\n'
            'Outside the kernel, by callgrind: what `bench/instructions.json` '
            f'has recorded ({made_with}), and what a test holds every change '
            'to. Way there and back; of the gateway its own, not its '
            "child's.\n\n") + table(
                ('way', 'instructions'),
                [(way, f'{count:,.0f}') for way, count in counts.items()])


def grouped(part):
    text, left = '## Beside the references\n\n', list(part['rows'])
    for title, words in GROUPS:
        rows = [row for row in left if first_word(row) in words and
                'times that at' not in row['what']]
        left = [row for row in left if row not in rows]
        if rows:
            text += f'### {title}\n\n{table(HEAD, map(shown, rows))}\n'
    return text, left


def show_size(size):
    if size >= 1 << 20:
        return f'{size >> 20} MiB'
    return f'{size >> 10} KiB' if size >= 1 << 10 else f'{size} B'


def curve_table(curves, what, show_x):
    """Columns are the places of the curve."""
    first = next(iter(curves.values()))['fairlead']
    rows = []
    for way, sides in curves.items():
        for side, points in sides.items():
            rows.append([way, side, *(show_us(one['server_cpu_us'])
                                      for one in points)])
    return table(('', what, *(show_x(one['x']) for one in first)), rows)


def growth_text(part, left):
    growth = part['runs'].get('growth')
    if not growth:
        return ''
    text = '## Growth\n\n'
    for name, title, show_x in (
            ('connections', 'Processor time for one message, by connections '
             'with one request under way on each', str),
            ('size', 'The same by the size of a message, two connections',
             show_size)):
        if name in growth:
            text += (f'{title}:\n\n' +
                     curve_table(growth[name], 'side', show_x) + '\n')
    text += memory_table(growth)
    return text + (table(HEAD, map(shown, left)) if left else '')


def memory_table(growth):
    rows = []
    for name, what in ('links', 'idle TCP link, greeted'), \
            ('sessions', 'idle HTTP session with its stream'):
        for one in growth.get(name, ()):
            rows.append([what, f'{one["x"]:,}', f'{one["heap"] / 1024:,.0f}',
                         f'{one["heap"] / one["x"]:.0f}'])
    many = growth.get('many')
    if many:
        rows.append([f'idle TCP link, in {many["servers"]} processes',
                     f'{many["open"]:,}', f'{many["heap"] / 1024:,.0f}',
                     f'{many["heap"] / max(many["open"], 1):.0f}'])
    return ('Heap of the server:\n\n' +
            table(('what', 'how many', 'KiB', 'bytes each'), rows) + '\n')


def json_text(part):
    """bench/json has a table of its own."""
    said = part['runs'].get('json')
    return f'## JSON\n\n```\n{said.rstrip()}\n```\n' if said else ''


def notes_text(parts):
    notes = [note for part in parts.values() for note in part['notes']]
    if not notes:
        return ''
    return '## Notes of the run\n\n' + ''.join(f'- {note}\n' for note in notes)


def peers_text(part):
    return ('## Beside others\n\n'
            'The same load on each that could be installed. The ratio is '
            'fairlead to the other: of a rate the multiple, of processor '
            'time, latency and memory the part.\n\n' +
            table(HEAD, map(shown, part['rows'])))


def make(parts, record, plots):
    sections = [INTRODUCTION.format(page=plots),
                ''.join(about(name.replace('peers', 'bench-peers'), part)
                        for name, part in parts.items()), losses(parts)]
    if 'bench' in parts:
        rows, left = grouped(parts['bench'])
        sections += [rows.rstrip() + '\n',
                     '## What a message costs\n\n' + costs(parts['bench']),
                     instruction_table(record),
                     growth_text(parts['bench'], left),
                     json_text(parts['bench'])]
    if 'peers' in parts:
        sections += [peers_text(parts['peers']),
                     '### What a message costs there\n\n' +
                     costs(parts['peers'])]
    sections += [notes_text(parts), LIMITS]
    return '\n'.join(section for section in sections if section)
