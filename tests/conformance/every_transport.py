#!/usr/bin/env python3
"""every_transport.py SERVER CLIENT - what the conformance suite sees over HTTP, and
more, over every transport and in both eras, TAP.

A fact is a function that gets a peer. All facts hold for all transports, and
unless it says otherwise, for both eras, in the same words: that is the point.
"""
import base64
import contextlib
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the source folder stays as it is
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'flow'))
import flow  # noqa: E402
from flow import (  # noqa: E402
    WAIT, contains, equal, folder, free_port, require, started, until)
from wire import dial  # noqa: E402
from peers import (  # noqa: E402
    ALL, KEY, LEGACY, MODERN, TASKS, Channel, Http, lines, socket, stdio)

SKILLS = HERE / 'skills'
FACTS = []


def fact(*eras, **setting):
    """Registers a fact. `setting` is what the client is like."""
    def register(function):
        name = function.__name__.replace('_', ' ')
        FACTS.append((name, function, eras or (LEGACY, MODERN), setting))
        return function
    return register


@fact()
def all_tools_are_listed_and_the_first_needs_no_arguments(peer):
    tools = peer.ask('tools/list')['tools']
    equal(tools[0]['name'], 'test_simple_text')
    equal(len({tool['name'] for tool in tools}), 36)
    for tool in tools:
        require(tool['description'], tool)
        equal(tool['inputSchema']['type'], 'object')


@fact()
def a_schema_comes_as_it_was_written(peer):
    schema = next(tool['inputSchema'] for tool in
                  peer.ask('tools/list')['tools']
                  if tool['name'] == 'json_schema_2020_12_tool')
    equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema')
    equal(schema['$defs']['address']['$anchor'], 'addressDef')
    equal(schema['properties']['address'], {'$ref': '#/$defs/address'})
    equal(schema['else'], {'required': ['email']})
    equal(schema['additionalProperties'], False)


@fact()
def a_text_is_the_text(peer):
    equal(peer.text('test_simple_text'),
          'This is a simple text response for testing.')


@fact()
def an_image_and_a_sound_are_what_they_say(peer):
    image, = peer.call('test_image_content')['content']
    equal((image['type'], image['mimeType']), ('image', 'image/png'))
    require(base64.b64decode(image['data']).startswith(b'\x89PNG\r\n'), image)
    sound, = peer.call('test_audio_content')['content']
    equal((sound['type'], sound['mimeType']), ('audio', 'audio/wav'))
    require(base64.b64decode(sound['data']).startswith(b'RIFF'), sound)


@fact()
def resources_travel_inside_content(peer):
    equal(peer.call('test_embedded_resource')['content'], [{
        'type': 'resource', 'resource': {
            'uri': 'test://embedded-resource', 'mimeType': 'text/plain',
            'text': 'This is an embedded resource content.'}}])
    mixed = peer.call('test_multiple_content_types')['content']
    equal([part['type'] for part in mixed], ['text', 'image', 'resource'])
    equal(mixed[2]['resource']['text'], '{"test":"data","value":123}')


@fact()
def a_tool_that_fails_says_so_in_its_result(peer):
    result = peer.call('test_error_handling')
    equal(result['isError'], True)
    equal(result['content'][0]['text'],
          'This tool intentionally returns an error for testing')


@fact()
def wrong_calls_are_refused(peer):
    equal(peer.error('tools/call', name='no_such_tool')['code'], -32602)
    equal(peer.error('no/such/method')['code'], -32601)
    answer = peer.once('tools/call', name='greet', arguments={'name': 5})
    said = str(answer.get('error') or answer['result']['content'])
    contains(said, 'name')
    require('error' in answer or answer['result']['isError'], answer)


@fact()
def progress_comes_before_the_result(peer):
    peer.call('test_tool_with_progress', _meta={'progressToken': 'p-1'})
    told = [message['params'] for message in peer.heard
            if message['method'] == 'notifications/progress']
    equal([(one['progressToken'], one['progress'], one['total'])
           for one in told], [('p-1', n, 100) for n in (0, 50, 100)])


def logged(peer):
    return [message['params'] for message in peer.heard
            if message['method'] == 'notifications/message']


@fact()
def the_log_is_for_who_wants_it(peer):
    meta = {}
    if peer.era == LEGACY:
        equal(peer.ask('logging/setLevel', level='info'), {})
    else:
        meta = {KEY + 'logLevel': 'info'}
    peer.call('test_tool_with_logging', _meta=meta)
    equal([(one['level'], one['data']) for one in logged(peer)],
          [('info', 'Tool execution started'), ('info', 'Tool processing data'),
           ('info', 'Tool execution completed')])


