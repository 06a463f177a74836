"""features.py - what the demo server offers besides tools, and what it asks.

More checks for checks.py. Results are looked at as they were on the wire, where
the versions of the SDK have the same names for things. A Peer is an Answers
that also has read(uri), listen(uri), warn_me() and, if the SDK has tasks,
task(tool, **arguments).
"""
import asyncio
import base64

ROOT = {'uri': 'file:///srv/interop', 'name': 'interop'}


def wire(model):
    return model.model_dump(by_alias=True, mode='json', exclude_none=True)


def text_of(result):
    return wire(result)['content'][0]['text']


class Answers:
    """What the server may ask; each is a callback that the SDK knows."""

    def __init__(self, types):
        self.types = types
        self.form = None  # what to fill in; None: decline
        self.asked = None  # the last question
        self.lines = []  # of the log
        self.updated = asyncio.Queue()  # resources that have changed

    async def elicit(self, _context, params):
        self.asked = wire(params)
        action = 'decline' if self.form is None else 'accept'
        return self.types.ElicitResult(action=action, content=self.form)

    async def sample(self, _context, params):
        content = wire(params)['messages'][0]['content']
        text = content['text'] + '!'
        return self.types.CreateMessageResult(
            role='assistant', model='parrot',
            content=self.types.TextContent(type='text', text=text))

    async def roots(self, _context):
        return self.types.ListRootsResult(roots=[self.types.Root(**ROOT)])

    async def log(self, params):
        self.lines.append(wire(params))

    def callbacks(self):
        return {'elicitation_callback': self.elicit,
                'sampling_callback': self.sample,
                'list_roots_callback': self.roots,
                'logging_callback': self.log}


async def check_invalid(peer):
    result = await peer.call('add', a='two', b=3)
    assert peer.is_error(result), result


async def check_resources(peer):
    listed = wire(await peer.session.list_resources())['resources']
    uris = sorted(resource['uri'] for resource in listed)
    assert uris == ['demo://hello', 'demo://pixel', 'demo://time'], uris
    listed = wire(await peer.session.list_resource_templates())
    uris = [one['uriTemplate'] for one in listed['resourceTemplates']]
    assert uris == ['demo://greeting/{name}'], uris


async def read(peer, uri):
    return wire(await peer.read(uri))['contents'][0]


async def check_read_text(peer):
    found = await read(peer, 'demo://hello')
    assert found['text'] == 'Hello from fairlead.\n', found
    assert found['mimeType'] == 'text/plain', found


async def check_read_bytes(peer):
    found = await read(peer, 'demo://pixel')
    picture = base64.b64decode(found['blob'], validate=True)
    assert picture[1:4] == b'PNG' and picture[-8:-4] == b'IEND', picture


async def check_read_template(peer):
    found = await read(peer, 'demo://greeting/Ada%20L')
    assert found['text'] == 'Hello, Ada L!', found


async def check_read_missing(peer):
    """Of old this had a code of its own."""
    try:
        result = await peer.read('demo://nothing')
    except peer.Error as error:
        wanted = -32002 if peer.revision < '2026' else -32602
        assert error.error.code == wanted, error.error
    else:
        raise AssertionError(f'a result: {result}')


async def check_subscribe(peer):
    async with peer.listen('demo://time') as told:
        await peer.call('tick')
        uri = await told()
    assert str(uri) == 'demo://time', uri


async def check_prompts(peer):
    prompts = wire(await peer.session.list_prompts())['prompts']
    assert [prompt['name'] for prompt in prompts] == ['greeting'], prompts
    arguments = [(one['name'], one.get('required', False))
                 for one in prompts[0]['arguments']]
    assert arguments == [('name', True), ('style', False)], arguments


async def check_prompt(peer):
    got = wire(await peer.session.get_prompt(
        'greeting', {'name': 'Ada', 'style': 'formal'}))
    kinds = [(one['role'], one['content']['type']) for one in got['messages']]
    assert kinds == [('user', 'text'), ('user', 'resource'),
                     ('assistant', 'text')], kinds
    text = got['messages'][0]['content']['text']
    assert text == 'Greet Ada, and mind your manners.', text


async def check_complete(peer):
    types = peer.types
    for ref in (types.PromptReference(type='ref/prompt', name='greeting'),
                types.ResourceTemplateReference(
                    type='ref/resource', uri='demo://greeting/{name}')):
        result = await peer.session.complete(
            ref, {'name': 'name', 'value': 'A'})
        values = wire(result)['completion']['values']
        assert values == ['Ada', 'Alan'], values


async def check_log(peer):
    """The tool says something at "debug", too, which must not come."""
    await peer.warn_me()
    peer.lines.clear()
    await peer.call('note', text='careful')
    while not peer.lines:
        await asyncio.sleep(0.01)
    said = [(one['level'], one['logger'], one['data']) for one in peer.lines]
    assert said == [('warning', 'demo', 'careful')], said


async def check_accept(peer):
    peer.form = {'name': 'Ada', 'age': 36}
    text = text_of(await peer.call('ask'))
    assert text == 'Hello, Ada!', text
    assert peer.asked['message'] == 'Who are you?', peer.asked
    assert peer.asked['requestedSchema']['required'] == ['name'], peer.asked


async def check_decline(peer):
    peer.form = None
    text = text_of(await peer.call('ask'))
    assert text == 'As you like.', text


async def check_sample(peer):
    text = text_of(await peer.call('consult', question='Who is there'))
    assert text == 'Who is there!', text


async def check_roots(peer):
    result = wire(await peer.call('roots'))
    assert result['content'][0]['text'] == '1 roots', result
    assert result['structuredContent'] == {'roots': [ROOT]}, result


async def check_task(peer):
    """The result of a call that was a task."""
    text = text_of(await peer.task('slow', steps=2, delay_ms=10))
    assert '2 steps' in text, text


FEATURES = {name.removeprefix('check_').replace('_', '-'): check
            for name, check in list(globals().items())
            if name.startswith('check_')}


def lacking(peer):
    """What the SDK cannot do, by the name of the check."""
    if hasattr(peer, 'task'):
        return {}
    return {'task': 'this SDK has no tasks'}
