"""toolchains.py - foreign SDKs, installed once, or a reason why not.

Each class stands for one ecosystem. Making one installs what is pinned beside
this file into the cache folder, or raises Skip; afterwards it knows the
command lines of the scripts that use the SDK.

Scenarios run side by side, and want the same SDKs. So every folder of the
cache has a lock: who comes first installs, the others wait. A file that others
may be running is never written to, only replaced, and only by another one.
"""
import fcntl
import filecmp
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent

INSTALL_SECONDS = 300
BUILD_SECONDS = 600
VERSION_SECONDS = 30
# Offline, every scenario would wait for the same registry; one is enough.
REMEMBER_FAILURE_SECONDS = 600


class Sdk:
    """What servers made with it can do, unless a class says otherwise."""

    has_tasks = False
    subscribes = True
    logs_apart = False  # from the answer of the request it belongs to

    def need_http_server(self):
        """Skip, if what its HTTP servers stand on is not there."""


class Skip(Exception):
    """The scenario cannot run here; the reason is the message."""


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def last_line(text):
    return (lines_of(text) or ['no output'])[-1][:200]


def first_error(text):
    """Installers name the cause first, and then talk on."""
    for line in lines_of(text):
        if re.search(r'\berror\b', line, re.I):
            return line[:200]
    return last_line(text)