@fact(MODERN)
def who_does_not_ask_for_the_log_gets_none(peer):
    equal(peer.text('test_logging_tool'), 'Logged')
    equal(logged(peer), [])


@fact(LEGACY)
def ping_is_answered_with_nothing(peer):
    equal(peer.ask('ping'), {})


@fact(MODERN)
def what_an_era_does_not_have_is_not_found(peer):
    for method in 'ping', 'logging/setLevel', 'resources/subscribe':
        equal(peer.error(method, uri='test://watched-resource')['code'],
              -32601, method)


@fact()
def the_model_is_asked(peer):
    equal(peer.text('test_sampling', prompt='Capital of "France"?'),
          'LLM response: Paris')
    equal(peer.asked[0]['params']['messages'], [{
        'role': 'user',
        'content': {'type': 'text', 'text': 'Capital of "France"?'}}])
    equal(peer.asked[0]['params']['maxTokens'], 100)


@fact()
def the_user_is_asked(peer):
    said = peer.text('test_elicitation', message='Who?')
    contains(said, 'User response: action=accept')
    contains(said, 'ada@example.org')
    equal(peer.asked[0]['params']['message'], 'Who?')


@fact(answers={'elicitation/create': {'action': 'decline'}})
def a_user_may_decline(peer):
    equal(peer.text('test_elicitation', message='Who?'),
          'User response: action=decline, content={}')


@fact(answers={'elicitation/create': {'action': 'cancel'}})
def a_user_may_not_say(peer):
    equal(peer.text('test_elicitation', message='Who?'),
          'User response: action=cancel, content={}')


@fact()
def forms_have_defaults_and_choices_of_all_kinds(peer):
    peer.call('test_elicitation_sep1034_defaults')
    fields = peer.asked[0]['params']['requestedSchema']['properties']
    equal({name: field['default'] for name, field in fields.items()},
          {'name': 'John Doe', 'age': 30, 'score': 95.5, 'status': 'active',
           'verified': True})
    peer.call('test_elicitation_sep1330_enums')
    fields = peer.asked[1]['params']['requestedSchema']['properties']
    equal(fields['untitledSingle']['enum'], ['option1', 'option2', 'option3'])
    equal(fields['titledSingle']['oneOf'][0],
          {'const': 'value1', 'title': 'First Option'})
    equal(len(fields['legacyEnum']['enumNames']), 3)
    equal(fields['titledMulti']['items']['anyOf'][2]['const'], 'value3')


@fact(capabilities={})
def what_a_client_cannot_do_is_not_asked(peer):
    error = peer.error('tools/call', name='test_missing_capability')
    equal(peer.asked, [])
    if peer.era == MODERN:
        equal(error['code'], -32021)
        equal(error['data']['requiredCapabilities'], {'sampling': {}})


@fact(capabilities={'sampling': {}})
def no_more_is_asked_than_a_client_can_do(peer):
    contains(peer.text('test_input_required_result_capabilities'), 'all that')
    equal([one['method'] for one in peer.asked], ['sampling/createMessage'])


@fact()
def a_name_a_model_and_roots_can_be_asked_for(peer):
    equal(peer.text('test_input_required_result_elicitation'), 'Hello, Alice!')
    contains(peer.text('test_input_required_result_sampling'), 'Paris')
    contains(peer.text('test_input_required_result_list_roots'), 'file:///home')


@fact()
def several_things_can_be_asked_for_at_once(peer):
    contains(peer.text('test_input_required_result_multiple_inputs'), 'Alice')
    equal(sorted(one['method'] for one in peer.asked),
          ['elicitation/create', 'roots/list', 'sampling/createMessage'])


@fact()
def rounds_follow_each_other_and_state_is_kept(peer):
    equal(peer.text('test_input_required_result_multi_round'),
          'Alice likes blue')
    contains(peer.text('test_input_required_result_request_state'), 'state-ok')
    equal(peer.text('test_input_required_result_tampered_state'),
          'Confirmed, and untouched')


def first_round(peer, tool):
    result = peer.once('tools/call', name=tool, arguments={})['result']
    equal(result['resultType'], 'input_required')
    return result


