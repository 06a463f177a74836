"""page.py - the plots of the newest results, in one HTML file.

The curves are drawn as SVG right here, so that the page needs no script, no
font and no other file, and opens from a folder as well as from a server. Colors
are variables, which the reader's choice of light or dark sets.
"""
import html
import math

STYLE = '''
:root { color-scheme: light dark; --ground: #fcfcfa; --ink: #22252a;
  --faint: #6b7078; --grid: #dcdcd6; --panel: #ffffff; --c0: #0b6e99;
  --c1: #b4530a; --c2: #4a7c2c; --c3: #7a3e9d; --good: #4a7c2c;
  --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b;
  --ink: #e4e5e7; --faint: #9aa0a8; --grid: #33373c; --panel: #1e2125;
  --c0: #5bbde4; --c1: #f0a35e; --c2: #93c572; --c3: #c79be6;
  --good: #93c572; --bad: #f2857d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem;
  background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; }
p { margin: .25rem 0 1rem; max-width: 46rem; }
.faint, small { color: var(--faint); }
.row { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; background: var(--panel);
  border: 1px solid var(--grid); border-radius: 6px; padding: .75rem; }
figure.wide { grid-column: 1 / -1; }
figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .25rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
svg text.ink { fill: var(--ink); }
svg.curves text { font-size: 14px; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .85rem;
  color: var(--faint); }
.key i { display: inline-block; width: 1rem; height: .2rem;
  vertical-align: middle; margin-right: .35rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; }
th, td { text-align: left; padding: .2rem .75rem .2rem 0;
  border-bottom: 1px solid var(--grid); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.missed { color: var(--bad); font-weight: 600; }
'''
WIDTH, HEIGHT = 440, 250
LEFT, RIGHT, TOP, BOTTOM = 72, 14, 12, 46
BAR, LABELS, SAID = 24, 270, 230


def escape(text):
    return html.escape(str(text))


def number(value):
    """Short: 12, 1.2 k, 3.4 M."""
    for limit, unit in (1e9, ' G'), (1e6, ' M'), (1e3, ' k'):
        if abs(value) >= limit:
            return f'{value / limit:.3g}{unit}'
    return f'{value:.3g}'


def binary(value):
    for power, unit in (30, 'GiB'), (20, 'MiB'), (10, 'KiB'):
        if value >= 1 << power:
            return f'{value / (1 << power):.3g} {unit}'
    return f'{value:.0f} B'


def size(value):
    """Decimal, as the ticks of its axis are."""
    for limit, unit in (1e9, 'GB'), (1e6, 'MB'), (1e3, 'kB'):
        if value >= limit:
            return f'{value / limit:.3g} {unit}'
    return f'{value:.0f} B'


def microseconds(value):
    if value >= 1e6:
        return f'{value / 1e6:.3g} s'
    return f'{value:.3g} µs' if value < 1000 else f'{value / 1000:.3g} ms'


class Scale:
    """From values to places, straight or by the logarithm."""

    def __init__(self, values, begin, end, log):
        low, high = min(values), max(values)
        self.begin, self.end, self.log = begin, end, log
        if log:
            self.low, self.high = math.log10(low), math.log10(high)
        else:
            self.low, self.high = 0, high * 1.08
        if self.high == self.low:
            self.high += 1

    def __call__(self, value):
        at = math.log10(value) if self.log else value
        return self.begin + (self.end - self.begin) * (
            at - self.low) / (self.high - self.low)

    def ticks(self):
        if self.log:
            first, last = math.floor(self.low), math.ceil(self.high)
            found = [10 ** power for power in range(first, last + 1)]
            return [tick for tick in found if self.low - 0.001 <=
                    math.log10(tick) <= self.high + 0.001]
        step = 10 ** math.floor(math.log10(self.high or 1))
        while self.high / step < 3:
            step /= 2
        while self.high / step > 7:
            step *= 2
        return [step * i for i in range(int(self.high / step) + 1)]


def widened(values):
    """To whole powers of ten, so that a logarithmic axis has its ticks."""
    return [10 ** math.floor(math.log10(min(values))),
            10 ** math.ceil(math.log10(max(values)))]


def grid(x, y, show_x, show_y, marks):
    parts = []
    for tick in y.ticks():
        at = y(tick)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" '
                     f'y2="{at:.1f}" stroke="var(--grid)"/>'
                     f'<text x="{LEFT - 6}" y="{at + 4:.1f}" '
                     f'text-anchor="end">{escape(show_y(tick))}</text>')
    for tick in marks:
        parts.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                     f'text-anchor="middle">{escape(show_x(tick))}</text>')
    return ''.join(parts)


