#!/usr/bin/env python3
"""embed.py OUTPUT JSON... - the metaschemas as a table of C.

Each file is a schema that names itself in $id. White space is left out; all
else is as it was published.
"""
import json
import sys
from pathlib import Path


def array(number, text):
    data = text.encode()
    lines = [', '.join(f'0x{byte:02x}' for byte in data[at:at + 12])
             for at in range(0, len(data), 12)]
    body = ',\n    '.join(lines)
    return f'static const unsigned char text_{number}[] = {{\n    {body}}};\n'


def main(output, *paths):
    arrays, rows = [], []
    for number, path in enumerate(paths):
        schema = json.loads(Path(path).read_text(encoding='utf-8'))
        uri = schema['$id'].rstrip('#')
        arrays.append(array(number, json.dumps(schema, separators=(',', ':'))))
        rows.append(f'    {{"{uri}", text_{number}, sizeof text_{number}}},\n')
    Path(output).write_text(
        '/* Made by tools/embed.py. */\n'
        '#include "schema/metaschema.h"\n\n' + '\n'.join(arrays) +
        '\nconst fl_metaschema fl_metaschemas[] = {\n' + ''.join(rows) +
        '    {NULL, NULL, 0},\n};\n', encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