@fact(MODERN)
def a_state_that_was_changed_is_refused(peer):
    tool = 'test_input_required_result_tampered_state'
    state = first_round(peer, tool)['requestState']
    answer = {'confirm': {'action': 'accept', 'content': {'ok': True}}}
    other = ('B' if state[0] == 'A' else 'A') + state[1:]
    for bad in state + '-TAMPERED', state[:-2], other, 'nonsense':
        error = peer.error('tools/call', name=tool, arguments={},
                           inputResponses=answer, requestState=bad)
        equal(error['code'], -32602, bad)


@fact(MODERN)
def a_state_is_good_for_its_own_tool_only(peer):
    state = first_round(
        peer, 'test_input_required_result_request_state')['requestState']
    answer = {'confirm': {'action': 'accept', 'content': {'ok': True}}}
    error = peer.error('tools/call', arguments={}, inputResponses=answer,
                       name='test_input_required_result_tampered_state',
                       requestState=state)
    equal(error['code'], -32602)


@fact(MODERN)
def an_answer_that_will_not_do_is_asked_for_again(peer):
    tool = 'test_input_required_result_elicitation'
    good = {'action': 'accept', 'content': {'name': 'Alice'}}
    for bad in {'wrong': good}, {'user_name': 12345}, {}:
        answer = peer.once('tools/call', name=tool, arguments={},
                           inputResponses=bad)
        result = answer.get('result', {})
        require('error' in answer or
                result['resultType'] == 'input_required', bad, answer)
    result = peer.ask('tools/call', name=tool, arguments={}, inputResponses={
        'user_name': good, 'extra': {'action': 'accept', 'content': {}}})
    equal(result['content'][0]['text'], 'Hello, Alice!')


@fact()
def resources_are_listed_and_read(peer):
    found = {one['uri']: one for one in peer.ask('resources/list')['resources']}
    for uri in ('test://static-text', 'test://static-binary',
                'test://watched-resource'):
        require(found[uri]['name'], uri)
    said, = peer.ask('resources/read', uri='test://static-text')['contents']
    equal(said, {'uri': 'test://static-text', 'mimeType': 'text/plain',
                 'text': 'This is the content of the static text resource.'})
    said, = peer.ask('resources/read', uri='test://static-binary')['contents']
    equal(said['mimeType'], 'image/png')
    require(base64.b64decode(said['blob']).startswith(b'\x89PNG'), said)


@fact()
def a_template_is_filled_in(peer):
    templates = peer.ask('resources/templates/list')['resourceTemplates']
    contains([one['uriTemplate'] for one in templates],
             'test://template/{id}/data')
    said, = peer.ask('resources/read',
                     uri='test://template/123/data')['contents']
    equal(said, {'uri': 'test://template/123/data',
                 'mimeType': 'application/json',
                 'text': '{"id":"123","templateTest":true,'
                         '"data":"Data for ID: 123"}'})


@fact()
def an_unknown_resource_is_an_error_that_names_it(peer):
    uri = 'test://no-such-resource'
    error = peer.error('resources/read', uri=uri)
    equal(error['code'], -32002 if peer.era == LEGACY else -32602)
    equal(error['data']['uri'], uri)


@fact()
def prompts_are_listed_and_given(peer):
    for prompt in peer.ask('prompts/list')['prompts']:
        require(prompt['description'], prompt)
    message, = peer.ask('prompts/get', name='test_simple_prompt')['messages']
    equal(message, {'role': 'user', 'content': {
        'type': 'text', 'text': 'This is a simple prompt for testing.'}})
    message, = peer.ask('prompts/get', name='test_prompt_with_arguments',
                        arguments={'arg1': 'a"b', 'arg2': 'c'})['messages']
    equal(message['content']['text'],
          "Prompt with arguments: arg1='a\"b', arg2='c'")
    first, second = peer.ask(
        'prompts/get', name='test_prompt_with_embedded_resource',
        arguments={'resourceUri': 'test://mine'})['messages']
    equal(first['content']['resource']['uri'], 'test://mine')
    equal(second['content']['text'],
          'Please process the embedded resource above.')
    first, second = peer.ask('prompts/get',
                             name='test_prompt_with_image')['messages']
    equal(first['content']['mimeType'], 'image/png')


@fact()
def a_prompt_may_ask_first(peer):
    message, = peer.ask('prompts/get', name='test_input_required_result_prompt'
                        )['messages']
    contains(message['content']['text'], 'tests')


@fact()
def a_prompt_wants_its_arguments(peer):
    error = peer.error('prompts/get', name='test_prompt_with_arguments',
                       arguments={'arg1': 'a'})
    equal(error['code'], -32602)
    contains(error['message'] + str(error.get('data')), 'arg2')


