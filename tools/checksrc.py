#!/usr/bin/env python3
"""checksrc.py [ROOT] - the rules of the house that no compiler knows.

checksrc.py --symbols LIBRARY looks at a built static library instead, and
finds variables that could change: what the compiler put into a writable
section is a surer sign than anything read off the source.

Text inside comments and strings is blanked before code is looked at, so that
a comment may speak of malloc.
"""
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ('include', 'src', 'tests', 'bench', 'examples')
HEAP_ROOM = 'src/base/mem.c'
COLUMNS = 80
FILE_WARN, FILE_MAX, FUNCTION_MAX = 400, 600, 60

HEAP = ('malloc', 'calloc', 'realloc', 'reallocarray', 'aligned_alloc',
        'posix_memalign', 'free', 'strdup', 'strndup', 'asprintf', 'vasprintf')
UNSAFE = ('sprintf', 'vsprintf', 'strcpy', 'strcat', 'strtok', 'atoi', 'atol',
          'atoll', 'atof', 'alloca', 'gets')

LEFT_UNDONE = re.compile(r'\b(TODO|FIXME|XXX)\b')
NOT_CODE = re.compile(r'''
    /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
''', re.S | re.X)


def call_of(names):
    """A call, or the bare name handed on; a member of that name is neither."""
    name = '|'.join(names)
    return re.compile(rf'(?<![\w.>])(?:({name})\s*\(|'
                      rf'(?<=[(,=])\s*({name})\s*[,);])')


HEAP_CALL, UNSAFE_CALL = call_of(HEAP), call_of(UNSAFE)


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def code_of(text):
    """The text with comments and literals blanked; lines and columns stay."""
    return NOT_CODE.sub(blank, text)


def check_lines(path, text):
    faults = []
    for number, line in enumerate(text.split('\n'), 1):
        where = f'{path}:{number}'
        if len(line) > COLUMNS:
            faults.append(f'{where}: {len(line)} columns, {COLUMNS} are enough')
        if '\t' in line:
            faults.append(f'{where}: a tab')
        if line != line.rstrip():
            faults.append(f'{where}: white space at the end of the line')
        left = LEFT_UNDONE.search(line)
        if left:
            faults.append(f'{where}: {left.group()} belongs in an issue')
    if text and not text.endswith('\n'):
        faults.append(f'{path}: no newline at the end')
    return faults


def check_story(path, text):
    end = text.find('*/')
    if text.startswith('/*') and f'{path.name} - ' in text[:max(end, 0)]:
        return []
    return [f'{path}:1: no story; the file opens with a comment that says'
            f' "{path.name} - ..."']


def check_calls(path, code):
    faults = []
    for number, line in enumerate(code.split('\n'), 1):
        found = [(UNSAFE_CALL.search(line), 'is banned')]
        if str(path) != HEAP_ROOM:
            found.append((HEAP_CALL.search(line), 'is for base/mem.c alone'))
        for match, why in found:
            if match:
                name = match.group(1) or match.group(2)
                faults.append(f'{path}:{number}: {name} {why}')
    return faults


def check_functions(path, code):
    faults, start = [], None
    for number, line in enumerate(code.split('\n'), 1):
        if line.startswith('{'):
            start = number
        elif line.startswith('}') and start is not None:
            length = number - start - 1
            if length > FUNCTION_MAX:
                faults.append(f'{path}:{start}: a function of {length} lines,'
                              f' {FUNCTION_MAX} are enough')
            start = None
    return faults


def check_file(root, path):
    """(faults, warnings) of one file."""
    text = (root / path).read_text(encoding='utf-8', errors='replace')
    faults = check_lines(path, text) + check_story(path, text)
    if path.parts[0] not in ('src', 'include'):
        return faults, []
    code = code_of(text)
    faults += check_calls(path, code) + check_functions(path, code)
    length = text.count('\n')
    if length > FILE_MAX:
        faults.append(f'{path}: {length} lines, {FILE_MAX} are the ceiling')
    elif length > FILE_WARN:
        return faults, [f'{path}: {length} lines, {FILE_WARN} read better']
    return faults, []


def check(root):
    """(faults, warnings) of the tree at `root`."""
    faults, warnings = [], []
    for folder in FOLDERS:
        for suffix in ('*.c', '*.h', '*.cpp'):
            for path in sorted((root / folder).rglob(suffix)):
                bad, odd = check_file(root, path.relative_to(root))
                faults += bad
                warnings += odd
    return faults, warnings


def is_writable(section):
    """Constant tables of pointers are relocated once and then sealed."""
    return (section.startswith(('.data', '.bss', '.tdata', '.tbss', '*COM*'))
            and not section.startswith('.data.rel.ro'))


def mutable_symbols(listing):
    """Variables in the output of `objdump -t` that could be written to."""
    found, member = [], '?'
    for line in listing.splitlines():
        header = re.match(r'(\S+):\s+file format', line)
        if header:
            member = header.group(1).split('/')[-1]
        row = re.match(r'[0-9a-f]+ .{6}O (\S+)\s+[0-9a-f]+ (?:\.\w+ )?(\S+)',
                       line)
        if row and is_writable(row.group(1)):
            found.append(f'{member}: {row.group(2)} in {row.group(1)}')
    return found


def check_symbols(library):
    listing = subprocess.run(['objdump', '-t', library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    if ' O ' not in listing and ' F ' not in listing:
        return [f'{library}: no symbols at all; is this the library?']
    return [f'{symbol}: there are no mutable variables in this house'
            for symbol in mutable_symbols(listing)]


def main(arguments):
    if arguments[:1] == ['--symbols']:
        faults, warnings = check_symbols(arguments[1]), []
    else:
        faults, warnings = check(Path(arguments[0] if arguments else '.'))
    for warning in warnings:
        print(f'warning: {warning}')
    for fault in faults:
        print(fault)
    print(f'checksrc: {len(faults)} faults, {len(warnings)} warnings')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
