"""offers.py - what the demo server has besides tools that compute: resources, a
prompt, and tools that log, ask the client, and tell of a change.

For a server of either version; `sdk` has what they do differently:
  types                              its module of that name
  Context                            what a tool may have as an argument
  ask(context, key, method, params)  the answer as a dict; or else what is then
                                     the result of the tool
  updated(context, uri)              a resource has changed
"""
import base64

PIXEL = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAA'
    'AUAAen63NgAAAAASUVORK5CYII=')
NAMES = ['Ada', 'Alan', 'Barbara', 'Grace']
FORM = {
    'type': 'object',
    'properties': {
        'name': {'type': 'string', 'title': 'Name', 'default': 'nobody'},
        'age': {'type': 'integer', 'title': 'Age', 'default': 36},
    },
    'required': ['name'],
}
LEVELS = ['debug', 'info', 'notice', 'warning']


class Level:
    """The SDK sends everything to a client of old. One is all we have."""
    least = 'debug'


def wire(model):
    return model.model_dump(by_alias=True, mode='json', exclude_none=True)


def kinds(types):
    """{method: (request, result)} of what can be asked."""
    return {
        'elicitation/create': (types.ElicitRequest, types.ElicitResult),
        'sampling/createMessage': (types.CreateMessageRequest,
                                   types.CreateMessageResult),
        'roots/list': (types.ListRootsRequest, types.ListRootsResult),
    }


def add_resources(server):
    @server.resource('demo://hello', mime_type='text/plain')
    def hello() -> str:
        return 'Hello there.\n'

    @server.resource('demo://pixel', mime_type='image/png')
    def pixel() -> bytes:
        return PIXEL

    @server.resource('demo://time', mime_type='text/plain')
    def time() -> str:
        return 'now'

    @server.resource('demo://greeting/{name}', mime_type='text/plain')
    def greeting(name: str) -> str:
        return f'Hello, {name}!'


def add_prompt(server, types):
    @server.prompt()
    def greeting(name: str, style: str = 'plain') -> str:
        return f'Greet {name}.'

    @server.completion()
    async def complete(_ref, argument, _context):
        return types.Completion(values=[name for name in NAMES
                                        if name.startswith(argument.value)])


def add_questions(sdk):
    """The tools that ask."""
    async def put(context, key, method, params, said):
        answer = await sdk.ask(context, key, method, params)
        return said(answer) if isinstance(answer, dict) else answer

    async def ask(context):
        def said(answer):
            if answer['action'] != 'accept':
                return answer['action']
            return 'Hello, {name}, {age}!'.format(**answer['content'])
        params = {'mode': 'form', 'message': 'Who are you?',
                  'requestedSchema': FORM}
        return await put(context, 'ask', 'elicitation/create', params, said)

    async def consult(question: str, context):
        content = {'type': 'text', 'text': question}
        params = {'maxTokens': 100,
                  'messages': [{'role': 'user', 'content': content}]}
        return await put(context, 'consult', 'sampling/createMessage', params,
                         lambda answer: answer['content']['text'])

    async def roots(context):
        return await put(
            context, 'roots', 'roots/list', None,
            lambda answer: ' '.join(root['uri'] for root in answer['roots']))

    return ask, consult, roots


def add_offers(server, sdk):
    async def note(text: str, context) -> str:
        for level, line in ('debug', 'a note'), ('warning', text):
            if LEVELS.index(level) >= LEVELS.index(Level.least):
                await context.session.send_log_message(
                    level, line, 'demo', related_request_id=context.request_id)
        return 'noted'

    async def tick(context) -> str:
        await sdk.updated(context, 'demo://time')
        return 'tock'

    add_resources(server)
    add_prompt(server, sdk.types)
    for tool in (*add_questions(sdk), note, tick):
        tool.__annotations__['context'] = sdk.Context
        server.tool()(tool)