@fact()
def arguments_of_prompts_and_templates_are_completed(peer):
    def complete(ref, name, value):
        return peer.ask('completion/complete', ref=ref, argument={
            'name': name, 'value': value})['completion']['values']
    prompt = {'type': 'ref/prompt', 'name': 'test_prompt_with_arguments'}
    template = {'type': 'ref/resource', 'uri': 'test://template/{id}/data'}
    equal(complete(prompt, 'arg1', 'par'), ['paris', 'park', 'party'])
    equal(complete(prompt, 'arg1', 'zzz'), [])
    equal(complete(template, 'id', '12'), ['12', '123'])


def hear(peer, **wanted):
    """From now on the peer is told of changes; the id to be found in them."""
    peer.listen()
    if peer.era == LEGACY:
        for uri in wanted.get('resourceSubscriptions', ()):
            equal(peer.ask('resources/subscribe', uri=uri), {})
        return None
    number = peer.begin('subscriptions/listen', notifications=wanted)
    told = peer.notified('notifications/subscriptions/acknowledged')
    equal(told['_meta'][KEY + 'subscriptionId'], number)
    equal(told['notifications'], wanted)
    return number


def is_of(params, number):
    if number is not None:
        equal(params['_meta'][KEY + 'subscriptionId'], number)


@fact()
def who_subscribes_is_told_of_updates(peer):
    uri = 'test://watched-resource'
    number = hear(peer, resourceSubscriptions=[uri])
    peer.call('test_trigger_resource_update')
    told = peer.notified('notifications/resources/updated')
    equal(told['uri'], uri)
    is_of(told, number)


@fact(LEGACY)
def who_unsubscribes_is_told_no_more(peer):
    uri = 'test://watched-resource'
    hear(peer, resourceSubscriptions=[uri])
    equal(peer.ask('resources/unsubscribe', uri=uri), {})
    peer.call('test_trigger_resource_update')
    peer.call('test_trigger_tool_change')
    peer.notified('notifications/tools/list_changed')
    equal(peer.heard, [])


@fact()
def changes_of_lists_are_told(peer):
    number = hear(peer, toolsListChanged=True, promptsListChanged=True)
    peer.call('test_trigger_tool_change')
    is_of(peer.notified('notifications/tools/list_changed'), number)
    peer.call('test_trigger_prompt_change')
    is_of(peer.notified('notifications/prompts/list_changed'), number)


@fact(MODERN)
def only_what_was_asked_for_is_told(peer):
    hear(peer, promptsListChanged=True)
    peer.call('test_trigger_tool_change')
    peer.call('test_trigger_prompt_change')
    peer.notified('notifications/prompts/list_changed')
    equal(peer.heard, [])


@fact()
def a_cancelled_call_is_not_answered_and_others_are(peer):
    number = peer.begin('tools/call', name='slow_compute',
                        arguments={'seconds': 60, 'label': 'long'})
    time.sleep(0.05)  # so that it has begun
    peer.cancel(number)
    equal(peer.text('greet', name='you'), 'Hello, you!')
    require(peer.inbox.empty(), 'something came for the cancelled call')


@fact()
def calls_overtake_each_other(peer):
    slow = peer.begin('tools/call', name='slow_compute',
                      arguments={'seconds': 0.3, 'label': 'slow'})
    equal(peer.text('greet', name='you'), 'Hello, you!')
    result = peer.wait(slow)['result']
    equal(result['content'][0]['text'], 'Computed: slow')


TASK_CLIENT = {**ALL, 'extensions': {TASKS: {}}}
ENDED = 'completed', 'failed', 'cancelled'


def task(peer, name, **arguments):
    result = peer.once('tools/call', name=name, arguments=arguments)['result']
    equal(result['resultType'], 'task', result)
    return result['taskId']


def settled(peer, number, *wanted):
    """The task, once its state is one of these."""
    end = time.monotonic() + WAIT
    while True:
        state = peer.ask('tasks/get', taskId=number)
        if state['status'] in (wanted or ENDED):
            return state
        require(time.monotonic() < end, 'it does not end:', state)
        time.sleep(0.02)


@fact(MODERN, capabilities=TASK_CLIENT)
def a_task_ends_as_a_tool_or_as_a_request_does(peer):
    done = settled(peer, task(peer, 'slow_compute', seconds=0.1, label='x'))
    equal((done['status'], done['result']['content'][0]['text']),
          ('completed', 'Computed: x'))
    done = settled(peer, task(peer, 'failing_job'))
    equal((done['status'], done['result']['isError']), ('completed', True))
    done = settled(peer, task(peer, 'protocol_error_job'))
    equal((done['status'], done['error']['code']), ('failed', -32603))