def run_to_end(command, seconds, **options):
    """(exit code, stdout, stderr); a time-out, or the end of this program,
    ends the whole process group."""
    with subprocess.Popen(command, text=True, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(timeout=seconds)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return None, out, err + f'\nerror: not done in {seconds} s\n'
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def need_program(name, least=None, ask='--version'):
    """Skips unless it is there, and at least of the version `least`."""
    path = shutil.which(name)
    if not path:
        raise Skip(f'{name} not found')
    if least:
        code, out, err = run_to_end([path, ask], VERSION_SECONDS)
        found = re.search(r'(\d+)\.(\d+)', out)
        if code != 0 or not found:
            raise Skip(f'{name} does not run: {last_line(err)}')
        if tuple(map(int, found.groups())) < least:
            raise Skip(f'{name} {found.group()} is older than '
                       + '.'.join(map(str, least)))
    return path


def install(what, command, folder, env=None):
    """Runs one step of an installation; any trouble is a reason to skip."""
    code, out, err = run_to_end([str(word) for word in command],
                                INSTALL_SECONDS, cwd=folder,
                                env={**os.environ, **(env or {})})
    if code != 0:
        raise Skip(f'{what} failed: {first_error(err + out)}')


def recent(path):
    return (path.exists() and
            time.time() - path.stat().st_mtime < REMEMBER_FAILURE_SECONDS)


@contextmanager
def alone(cache, name):
    """The folder of that name belongs to one process at a time."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f'{name}.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def once(cache, name, pins):
    """Yields the folder to install into, or None when that was done before.

    It is made anew when the pinned versions changed.
    """
    folder, failed = cache / name, cache / f'{name}.failed'
    done, wanted = folder / 'installed', pins.read_text()
    with alone(cache, name):
        if done.exists() and done.read_text() == wanted:
            yield None
            return
        if recent(failed):
            raise Skip(failed.read_text())
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        except Skip as reason:
            failed.write_text(str(reason))
            raise
        failed.unlink(missing_ok=True)
        done.write_text(wanted)


def copy_sources(source, folder):
    """Modules are looked for beside the script, so scripts move to them. What
    is the same already stays, and what was built of it stays fresh."""
    for path in source.rglob('*'):
        copy = folder / path.relative_to(source)
        if not path.is_file() or (copy.exists() and
                                  filecmp.cmp(path, copy, shallow=False)):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, f'{copy}.new')
        os.replace(f'{copy}.new', copy)


def install_npm(cache, name, source):
    """What a package.json names; the folder it is in, with the sources."""
    npm = need_program('npm')
    with once(cache, name, source / 'package.json') as folder:
        if folder:
            copy_sources(source, folder)
            install('npm install',
                    [npm, 'install', '--no-audit', '--no-fund',
                     '--no-package-lock', '--ignore-scripts',
                     '--fetch-retries=1', '--fetch-timeout=30000',
                     '--fetch-retry-mintimeout=1000',
                     '--fetch-retry-maxtimeout=3000'], folder)
    with alone(cache, name):
        copy_sources(source, cache / name)
    return cache / name


def install_pip(cache, name, pins):
    """A virtual environment with what is pinned; its interpreter."""
    if sys.version_info < (3, 10):
        raise Skip('python3 is older than 3.10')
    python = cache / name / 'venv' / 'bin' / 'python'
    with once(cache, name, pins) as folder:
        if folder:
            install('python3 -m venv',
                    [sys.executable, '-m', 'venv', 'venv'], folder)
            install('pip install',
                    [python, '-m', 'pip', 'install', '--quiet',
                     '--disable-pip-version-check', '--retries', '1',
                     '--timeout', '30', '--requirement', pins], folder)
    return python


class TypeScript(Sdk):
    """Both major versions, and server-everything, in one folder."""

    def __init__(self, cache, version):
        self.node = need_program('node', (20, 0) if version == 'v2'
                                 else (18, 0))
        self.folder = install_npm(cache, 'typescript', HERE / 'typescript')
        self.version = version
        self.has_tasks = version == 'v1'

    def need_http_server(self):
        """Both versions stand on @hono/node-server."""
        need_program('node', (20, 0))

    def script(self, role):
        return [self.node, str(self.folder / f'{role}_{self.version}.mjs')]

    def everything(self):
        package = 'node_modules/@modelcontextprotocol/server-everything'
        main = self.folder / package / 'dist' / 'index.js'
        return [self.node, str(main), 'stdio']


class Python(Sdk):
    """One virtual environment for each major version."""

    def __init__(self, cache, version):
        self.version = version
        # Servers of version 1 say that they do not, whatever they handle.
        self.subscribes = version != 'v1'
        self.python = install_pip(cache, f'python-{version}',
                                  HERE / 'python' / f'{version}.txt')

    def script(self, role):
        return [str(self.python), '-B',
                str(HERE / 'python' / f'{role}_{self.version}.py')]


class NodeWebSocket:
    """The ws package, and nothing of MCP."""

    def __init__(self, cache, _version):
        self.node = need_program('node', (18, 0))
        self.folder = install_npm(cache, 'websocket-node',
                                  HERE / 'websocket' / 'node')

    def script(self, role):
        return [self.node, str(self.folder / f'{role}.mjs')]


class PythonWebSocket:
    """The websockets package, and nothing of MCP."""

    def __init__(self, cache, _version):
        self.source = HERE / 'websocket' / 'python'
        self.python = install_pip(cache, 'websocket-python',
                                  self.source / 'pins.txt')

    def script(self, role):
        return [str(self.python), '-B', str(self.source / f'{role}.py')]


def build(what, command, folder, env):
    """What was fetched has to compile: trouble is a failure, not a skip."""
    code, _, err = run_to_end(command, BUILD_SECONDS, cwd=folder,
                              env={**os.environ, **env})
    if code != 0:
        sys.stderr.write(err)
        raise RuntimeError(f'{what}: {first_error(err)}')


class Rust(Sdk):
    """One program for both roles; built for speed, if `profile` says so."""

    logs_apart = True

    def __init__(self, cache, profile):
        fast = ['--release'] if profile == 'release' else []
        cargo = need_program('cargo')
        need_program('rustc', (1, 88))
        env = {'CARGO_NET_RETRY': '1', 'CARGO_HTTP_TIMEOUT': '30',
               'CARGO_TERM_COLOR': 'never'}
        source, target = HERE / 'rust', cache / 'rust'
        with once(cache, 'rust', source / 'Cargo.toml') as folder:
            if folder:
                copy_sources(source, folder)
                install('cargo fetch', [cargo, 'fetch', '--quiet'], folder,
                        env)
        with alone(cache, 'rust'):
            copy_sources(source, target)
            build('cargo build', [cargo, 'build', '--quiet', '--offline',
                                  '--target-dir', 'target', *fast], target,
                  env)
        self.program = (target / 'target' / ('release' if fast else 'debug') /
                        'interop')

    def script(self, role):
        return [str(self.program), role]


class Go(Sdk):
    """One program for both roles. The sums of what it needs are looked up
    when that is fetched, and kept in the cache with it."""

    def __init__(self, cache, _version):
        go = need_program('go', (1, 25), 'version')
        env = {'GOFLAGS': '-mod=mod -buildvcs=false', 'GOWORK': 'off',
               'GOTOOLCHAIN': 'local'}
        source, target = HERE / 'go', cache / 'go'
        with once(cache, 'go', source / 'go.mod') as folder:
            if folder:
                copy_sources(source, folder)
                install('go list',
                        [go, 'list', '-deps', '-f', '{{""}}', '.'], folder,
                        env)
        self.program = target / 'interop'
        with alone(cache, 'go'):
            for path in source.glob('*.go'):
                shutil.copy(path, target)
            build('go build', [go, 'build', '-o', 'interop.new', '.'], target,
                  {**env, 'GOPROXY': 'off'})
            os.replace(target / 'interop.new', self.program)

    def script(self, role):
        return [str(self.program), role]


def is_python2(path):
    try:
        code, out, _ = run_to_end(
            [path, '-c', 'import sys; print(sys.version_info[:2])'],
            VERSION_SECONDS)
    except OSError:
        return False
    return code == 0 and out.strip() == '(2, 7)'


def find_python2():
    """Distributions have dropped it; version managers have not."""
    named = os.environ.get('FAIRLEAD_PYTHON2')
    names = [named] if named else ['python2.7', 'python2', 'pypy2', 'pypy']
    managed = Path(os.environ.get('PYENV_ROOT') or Path.home() / '.pyenv')
    found = [shutil.which(name) for name in names]
    found += [] if named else sorted(managed.glob('versions/2.7*/bin/python2.7'))
    for path in found:
        if path and is_python2(str(path)):
            return str(path)
    raise Skip(f'{named} is no Python 2.7' if named else 'no Python 2.7 found')


class Autobahn:
    """The WebSocket suite, which is older than Python 3 and stays there. A
    virtual environment for Python 2 takes a tool of its own."""

    TOOL = 'virtualenv==20.21.1'  # the last that knows Python 2

    def __init__(self, cache, _version):
        python2 = find_python2()
        pins = HERE / 'autobahn.txt'
        home = cache / 'autobahn'
        pip = ['-m', 'pip', 'install', '--quiet',
               '--disable-pip-version-check', '--retries', '1',
               '--timeout', '30']
        self.wstest = str(home / 'suite' / 'bin' / 'wstest')
        with once(cache, 'autobahn', pins) as folder:
            if folder:
                tool = folder / 'tool' / 'bin' / 'python'
                install('python3 -m venv',
                        [sys.executable, '-m', 'venv', 'tool'], folder)
                install('pip install virtualenv', [tool, *pip, self.TOOL],
                        folder)
                install('virtualenv', [tool, '-m', 'virtualenv', '--quiet',
                                       '--python', python2, 'suite'], folder)
                install('pip install autobahntestsuite',
                        [folder / 'suite' / 'bin' / 'python', *pip,
                         '--requirement', pins], folder)


class H2spec:
    """The HTTP/2 suite. Its releases have the number 2 and its module has not,
    so that Go knows it by a commit alone: it is that of release 2.6.0."""

    def __init__(self, cache, _version):
        go = need_program('go', (1, 18), 'version')
        pins = HERE / 'h2spec.txt'
        self.h2spec = str(cache / 'h2spec' / 'h2spec')
        with once(cache, 'h2spec', pins) as folder:
            if folder:
                install('go install', [go, 'install', pins.read_text().strip()],
                        folder, {'GOBIN': str(folder), 'GOWORK': 'off',
                                 'GOFLAGS': '-mod=mod -buildvcs=false',
                                 'GOTOOLCHAIN': 'local'})
