#!/usr/bin/env python3
"""apidoc.py [--check] [ROOT] - docs/api.md, made of the public headers.

The headers hold the contract of every function, and nothing is said twice: a
page for reading is made of them. One section per header, in its own order: the
story it opens with, then each comment with the declarations that follow it
without a blank line. Function names in the text become links.

Without --check the page is written; with it, it is an error if it would be
another one than is there.
"""
import re
import sys
import textwrap
from pathlib import Path

# In the order one wants to read them.
HEADERS = ('server', 'call', 'files', 'client', 'ask', 'gateway', 'auth', 'keys',
           'json', 'loop', 'options', 'types', 'version')
COLUMNS = 80

INTRO = """\
# API reference

Made of the headers in `include/fairlead/` by `tools/apidoc.py`; they are the
contract, and this is a way to read it. [guide.md](guide.md) teaches, with whole
programs; this page is for looking things up.

Words that hold everywhere: parameters are borrowed for the call unless it says
otherwise; a zero in a struct of options means the default; an
[`fl_status`](#fl_status) is not to be passed over, and the compiler warns of
it; a callback that comes "later" never comes from within the call that asked
for it; everything on one [`fl_loop`](#fl_loop) belongs to one thread.
"""


class Item:
    """A comment with the declarations that belong to it."""

    def __init__(self):
        self.comment, self.code, self.names = [], [], []

    def __bool__(self):
        return bool(self.comment or self.code)


def comment_text(lines):
    """What a comment says, without its stars."""
    text = '\n'.join(lines).strip()
    text = text.removeprefix('/*').removesuffix('*/')
    rows = [re.sub(r'^ \* ?', '', row) for row in text.split('\n')]
    return textwrap.dedent('\n'.join([rows[0].lstrip(), *rows[1:]])).strip()


def name_of(code):
    """What a declaration declares; None: nothing to be looked up."""
    for pattern in (r'^typedef (?:struct|enum) \w+ (\w+);$',
                    r'^typedef .*\}\s*(\w+);$', r'^#define (\w+)',
                    r'\b(fl_\w+)\s*\('):
        found = re.search(pattern, code, re.S)
        if found:
            return found.group(1)
    return None


def signature(code):
    """A function as one line, or aligned behind its parenthesis."""
    code = re.sub(r'\bFL_(API|MUST_USE)\b|\s*FL_PRINTF\(.*?\)', ' ', code)
    code = ' '.join(code.split()).replace(' ;', ';').replace('( ', '(')
    if len(code) <= COLUMNS:
        return code
    head, _, rest = code.partition('(')
    indent = len(head) + 1
    if indent > COLUMNS // 2:
        kind, _, name = head.rpartition(' ')
        head, indent = f'{kind}\n{name}', len(name) + 1
    lines, line = [], head + '('
    for word in rest.split(', '):
        piece = word if word.endswith(');') else word + ', '
        if len(line.rpartition('\n')[2] + piece.rstrip()) > COLUMNS:
            lines.append(line.rstrip())
            line = ' ' * indent
        line += piece
    return '\n'.join([*lines, line])


def is_noise(code):
    """Guards, attributes, and what is said again elsewhere."""
    return (not code or code.startswith(('#ifndef', '#include', '#endif',
                                         '#ifdef', 'extern "C"', '}', '#undef'))
            or re.match(r'#define \w+_H$', code) or '__attribute__' in code
            or re.fullmatch(r'struct \w+;', code) is not None)


def ends(lines):
    """Is the declaration in these lines whole?"""
    first, text = lines[0], '\n'.join(lines)
    if first.startswith('#'):
        return not lines[-1].endswith('\\')
    if first.startswith(('extern "C"', '}')):
        return True
    bare = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    return '/*' not in bare and bare.count('{') == bare.count('}') and \
        bare.rstrip().endswith(';')


def declarations(text):
    """Comments, declarations and blank lines, as they come."""
    lines = []
    for line in text.split('\n'):
        if not lines and not line.strip():
            yield 'blank', ['']
            continue
        lines.append(line)
        if lines[0].startswith('/*'):
            if '*/' in line:
                yield 'comment', lines
                lines = []
        elif ends(lines):
            yield 'code', lines
            lines = []


def read_items(text):
    """The items of a header; the first is its story."""
    items = [Item()]
    for kind, lines in declarations(text):
        if kind == 'blank' or (kind == 'comment' and items[-1].code) or \
                (kind == 'comment' and items[-1].comment):
            if items[-1]:
                items.append(Item())
        code = '\n'.join(lines)
        if kind == 'comment':
            items[-1].comment = lines
        elif kind == 'code' and not is_noise(code):
            items[-1].code.append(code)
            name = name_of(code)
            if name is not None:
                items[-1].names.append(name)
    return [item for item in items if item]