@fact(MODERN, capabilities=TASK_CLIENT)
def a_task_asks_who_looks_at_it(peer):
    number = task(peer, 'multi_input')
    state = settled(peer, number, 'input_required')
    equal(sorted(state['inputRequests']), ['confirm', 'name'])
    peer.ask('tasks/update', taskId=number, inputResponses={
        'name': {'action': 'accept', 'content': {'name': 'Alice'}}})
    state = settled(peer, number, 'input_required')
    equal(sorted(state['inputRequests']), ['confirm'])
    peer.ask('tasks/update', taskId=number, inputResponses={
        'confirm': {'action': 'accept', 'content': {'confirm': True}}})
    equal(settled(peer, number)['result']['content'][0]['text'],
          'Alice, confirmed: true')


@fact(MODERN, capabilities=TASK_CLIENT)
def a_task_can_be_cancelled_and_forgotten_ones_are_not_found(peer):
    number = task(peer, 'slow_compute', seconds=60, label='x')
    peer.ask('tasks/cancel', taskId=number)
    equal(settled(peer, number)['status'], 'cancelled')
    peer.ask('tasks/cancel', taskId=number)
    equal(peer.error('tasks/get', taskId='nobody')['code'], -32602)


@fact(MODERN, capabilities=TASK_CLIENT)
def a_call_may_ask_first_and_then_become_a_task(peer):
    result = peer.ask('tools/call', name='test_tool_with_task', arguments={})
    equal(result['resultType'], 'task')
    equal(settled(peer, result['taskId'])['result']['content'][0]['text'],
          'Hello, Alice!')


@fact(MODERN)
def who_cannot_hold_a_task_waits_or_is_told(peer):
    equal(peer.text('slow_compute', seconds=0.1, label='x'), 'Computed: x')
    error = peer.error('tools/call', name='failing_job', arguments={})
    equal(error['code'], -32021)
    contains(error['data']['requiredCapabilities']['extensions'], TASKS)


@fact(LEGACY)
def a_task_of_2025_is_made_by_the_client(peer):
    made = peer.ask('tools/call', name='slow_compute', task={'ttl': 60000},
                    arguments={'seconds': 0.1, 'label': 'x'})['task']
    result = peer.ask('tasks/result', taskId=made['taskId'])
    equal(result['content'][0]['text'], 'Computed: x')
    equal(peer.ask('tasks/get', taskId=made['taskId'])['status'], 'completed')
    contains([one['taskId'] for one in peer.ask('tasks/list')['tasks']],
             made['taskId'])


@fact(MODERN)
def skills_are_listed_and_their_files_read(peer):
    skills = {one['frontmatter']['name']: one
              for one in peer.ask('skills/list')['skills']}
    equal(sorted(skills), ['commit-messages', 'release-notes'])
    one = skills['commit-messages']
    equal(peer.ask('skills/get', uri=one['uri'])['skill'], one)
    for file in one['resources']:
        said, = peer.ask('resources/read', uri=file['uri'])['contents']
        path = SKILLS / file['uri'].removeprefix('skill://')
        equal(said['text'], path.read_text())
        equal(file['size'], path.stat().st_size)
    inside = peer.ask('resources/directory/read',
                      uri='skill://commit-messages')['resources']
    equal(sorted(one['uri'] for one in inside),
          ['skill://commit-messages/SKILL.md',
           'skill://commit-messages/references'])


def pages_are_what_the_list_is(peer):
    """On a server whose pages have five elements."""
    names, cursor, pages = [], {}, 0
    while True:
        page = peer.ask('tools/list', **cursor)
        pages += 1
        names += [tool['name'] for tool in page['tools']]
        if 'nextCursor' not in page:
            break
        equal(len(page['tools']), 5)
        cursor = {'cursor': page['nextCursor']}
    equal((len(names), len(set(names)), pages), (36, 36, 8))
    equal(peer.error('tools/list', cursor='nonsense')['code'], -32602)


class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, run):
        why = None
        try:
            run()
        except Exception as trouble:  # a fact may fail in any way
            why = trouble
        self.count += 1
        if why is None:
            print(f'ok {self.count} - {name}', flush=True)
        else:
            self.failures += 1
            print(f'not ok {self.count} - {name}')
            for line in f'{type(why).__name__}: {why}'.splitlines()[:10]:
                print(f'# {line[:600]}')
            sys.stdout.flush()


