"""scenes.py - what the scripted server does: its tools, its resources, and the
manners of each revision.

Everything a tool does to its client is done through the call it was given, so
no scene knows of a transport. A call runs in a thread of its own and may wait:
for an answer, for time, for its cancellation.
"""
import json
import os
import sys
import threading
import time

L1, L2, L3, L4 = '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'
MODERN = '2026-07-28'
LEGACY = (L1, L2, L3, L4)
KEY = 'io.modelcontextprotocol/'
TASKS = KEY + 'tasks'
LEVELS = ('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert',
          'emergency')
STATE = 'state/of the+call=\u00e9"1"'  # not to be touched by anybody

TEXT = {'type': 'object', 'properties': {'text': {'type': 'string'}}}
NAME = {'type': 'object', 'properties': {'name': {'type': 'string'}},
        'required': ['name']}
COLOUR = {'type': 'object', 'properties': {'colour': {
    'type': 'string', 'title': 'Colour', 'oneOf': [
        {'const': 'r', 'title': 'Red'}, {'const': 'b', 'title': 'Blue'}]}}}
REGION = {'type': 'object', 'properties': {
    'region': {'type': 'string', 'x-mcp-header': 'Region'},
    'text': {'type': 'string'}}}
NUMBERS = {'type': 'array', 'items': {'type': 'integer'}}
PAGE = 'https://example.org/consent?id=1'
TOOLS = {}
WHEN_ASKED = {}  # what scenes_asking.py does


def spelled(message):
    """JSON as most write it, with spaces; FL_COMPACT=1 leaves them out."""
    tight = (',', ':') if os.environ.get('FL_COMPACT') else None
    return json.dumps(message, ensure_ascii=False, separators=tight).encode()


