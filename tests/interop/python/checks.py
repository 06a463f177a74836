"""checks.py - what a Python client may expect of the demo server.

Both major versions of the SDK run these; a Peer hides in what they differ.
One line is printed for each check, "pass NAME", "fail NAME why" or "skip NAME
why", and run.py knows which must appear.
"""
import asyncio
import time
import traceback

from features import FEATURES, lacking

PATIENCE = 30
LEAVE = 1.5  # after two seconds the SDK would kill the server
TOOLS = {'echo', 'add', 'slow', 'fail', 'large'}
AWKWARD = 'Grüße, 你好, \U0001F600, "quoted"\n\\ \u2028 end'


def text_of(result):
    return result.content[0].text


async def check_list(peer):
    tools = (await peer.session.list_tools()).tools
    missing = TOOLS - {tool.name for tool in tools}
    assert not missing, f'missing: {missing}'


async def check_echo(peer):
    assert text_of(await peer.call('echo', text=AWKWARD)) == AWKWARD


async def check_add(peer):
    assert float(text_of(await peer.call('add', a=2, b=3))) == 5


async def check_progress(peer):
    told = []
    await peer.call('slow', steps=5, delay_ms=10, told=told)
    assert told == [1, 2, 3, 4, 5], told


async def check_fail(peer):
    result = await peer.call('fail', message='on purpose')
    assert peer.is_error(result) and 'on purpose' in text_of(result), result


async def check_large(peer):
    length = len(text_of(await peer.call('large', bytes=1_000_000)))
    assert length == 1_000_000, length


async def check_unknown(peer):
    try:
        result = await peer.call('no-such-tool')
    except peer.Error as error:
        assert error.error.code == -32602, error.error
    else:
        raise AssertionError(f'a result: {result}')


async def check_together(peer):
    texts = [f'number {n}' for n in range(50)]
    slow = asyncio.create_task(peer.call('slow', steps=2, delay_ms=50))
    answers = await asyncio.gather(
        *(peer.call('echo', text=text) for text in texts))
    assert [text_of(answer) for answer in answers] == texts
    await slow


async def check_cancel(peer):
    """No progress once a request sent after the cancellation is answered."""
    told = []
    cancel = await peer.start('slow', steps=1000, delay_ms=20, told=told)
    while not told:
        await asyncio.sleep(0.01)
    await cancel()
    await peer.call('echo', text='still there')
    before = peer.heard
    await asyncio.sleep(0.3)
    assert peer.heard == before, f'{peer.heard - before} notifications late'


async def check_changed(peer):
    async with peer.watch() as told:
        await peer.call('unlock')
        await told()
    names = {tool.name for tool in (await peer.session.list_tools()).tools}
    assert 'vault' in names, names


async def check_ping(peer):
    await peer.session.send_ping()


CHECKS = {name.removeprefix('check_'): check
          for name, check in list(globals().items())
          if name.startswith('check_')}
CHECKS.update(FEATURES)


async def report(name, check):
    try:
        await asyncio.wait_for(check, PATIENCE)
        print(f'pass {name}', flush=True)
    except Exception as error:  # whatever it is, the other checks still run
        why = ' '.join(str(error).split()) or repr(error)
        traceback.print_exc()
        print(f'fail {name} {why}', flush=True)


async def check_all(peer, revision):
    async def agreed():
        assert peer.revision == revision, peer.revision
    await report('revision', agreed())
    lacks = lacking(peer)
    for name, check in CHECKS.items():
        if name in lacks:
            print(f'skip {name} {lacks[name]}', flush=True)
        elif name != 'ping' or revision < '2026':
            await report(name, check(peer))


async def prove(connect, revision):
    """`connect()` is a context that yields a Peer."""
    async with connect() as peer:
        await check_all(peer, revision)
        started = time.monotonic()

    async def left():
        took = time.monotonic() - started
        assert took < LEAVE, f'it took {took:.1f} s'
    await report('leave', left())