class Ways(dict):
    """{transport: what makes a peer of it}, and the addresses."""

    def __init__(self, ways, urls):
        super().__init__(ways)
        self.urls = urls


@contextlib.contextmanager
def serving(*command):
    """One server, and the ways to it."""
    ports = [free_port() for _ in range(3)]
    with folder() as place:
        urls = {'tcp': f'tcp://127.0.0.1:{ports[0]}',
                'unix': f'unix:{place}/s',
                'WebSocket': f'ws://127.0.0.1:{ports[1]}/mcp',
                'HTTP': f'http://127.0.0.1:{ports[2]}/mcp'}
        ways = {
            'stdio': lambda era, **more: Channel(stdio(command), era, **more),
            'tcp': lambda era, **more: Channel(lines(urls['tcp']), era, **more),
            'unix': lambda era, **more: Channel(lines(urls['unix']), era,
                                                **more),
            'WebSocket': lambda era, **more: Channel(
                socket(urls['WebSocket']), era, **more),
            'HTTP': lambda era, **more: Http(urls['HTTP'], era, **more),
        }
        with started(*command, '--listen', *urls.values(),
                     stderr=None, stdout=None) as process:
            until(lambda: listens(urls.values()) or process.poll() is not None,
                  'it listens')
            yield Ways(ways, urls.values())
            equal(process.poll(), None, 'it left:')
            process.terminate()
            equal(process.wait(WAIT), 0, 'exit code')


def listens(urls):
    """On all of them; whoever knocks and leaves is welcome."""
    with contextlib.suppress(OSError):
        for url in urls:
            dial(url).close()
        return True
    return False


def check_facts(tap, server):
    with serving(server, '--skills', SKILLS) as ways:
        for way, make in ways.items():
            for name, function, eras, setting in FACTS:
                for era in eras:
                    def run(make=make, function=function, era=era,
                            setting=setting):
                        with make(era, **setting) as peer:
                            function(peer)
                    tap.check(f'{way}, {era}: {name}', run)


def check_pages(tap, server):
    with serving(server, '--page-size', '5') as ways:
        for way, make in ways.items():
            for era in LEGACY, MODERN:
                def run(make=make, era=era):
                    with make(era) as peer:
                        pages_are_what_the_list_is(peer)
                tap.check(f'{way}, {era}: pages are what the list is', run)


def check_eras(tap, server):
    for era, other in (LEGACY, MODERN), (MODERN, LEGACY):
        word = 'legacy' if era == LEGACY else 'modern'
        with serving(server, '--era', word) as ways:
            for way, make in ways.items():
                def serves(make=make, era=era):
                    with make(era) as peer:
                        equal(peer.text('greet', name='you'), 'Hello, you!')

                def refuses(make=make, other=other):
                    peer = make(other)
                    peer.open()
                    method = 'initialize' if other == LEGACY \
                        else 'server/discover'
                    error = peer.error(method, protocolVersion=other)
                    contains((-32601, -32600, -32022), error['code'])
                    peer.close()
                tap.check(f'{way}: a server of {era} serves it', serves)
                tap.check(f'{way}: a server of {era} refuses {other}', refuses)


# What our own client does at our own server, and does well.
TOGETHER = {
    'sse-retry': 'comes back for an answer',
    'sep-2640-client-verify-digest': 'reads a skill that is as it was listed',
    'http-standard-headers': 'uses a tool, a resource and a prompt',
}


def check_together(tap, server, client):
    with serving(server, '--skills', SKILLS) as ways:
        for url in ways.urls:
            for revision in LEGACY, MODERN:
                for scenario, what in TOGETHER.items():
                    def run(url=url, revision=revision, scenario=scenario):
                        flow.run(client, url, env={
                            'MCP_CONFORMANCE_SCENARIO': scenario,
                            'MCP_CONFORMANCE_PROTOCOL_VERSION': revision,
                        }).expect(0)
                    way = url.partition(':')[0]
                    tap.check(f'{way}, {revision}: our client {what}', run)


def main(server, client):
    tap = Tap()
    for check in check_facts, check_pages, check_eras:
        tap.check(f'{check.__name__[6:]} were looked at to the end',
                  lambda check=check: check(tap, server))
    tap.check('our client was looked at to the end',
              lambda: check_together(tap, server, client))
    print(f'1..{tap.count}')
    return 1 if tap.failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
