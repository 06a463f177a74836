#!/usr/bin/env python3
"""test_faces.py - fairlead, started as one of the programs it stands in for.

Prints TAP. FAIRLEAD names the program. What becomes of each flag is a matter of
the unit tests; here it is what only a whole program has: names, streams, exit
statuses.
"""
import os
import shutil

from flow import FAIRLEAD, Skip, contains, equal, folder, main, require, run

NAMES = ('supergateway', 'mcp-proxy', 'mcp-remote')
URL = 'https://example.org/mcp'


def test_a_link_of_its_name_is_the_program():
    program = os.path.abspath(shutil.which(FAIRLEAD))
    with open(program, 'rb') as file:
        if file.read(2) == b'#!':
            raise Skip('a script stands in its place, under its own name')
    with folder() as place:
        for name in NAMES:
            link = os.path.join(place, name)
            os.symlink(program, link)
            said = run(link, '--version').expect(0).out
            contains(said, f'as {name}')


def test_help_teaches_and_names_every_program():
    general = run(FAIRLEAD, '--help').expect(0).out
    for name in NAMES:
        contains(general, name)
        help_text = run(FAIRLEAD, name, '--help').expect(0).out
        for part in ('Usage:', 'Examples:', '--show', 'Flags, and what'):
            contains(help_text, part)
        require(max(map(len, help_text.splitlines())) <= 80, 'too wide', name)
        require(not any(line.endswith(' ') for line in help_text.splitlines()),
                'blanks at the end of a line', name)


def test_help_of_mcp_proxy_is_that_of_both():
    said = run(FAIRLEAD, 'mcp-proxy', '--help').expect(0).out
    contains(said, 'of npm;')
    contains(said, 'of Python;')
    contains(said, '--tunnelSubdomain')
    contains(said, '--named-server-config')


def test_show_prints_the_line_on_stdout_and_warnings_on_stderr():
    done = run(FAIRLEAD, 'supergateway', '--show', '--stdio', 'a').expect(0)
    equal(done.out, 'fairlead serve --until-stdin-ends --listen '
                    'http://127.0.0.1:8000/mcp '
                    "--message-path /message --inherit-env '*' -- a\n")
    contains(done.err, 'warning: supergateway listens on all addresses')


def test_show_keeps_secrets_to_itself():
    done = run(FAIRLEAD, 'mcp-remote', '--show', URL, '--header',
               'Authorization: Bearer ${HUSH}', env={'HUSH': 'secret'})
    require('secret' not in done.expect(0).out + done.err, done.out)
    contains(done.out, '--header-env Authorization=FAIRLEAD_HEADER_')


def test_what_is_wrong_is_said_with_status_1():
    for name in NAMES:
        done = run(FAIRLEAD, name, '--prot').expect(1)
        equal(done.out, '')
        contains(done.err, "unknown option '--prot'")
        contains(done.err, f"Try 'fairlead {name} --help'")


def test_a_mistyped_name_is_guessed():
    contains(run(FAIRLEAD, 'supergatway').expect(1).err,
             'did you mean supergateway?')


if __name__ == '__main__':
    main(__name__)