class Error(Exception):
    """An error to answer with."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.said = {'code': code, 'message': message}
        if data is not None:
            self.said['data'] = data


class Gone(Exception):
    """Nobody waits for the answer any more."""


def tool(since=L1, until=MODERN, **more):
    """Registers a scene as a tool of these revisions."""
    def register(scene):
        name = scene.__name__.rstrip('_')
        TOOLS[name] = (since, until, scene, {
            'name': name, 'description': name, 'inputSchema': TEXT, **more})
        return scene
    return register


def text(said):
    return {'content': [{'type': 'text', 'text': said}]}


@tool()
def echo(call, arguments):
    return text(arguments.get('text', ''))


@tool()
def slow(call, arguments):
    """In steps, of which it tells."""
    steps, said = arguments.get('steps', 3), arguments.get('text', '')
    for step in range(1, steps + 1):
        call.progress(step, steps, said)
        if arguments.get('log'):
            call.log('error', said)
        call.pause(arguments.get('delay', 0.05))
    return text(said)


@tool()
def wait(call, arguments):
    call.progress(1, 2, 'waiting')
    call.pause(3600)


@tool()
def log(call, arguments):
    """At every level that somebody may want to be spared."""
    for level in ('debug', 'info', 'warning', 'error'):
        call.log(level, f'a matter of {level}')
    return text('logged')


@tool()
def change(call, arguments):
    call.server.changed()
    return text('changed')


@tool()
def touch(call, arguments):
    call.server.updated(arguments['uri'])
    return text('touched')


@tool()
def mutter(call, arguments):
    """To its stderr."""
    for line in arguments['lines']:
        print(line, file=sys.stderr)
    sys.stderr.flush()
    return text('muttered')


@tool()
def die(call, arguments):
    call.progress(1, 2, 'dying')
    call.pause(0.1)
    call.die()
    raise Gone


def ask_name(call, schema=NAME):
    answer = call.ask('elicitation/create', {
        'message': 'Who are you?', 'requestedSchema': schema})
    if 'error' in answer:
        return f"error {answer['error']['code']}"
    content = answer['result'].get('content') or {}
    return ' '.join([answer['result']['action'], *map(str, content.values())])


@tool(L3, L4)
def elicit(call, arguments):
    return text(ask_name(call))


@tool(L3, L4)
def impatient(call, arguments):
    """Asks, and does not wait for the answer."""
    answer = call.ask('elicitation/create', {
        'message': 'Quick!', 'requestedSchema': NAME}, 0.3)
    return text('gave up' if answer is None else 'answered')


@tool()
def fail(call, arguments):
    raise Error(arguments['code'], 'as you wish', arguments.get('data'))


@tool()
def forget(call, arguments):
    """All sessions, this one too."""
    call.server.forget()
    return text('forgotten')


@tool()
def media(call, arguments):
    """What older clients have never seen."""
    return {'content': [
        {'type': 'audio', 'data': 'UklGRg==', 'mimeType': 'audio/wav'},
        {'type': 'resource_link', 'uri': 'test://a', 'name': 'a'}],
        'structuredContent': {'n': 1}}


@tool(L3)
def figures(call, arguments):
    """Nothing but what older clients cannot read."""
    return {'content': [], 'structuredContent': {'n': 1}}


@tool(L4, L4)
def titled(call, arguments):
    return text(ask_name(call, COLOUR))


@tool(L1, L4)
def sample(call, arguments):
    """Twice, and at the same time."""
    heard = {}

    def one(word):
        heard[word] = call.ask('sampling/createMessage', {
            'maxTokens': 9, 'messages': [{'role': 'user', 'content': {
                'type': 'text', 'text': word}}]})
    threads = [threading.Thread(target=one, args=(word,), daemon=True)
               for word in ('left', 'right')]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return text(' '.join(
        heard[word]['result']['content']['text'] if 'result' in heard[word]
        else f"error {heard[word]['error']['code']}"
        for word in ('left', 'right')))


@tool(L4, L4)
def url(call, arguments):
    """Opens when it was asked a second time."""
    if call.server.unlocked:
        return text('unlocked')
    call.server.unlocked = True
    raise Error(-32042, 'a page has to be seen', {'elicitations': [
        {'mode': 'url', 'message': 'Please consent', 'url': PAGE,
         'elicitationId': 'e1'}]})


@tool(L4, L4, execution={'taskSupport': 'required'})
def required(call, arguments):
    if 'task' not in call.params:
        raise Error(-32601, 'only as a task')
    call.server.tasks['t1'] = 0
    return {'task': task_state(call.server, 't1')}


@tool(MODERN)
def ask(call, arguments):
    return in_rounds(call, {'who': {'method': 'elicitation/create', 'params': {
        'mode': 'form', 'message': 'Who are you?', 'requestedSchema': NAME}}},
        lambda answers: answers['who']['content']['name'])


@tool(MODERN)
def consult(call, arguments):
    return in_rounds(call, {'model': {
        'method': 'sampling/createMessage', 'params': {
            'maxTokens': 9, 'messages': [{'role': 'user', 'content': {
                'type': 'text', 'text': 'left'}}]}}},
        lambda answers: answers['model']['content']['text'])


@tool(MODERN)
def where(call, arguments):
    return in_rounds(call, {'roots': {'method': 'roots/list'}},
                     lambda answers: answers['roots']['roots'][0]['uri'])


def in_rounds(call, questions, answer):
    """Asks in the first, answers in the second."""
    given = call.params.get('inputResponses')
    if not given:
        return {'resultType': 'input_required', 'inputRequests': questions,
                'requestState': STATE}
    if call.params.get('requestState') != STATE:
        raise Error(-32602, 'that was not the state')
    return text(answer(given))


def asks(questions, state=None):
    said = {'resultType': 'input_required'}
    if questions:
        said['inputRequests'] = questions
    if state is not None:
        said['requestState'] = state
    return said


def form(schema=NAME):
    return {'method': 'elicitation/create', 'params': {
        'mode': 'form', 'message': 'Who are you?', 'requestedSchema': schema}}


@tool(MODERN)
def dally(call, arguments):
    """Wants nothing but time, three times."""
    count = int(call.params.get('requestState', '0'))
    return asks({}, str(count + 1)) if count < 3 else text('dallied')


@tool(MODERN)
def endless(call, arguments):
    """Never has enough."""
    return asks({'who': form()})


@tool(MODERN)
def several(call, arguments):
    """A form, a sampling and the roots, all at once."""
    given = call.params.get('inputResponses')
    if given:
        return text(json.dumps(given, sort_keys=True))
    return asks({'a "key"': form(), 'roots': {'method': 'roots/list'},
                 'model': {'method': 'sampling/createMessage', 'params': {
                     'maxTokens': 9, 'messages': []}}})


@tool(MODERN)
def choices(call, arguments):
    given = call.params.get('inputResponses')
    if given:
        return text(json.dumps(given))
    return asks({'who': form({'type': 'object', 'properties': {'colours': {
        'type': 'array', 'items': {'type': 'string', 'enum': ['r', 'b']}}}})})


@tool(MODERN)
def page(call, arguments):
    """Is told late that its page was seen."""
    count = int(call.params.get('requestState', '0'))
    if count < 2:
        return asks({'seen': {'method': 'elicitation/create', 'params': {
            'mode': 'url', 'message': 'Please consent', 'url': PAGE}}},
            str(count + 1))
    return text('seen')


@tool(MODERN)
def fussy(call, arguments):
    """Wants a capability that its client may not have declared."""
    raise Error(-32021, 'not without', {
        'requiredCapabilities': arguments['wants']})


@tool(MODERN)
def replaced(call, arguments):
    """Does not know the revision, the first time."""
    if call.server.unlocked:
        return text('known')
    call.server.unlocked = True
    raise Error(-32022, 'Unsupported protocol version', {
        'supported': [MODERN], 'requested': MODERN})


@tool(MODERN)
def lengthy(call, arguments):
    """A task, and nothing but a task; `ask` makes it ask."""
    declared = call.meta[KEY + 'clientCapabilities'].get('extensions', {})
    if TASKS not in declared:
        raise Error(-32021, 'only as a task', {'requiredCapabilities': {
            'extensions': {TASKS: {}}}})
    number = f't{len(call.server.tasks) + 1}'
    call.server.tasks[number] = {'seen': 0, 'given': None, 'over': False,
                                 'ask': arguments.get('ask'),
                                 'never': arguments.get('never')}
    return {'resultType': 'task', **modern_task(call.server, number)}


def modern_task(server, number):
    """Works when it is first looked at, and is done then."""
    if number not in server.tasks:
        raise Error(-32602, 'Task not found')
    task, now = server.tasks[number], '2026-01-01T00:00:00Z'
    said = {'taskId': number, 'ttlMs': 60000, 'pollIntervalMs': 50,
            'status': 'working', 'createdAt': now, 'lastUpdatedAt': now}
    if task['over']:
        said['status'] = 'cancelled'
    elif task['never']:
        pass
    elif task['seen'] and task['ask'] and not task['given']:
        said.update(status='input_required', inputRequests={'who': form()})
    elif task['seen']:
        said.update(status='completed', result={**text(
            (task['given'] or {'who': {'content': {'name': 'nobody'}}})
            ['who']['content']['name']), 'resultType': 'complete'})
    return said


def see_task(call):
    said = modern_task(call.server, call.params['taskId'])
    call.server.tasks[said['taskId']]['seen'] += 1
    return said


def update_task(call):
    call.server.tasks[call.params['taskId']]['given'] = \
        call.params['inputResponses']
    return {}


def stop_task(call):
    call.server.tasks[call.params['taskId']]['over'] = True
    return {}


@tool(MODERN, outputSchema=NUMBERS)
def array(call, arguments):
    return {'content': [], 'structuredContent': [1, 2, 3]}


@tool(MODERN, inputSchema=REGION)
def header(call, arguments):
    """Insists on the header, where there are any."""
    if call.headers is not None and 'Mcp-Param-Region' not in call.headers:
        raise Error(-32020, 'Mcp-Param-Region is missing')
    return text(arguments['region'])


@tool(MODERN)
def end(call, arguments):
    """Ends every listen there is."""
    call.server.end_listens()
    return text('ended')


def task_state(server, number):
    """Works when it is first looked at, and is done then."""
    if number not in server.tasks:
        raise Error(-32602, 'Task not found')
    now = '2026-01-01T00:00:00Z'
    done = 'completed' if server.tasks[number] else 'working'
    return {'taskId': number, 'ttl': 60000, 'pollInterval': 50,
            'status': server.states.get(number, done),
            'createdAt': now, 'lastUpdatedAt': now}


# The methods.


def initialize(call):
    asked = call.params['protocolVersion']
    version = call.server.revision
    if 'insist' not in call.server.manners:
        version = min(asked, version)
    return {'protocolVersion': version,
            'capabilities': capabilities(call.server),
            'serverInfo': {'name': 'scripted', 'version': '1'},
            'instructions': 'Play your part.'}


def capabilities(server):
    said = {'tools': {'listChanged': True}, 'prompts': {}, 'logging': {},
            'resources': {'subscribe': True, 'listChanged': True}}
    if 'no-subscriptions' in server.manners:
        said.update(tools={}, resources={})
    if server.revision > L1:
        said['completions'] = {}
    if server.revision == L4:
        said['tasks'] = {'cancel': {}, 'list': {},
                         'requests': {'tools': {'call': {}}}}
    if server.revision == MODERN:
        said['extensions'] = {TASKS: {}}
    return said


def discover(call):
    return {'supportedVersions': [MODERN], 'instructions': 'Play your part.',
            'capabilities': capabilities(call.server),
            'ttlMs': 60000, 'cacheScope': 'public'}


def cached(call, said):
    if call.server.modern:
        said.update(ttlMs=0, cacheScope='private')
    return said


def list_tools(call):
    if 'roots-first' in call.server.manners:
        call.session.asked['roots'].get(timeout=60)
        call.server.manners.remove('roots-first')
    return cached(call, {'tools': [
        said for since, until, _, said in TOOLS.values()
        if since <= call.server.revision <= until]})


def call_tool(call):
    found = TOOLS.get(call.params.get('name'))
    if not found or not found[0] <= call.server.revision <= found[1]:
        raise Error(-32602, 'no such tool')
    return found[2](call, call.params.get('arguments') or {})


def list_resources(call):
    return cached(call, {'resources': [
        {'uri': f'test://{name}', 'name': name} for name in ('a', 'b')]})


def read(call):
    uri = call.params['uri']
    if uri not in ('test://a', 'test://b'):
        code = -32602 if call.server.modern else -32002
        raise Error(code, 'Resource not found', {'uri': uri})
    return cached(call, {'contents': [{'uri': uri, 'text': uri[-1]}]})


def subscribe(call):
    if 'refused' in call.params['uri']:
        raise Error(-32602, 'not this one')
    call.session.subscribed.add(call.params['uri'])
    return {}


def unsubscribe(call):
    call.session.subscribed.discard(call.params['uri'])
    return {}


def list_prompts(call):
    return cached(call, {'prompts': [{'name': 'hello'}]})


def get_prompt(call):
    if call.params.get('name') == 'asks':
        return asks({'model': {'method': 'sampling/createMessage', 'params': {
            'maxTokens': 9, 'messages': []}}})
    return {'messages': [{'role': 'user', 'content': {
        'type': 'text', 'text': 'hello'}}]}


def set_level(call):
    call.session.level = call.params['level']
    return {}


def ping(call):
    return {}


def get_task(call):
    state = task_state(call.server, call.params['taskId'])
    call.server.tasks[state['taskId']] += 1
    return state


def cancel_task(call):
    state = task_state(call.server, call.params['taskId'])
    if state['status'] in ('completed', 'failed', 'cancelled'):
        raise Error(-32602, 'it is over')
    call.server.states[state['taskId']] = 'cancelled'
    return {**state, 'status': 'cancelled'}


def task_result(call):
    state = task_state(call.server, call.params['taskId'])
    if state['status'] == 'input_required':
        return WHEN_ASKED['pondered'](call)
    return {**text('the task is done'), '_meta': {
        KEY + 'related-task': {'taskId': state['taskId']}}}


def listen(call):
    wanted = call.params['notifications']
    granted = {key: value for key, value in wanted.items()
               if key != 'resourceSubscriptions'}
    if 'resourceSubscriptions' in wanted:
        granted['resourceSubscriptions'] = [
            uri for uri in wanted['resourceSubscriptions']
            if 'refused' not in uri]
    call.granted = granted
    with call.server.listening(call):
        call.pause(3600, until=call.ended)
    return {'_meta': {KEY + 'subscriptionId': call.message['id']}}


BOTH = {'tools/list': list_tools, 'tools/call': call_tool,
        'resources/list': list_resources, 'resources/read': read,
        'prompts/list': list_prompts, 'prompts/get': get_prompt}
METHODS = {
    MODERN: {**BOTH, 'server/discover': discover,
             'subscriptions/listen': listen, 'tasks/get': see_task,
             'tasks/update': update_task, 'tasks/cancel': stop_task},
    **{revision: {**BOTH, 'initialize': initialize, 'ping': ping,
                  'logging/setLevel': set_level,
                  'resources/subscribe': subscribe,
                  'resources/unsubscribe': unsubscribe}
       for revision in LEGACY}}
METHODS[L4].update({'tasks/get': get_task, 'tasks/result': task_result,
                    'tasks/cancel': cancel_task})


def perform(call):
    """The result of a call."""
    method = METHODS[call.server.revision].get(call.message['method'])
    if not method:
        raise Error(-32601, 'Method not found')
    result = method(call)
    if call.server.modern:
        result.setdefault('resultType', 'complete')
        result.setdefault('_meta', {})[KEY + 'serverInfo'] = {
            'name': 'scripted', 'version': '1'}
    return result


def paused(seconds, over):
    """Waits; True if it was over before the time was."""
    end_ = time.monotonic() + seconds
    while time.monotonic() < end_:
        if over():
            return True
        time.sleep(0.01)
    return False