def line(points, x, y, color, show_x, show_y, dashed):
    path = ' '.join(f'{x(a):.1f},{y(b):.1f}' for a, b in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ''
    dots = ''.join(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5" '
                   f'fill="{color}"><title>{escape(show_x(a))}: '
                   f'{escape(show_y(b))}</title></circle>' for a, b in points)
    return (f'<polyline points="{path}" fill="none" stroke="{color}" '
            f'stroke-width="2"{dash}/>{dots}')


def legend(names):
    return '<div class="key">' + ''.join(
        f'<span><i style="background:var(--c{i})"></i>{escape(name)}</span>'
        for i, name in enumerate(names)) + '</div>'


def chart(title, under, series, show_x=number, show_y=number, log_y=False):
    """`series` is {name: [(x, y)]}; the first is ours, the others dashed."""
    xs = sorted({a for points in series.values() for a, _ in points})
    ys = [b for points in series.values() for _, b in points]
    x = Scale(xs, LEFT + 8, WIDTH - RIGHT - 16, True)
    y = Scale(widened(ys) if log_y else ys, HEIGHT - BOTTOM, TOP, log_y)
    drawn = ''.join(line(points, x, y, f'var(--c{i})', show_x, show_y, i > 0)
                    for i, points in enumerate(series.values()))
    return (f'<figure><figcaption>{escape(title)}</figcaption>'
            f'{legend(series)}<svg class="curves" role="img" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" aria-label="{escape(title)}">'
            f'{grid(x, y, show_x, show_y, xs)}{drawn}'
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">{escape(under)}</text></svg></figure>')


def bar_line(i, name, at, color, said, begin, end):
    """What is said stands behind all bars, where no mark can strike it."""
    top = i * BAR
    return (f'<text class="ink" x="{begin - 8}" y="{top + 16}" '
            f'text-anchor="end">{escape(name)}</text>'
            f'<rect x="{begin}" y="{top + 4}" width="{max(at - begin, 1):.1f}" '
            f'height="{BAR - 8}" rx="2" fill="{color}"/>'
            f'<text x="{end + 8}" y="{top + 16}">'
            f'{escape(said)}</text>')


def bars(title, entries, log, mark=None):
    """`entries` are (name, value, what is said, color); `mark` has for each a
    place to be reached, or None."""
    width, begin, end = 900, LABELS, 900 - SAID
    values = [value for _, value, _, _ in entries]
    if log:
        low, high = widened([min(min(values), 1), max(values)])
        scale = Scale([low, high], begin, end, True)
    else:
        scale = Scale([0, max(values)], begin, end, False)
    drawn = ''
    for i, (name, value, said, color) in enumerate(entries):
        drawn += bar_line(i, name, scale(value), color, said, begin, end)
        if mark and mark[i]:
            at = scale(mark[i])
            drawn += (f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{i * BAR + 1}" '
                      f'y2="{(i + 1) * BAR - 1}" stroke="var(--ink)" '
                      'stroke-width="2"/>')
    return (f'<figure class="wide"><figcaption>{escape(title)}</figcaption>'
            f'<svg viewBox="0 0 {width} {len(entries) * BAR + 4}" role="img" '
            f'aria-label="{escape(title)}">{drawn}</svg></figure>')


def section(title, words, figures):
    if not figures:
        return ''
    return (f'<h2>{escape(title)}</h2><p>{escape(words)}</p>'
            f'<div class="row">{"".join(figures)}</div>')


def limits(part):
    """The rates that have a target, in parts of the reference's."""
    rows = [row for row in part['rows'] if row['target'].startswith('>=') and
            'ratio' in row]
    if not rows:
        return ''
    entries = [(row['what'], row['ratio'],
                f'{row["ratio"]:.2f} of {row["reference"]}, '
                f'target {row["limit"]:g}',
                f'var(--{"good" if row["verdict"] == "ok" else "bad"})')
               for row in rows]
    return section(
        'How near the limit', 'The rate in parts of that of a reference '
        'server, which does only what cannot be left out. The upright mark '
        'is the target; a bar that does not reach it is red.',
        [bars('Rate, in parts of the reference', entries, False,
              [row['limit'] for row in rows])])


def curves(growth, name, field, title, under, show_x, show_y, log_y):
    made = []
    for way, sides in growth.get(name, {}).items():
        series = {side: [(one['x'], one[field]) for one in points]
                  for side, points in sides.items()}
        made.append(chart(f'{title}, {way}', under, series, show_x, show_y,
                          log_y))
    return made


def tails(growth):
    """Ours alone: what share of the answers came in which time."""
    made = []
    for way, sides in growth.get('connections', {}).items():
        series = {what: [(one['x'], one[field]) for one in sides['fairlead']]
                  for what, field in (('p50', 'p50_us'), ('p95', 'p95_us'),
                                      ('p99', 'p99_us'),
                                      ('p99.9', 'p999_us'))}
        made.append(chart(f'Latency, {way}', 'connections', series, number,
                          microseconds, True))
    return made


def memory(growth):
    made = []
    for name, title in ('links', 'Idle TCP connections, greeted'), \
            ('sessions', 'Idle HTTP sessions, stream open'):
        points = [(one['x'], one['heap']) for one in growth.get(name, ())]
        if not points:
            continue
        each = points[0][1] / points[0][0]
        if name == 'links' and growth.get('many'):
            points.append((growth['many']['open'], growth['many']['heap']))
        made.append(chart(title, 'how many', {
            'heap of the server': points,
            f'{each:.0f} bytes each': [(x, x * each) for x, _ in points]},
            number, size, True))
    return made


def growth_sections(growth):
    return (
        section('Connections', 'Processor time of the server for one message, '
                'with one request under way on each connection. A single '
                'connection pays for waking the server with every message; '
                'beyond that the line should be flat. What rises in both '
                'curves is the kernel.',
                curves(growth, 'connections', 'server_cpu_us', 'CPU a message',
                       'connections', number, microseconds, False)) +
        section('Latency under that load', 'All connections ask at once and '
                'without pause, so the time grows with their number: it is '
                'the length of the queue.', tails(growth)) +
        section('Message size', 'Processor time for one call of echo, there '
                'and back, by the size of the request.',
                curves(growth, 'size', 'server_cpu_us', 'CPU a message',
                       'bytes in the request', binary, microseconds, True)) +
        section('Memory', 'The dashed line is what it would be if each cost '
                'what the first hundred cost. Where a process may not have as '
                'many descriptors, several share the last point.',
                memory(growth)))


def peers_section(part):
    rows = [row for row in part['rows'] if row['what'].endswith(', rate') and
            'ratio' in row]
    if not rows:
        return ''
    entries = [(row['what'].removesuffix(', rate'), row['ratio'],
                f'{row["ratio"]:.3g} times ({row["ours"]}, {row["beside"]})',
                f'var(--{"c0" if row["ratio"] >= 1 else "bad"})')
               for row in sorted(rows, key=lambda row: -row['ratio'])]
    return section('Beside others', 'How many times the rate of the other, '
                   'under the same load; the axis is logarithmic, and the '
                   'upright mark is where both are as fast. A red bar is one '
                   'that is faster than fairlead.',
                   [bars('Rate, in multiples of the other', entries, True,
                         [1] * len(entries))])


def instruction_section(record):
    made_with, counts = record
    entries = [(way, count, f'{count:,.0f}', 'var(--c0)')
               for way, count in counts.items()]
    return section('Instructions per message', 'Outside the kernel, counted '
                   f'by callgrind ({made_with}). A test fails when one of '
                   'them grows by a tenth.',
                   [bars('Instructions', entries, False)])


def heading(parts):
    lines = ''.join(
        f'<p class="faint">{escape(name)}, {escape(part["date"])}: '
        f'{escape(part["machine"])}. '
        + escape(', '.join(f'{what} {version}' for what, version in
                           part['versions'].items())) + '.</p>'
        for name, part in parts.items())
    return f'<h1>fairlead, measured</h1>{lines}'


def every_row(parts):
    body = ''
    for part in parts.values():
        for row in part['rows']:
            ratio = (f'{row["ratio"]:.3g} ({row["low"]:.3g} to '
                     f'{row["high"]:.3g})' if 'ratio' in row else '')
            beside = (f'{row["reference"]} {row["beside"]}' if row['beside']
                      else '')
            seen = ('<td class="missed">missed</td>'
                    if row['verdict'] == 'MISSED' else
                    f'<td>{escape(row["verdict"])}</td>')
            body += '<tr>' + ''.join(
                f'<td>{escape(cell)}</td>' for cell in (
                    row['what'], row['ours'], beside, ratio, row['target'])
                ) + seen + '</tr>'
    return ('<h2>Every row</h2><div class="scroll"><table><tr><th>scenario'
            '</th><th>fairlead</th><th>beside</th><th>ratio (range)</th>'
            f'<th>target</th><th></th></tr>{body}</table></div>')


def make(parts, record):
    body = heading(parts)
    if 'bench' in parts:
        growth = parts['bench']['runs'].get('growth', {})
        body += limits(parts['bench']) + growth_sections(growth)
    if 'peers' in parts:
        body += peers_section(parts['peers'])
    body += instruction_section(record) + every_row(parts)
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, '
            'initial-scale=1"><title>fairlead, measured</title>'
            f'<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n')
