"""scenes_asking.py - tools of legacy servers that ask in harder ways: again and
again, in the middle of something else, or as tasks.
"""
import threading

from scenes import KEY, L3, L4, NAME, PAGE, Error, ask_name, text, tool

RELATED = KEY + 'related-task'


def beside(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


@tool(L3, L4)
def rounds(call, arguments):
    return text(' '.join(ask_name(call) for _ in range(arguments['times'])))


@tool(L3, L4)
def overlap(call, arguments):
    """Asks once more while the first question is open."""
    said = {}

    def second():
        call.pause(0.3)
        said[2] = ask_name(call)
    other = beside(second)
    said[1] = ask_name(call)
    other.join()
    return text(f'{said[1]} {said[2]}')


@tool(L3, L4)
def restless(call, arguments):
    """Goes on while its question is open."""
    def work():
        call.pause(0.3)
        for step in (1, 2, 3):
            call.progress(step, 4, 'on and on')
    other = beside(work)
    said = ask_name(call)
    other.join()
    call.progress(4, 4, 'done')
    return text(said)


@tool(L4, L4)
def slow_page(call, arguments):
    """A page that takes its time: the second call is too early."""
    count = call.server.seen_pages = getattr(call.server, 'seen_pages', 0) + 1
    if count > 2:
        return text('unlocked')

    def done():
        call.pause(0.3)
        call.session.say({'method': 'notifications/elicitation/complete',
                          'params': {'elicitationId': 'e2'}})
    if count == 2:
        beside(done)
    raise Error(-32042, 'a page has to be seen', {'elicitations': [
        {'mode': 'url', 'message': 'Please', 'url': PAGE,
         'elicitationId': 'e2'}]})


@tool(L4, L4, execution={'taskSupport': 'required'})
def ponder(call, arguments):
    """A task that has a question before it can go on."""
    if 'task' not in call.params:
        raise Error(-32601, 'only as a task')
    call.server.tasks['t2'] = 0
    call.server.states['t2'] = 'input_required'
    return {'task': {'taskId': 't2', 'status': 'working', 'ttl': None,
                     'pollInterval': 50, 'createdAt': '2026-01-01T00:00:00Z',
                     'lastUpdatedAt': '2026-01-01T00:00:00Z'}}


def pondered(call):
    """What comes of it."""
    related = {RELATED: {'taskId': 't2'}}
    answer = call.ask('elicitation/create', {
        'message': 'Who are you?', 'requestedSchema': NAME, '_meta': related})
    call.server.states['t2'] = 'completed'
    return {**text(answer['result']['action']), '_meta': related}