def linked(prose, known):
    """Prose as Markdown: names are code, and lead to where they are told."""
    def name(match):
        word = match.group(1)
        shown = f'`{match.group()}`'
        return f'[{shown}](#{word})' if word in known else shown

    parts = re.split(r'(`[^`]*`|"[^"\n]*")', prose)
    for i in range(0, len(parts), 2):
        part = re.sub(r'<fairlead/(\w+\.h)>', r'\1', parts[i])
        part = part.replace('<', '&lt;').replace('*', r'\*')
        part = re.sub(r'\bdocs/(\w+\.md)\b', r'[\1](\1)', part)
        part = re.sub(r'\b(%s)\.h\b' % '|'.join(HEADERS), r'[\1.h](#\1h)',
                      part)
        part = re.sub(r'\b(fl_\w+)(?:\(\))?', name, part)
        part = re.sub(r'\b(FL_[A-Z_]+)\b', r'`\1`', part)
        parts[i] = re.sub(r'(?<![\w`])_meta\b', '`_meta`', part)
    for i in range(1, len(parts), 2):
        if parts[i].startswith('"') and re.search(r'[<*_{]', parts[i]):
            parts[i] = f'`{parts[i]}`'
    return ''.join(parts)


def prose(text, known):
    """Paragraphs, and indented ones as code."""
    out = []
    for block in re.split(r'\n\s*\n', text):
        if block.startswith('    '):
            if out and out[-1].endswith('```'):
                out[-1] = out[-1][:-4] + '\n\n' + textwrap.dedent(block) + \
                    '\n```'
            else:
                out.append('```c\n' + textwrap.dedent(block) + '\n```')
        else:
            out.append(linked(block, known))
    return '\n\n'.join(out)


def is_map(code):
    """The table that an enum is made of."""
    return code.startswith('#define') and '_MAP(X)' in code


def table_of(code):
    rows = re.findall(r'X\((\w+), (-?\d+), "(.*?)"\)', code)
    return '\n'.join(['| | | |', '|---|---|---|',
                      *(f'| `FL_{name}` | {number} | {text} |'
                        for name, number, text in rows)])


def heading(names):
    if len(names) <= 2:
        return ', '.join(names)
    return f'{names[0]} … {names[-1]}'


def item_text(item, known, tables):
    """An item as Markdown."""
    names = list(item.names)
    shown = [code for code in item.code if not is_map(code)]
    for code in item.code:
        if is_map(code):
            tables.append(table_of(code))
    names = [name for name in names if not name.endswith('_MAP')]
    out = []
    if names:
        if len(names) > 1:
            out.append(''.join(f'<a id="{name}"></a>' for name in names))
        out.append(f'### {heading(names)}')
    made = [code for code in shown if '#define' in code and '{' in code]
    if made and tables:
        out.append(tables.pop())
        shown = [code for code in shown if code not in made]
    if shown:
        out.append('```c\n' + '\n'.join(
            code if code.startswith(('typedef', '#')) else signature(code)
            for code in shown) + '\n```')
    if item.comment:
        out.append(prose(comment_text(item.comment), known))
    return '\n\n'.join(out)


def split_story(item):
    """The headline of a header, and the rest of its story."""
    text = comment_text(item.comment)
    first, _, rest = text.partition('\n\n')
    return ' '.join(first.split()).partition(' - ')[2], rest


def links(names):
    return ', '.join(f'[{name}](#{name})' for name in sorted(names))


def index(headers):
    """The functions, by the noun they begin with; then the types."""
    nouns, types = {}, set()
    for code in (code for items in headers.values() for item in items
                 for code in item.code):
        name = name_of(code)
        if code.startswith('typedef'):
            types.add(name)
        elif name is not None and name.startswith('fl_'):
            nouns.setdefault(name.split('_')[1], set()).add(name)
    return '\n'.join([*(f'- {links(names)}' for _, names in
                        sorted(nouns.items())),
                      '', f'Types: {links(types)}'])


def page(folder):
    """The whole page."""
    headers = {name: read_items((folder / f'{name}.h').read_text())
               for name in HEADERS}
    known = {name for items in headers.values() for item in items
             for name in item.names}
    contents, sections = [], []
    for name, items in headers.items():
        headline, story = split_story(items[0])
        contents.append(f'| [{name}.h](#{name}h) | {headline} |')
        tables = []
        parts = [f'## {name}.h', linked(headline[0].upper() + headline[1:],
                                        known)]
        if story:
            parts.append(prose(story, known))
        parts += [item_text(item, known, tables) for item in items[1:]]
        sections.append('\n\n'.join(part for part in parts if part))
    return '\n\n'.join([INTRO.rstrip(), '| header | what is in it |\n|---|---|\n'
                        + '\n'.join(contents) +
                        '\n| [Index](#index) | every function, every type |',
                        *sections, '## Index',
                        index(headers)]) + '\n'


def missing(folder):
    """Headers that nobody told where to put."""
    there = {path.stem for path in folder.glob('*.h')} - {'fairlead'}
    return sorted(there.symmetric_difference(HEADERS))


def main(arguments):
    check = '--check' in arguments
    roots = [word for word in arguments if word != '--check']
    root = Path(roots[0] if roots else Path(__file__).parent.parent)
    folder, out = root / 'include' / 'fairlead', root / 'docs' / 'api.md'
    if missing(folder):
        print('apidoc: HEADERS is not what include/fairlead/ has:',
              *missing(folder))
        return 1
    text = page(folder)
    if not check:
        out.write_text(text)
    elif not out.exists() or out.read_text() != text:
        print('apidoc: docs/api.md is not what the headers say: run '
              'tools/apidoc.py')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
