"""guarded.py - an MCP server that asks who comes, and the authorization server
it sends them to: one program of Python's, made wrong on purpose where a test
wants it so.
"""
import base64
import contextlib
import hashlib
import http.server
import json
import threading
import urllib.parse

from flow import WAIT

RESULTS = {
    'initialize': {'protocolVersion': '2025-11-25', 'capabilities': {
        'tools': {}}, 'serverInfo': {'name': 'guarded', 'version': '0'}},
    'tools/list': {'tools': [{'name': 'nap', 'inputSchema': {
        'type': 'object'}}]},
    'tools/call': {'content': [{'type': 'text', 'text': 'slept'}]},
}


def unpack(part):
    return json.loads(base64.urlsafe_b64decode(part + '=' * (-len(part) % 4)))


def digest(text):
    raw = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(raw).decode().rstrip('=')


class Guarded:
    """A protected MCP server and its authorization server, on one port."""

    def __init__(self, **more):
        self.options = {'scheme': 'Bearer', 'scope': None, 'expires': 3600,
                        'refresh': True, 'needs': {}, 'iss': True, **more}
        self.seen, self.tokens, self.codes, self.proofs = [], {}, {}, set()
        self.count = 0
        self.refresh_fails = 0
        place = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_GET(self):
                place.serve(self, b'')

            def do_DELETE(self):
                place.serve(self, b'')

            def do_POST(self):
                length = int(self.headers.get('content-length', 0))
                place.serve(self, self.rfile.read(length))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.base = 'http://127.0.0.1:%d' % self.server.server_address[1]
        self.url = self.base + '/mcp'
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(WAIT)

    def serve(self, handler, body):
        path, _, query = handler.path.partition('?')
        self.seen.append((handler.command, path, query, body.decode(),
                          dict(handler.headers)))
        routes = {'/mcp': self.mcp, '/authorize': self.authorize,
                  '/token': self.token, '/register': self.register,
                  '/.well-known/oauth-protected-resource/mcp': self.resource,
                  '/.well-known/oauth-authorization-server': self.metadata}
        status, fields, said = routes.get(path, self.nothing)(handler, query,
                                                              body)
        said = said if isinstance(said, bytes) else json.dumps(said).encode()
        handler.send_response(status)
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.send_header('content-length', str(len(said)))
        handler.send_header('content-type', 'application/json')
        handler.end_headers()
        with contextlib.suppress(OSError):  # it may not want all of it
            handler.wfile.write(said)

    def paths(self, path):
        return [one for one in self.seen if one[1] == path]

    def nothing(self, *_):
        return 404, {}, {}

    def resource(self, *_):
        if self.options.get('bare'):
            return 404, {}, {}
        return 200, {}, {
            'resource': self.options.get('resource', self.url),
            'authorization_servers': [self.base]}

    def metadata(self, *_):
        return 200, {}, {
            'issuer': self.options.get('issuer', self.base),
            'authorization_endpoint': self.base + '/authorize',
            'token_endpoint': self.base + '/token',
            'registration_endpoint': self.base + '/register',
            'authorization_response_iss_parameter_supported': True,
            'code_challenge_methods_supported': ['S256'],
            **self.options.get('metadata', {})}

    def register(self, handler, query, body):
        asked = json.loads(body)
        return 201, {}, {'client_id': 'client-%d' % len(self.seen),
                         'redirect_uris': asked['redirect_uris'],
                         **self.options.get('registered', {})}

    def authorize(self, handler, query, body):
        asked = dict(urllib.parse.parse_qsl(query))
        code = 'code-%d' % len(self.seen)
        self.codes[code] = asked
        to = {'code': code, 'state': asked['state']}
        if self.options['iss'] is True:
            to['iss'] = self.base
        elif self.options['iss']:
            to['iss'] = self.options['iss']
        if self.options.get('denies'):
            to = {**to, 'error': 'access_denied'}
            del to['code']
        return 302, {'location': asked['redirect_uri'] + '?' +
                     urllib.parse.urlencode(to)}, b''

    def token(self, handler, query, body):
        asked = dict(urllib.parse.parse_qsl(body.decode()))
        proof = handler.headers.get('dpop')
        if asked.get('client_id') in self.options.get('forgotten', ()):
            return 401, {}, {'error': 'invalid_client'}
        if self.options.get('nonce') and not self.proven(
                proof, 'POST', self.base + '/token', None, 'as-nonce'):
            return 400, {'DPoP-Nonce': 'as-nonce'}, {'error': 'use_dpop_nonce'}
        if asked['grant_type'] == 'refresh_token':
            if self.refresh_fails:
                return self.refresh_fails, {}, {'error': 'invalid_grant'}
            scope = 'refreshed'
        elif asked['grant_type'] == 'authorization_code':
            was = self.codes.pop(asked['code'], None)
            if not was or digest(asked['code_verifier']) != \
                    was['code_challenge']:
                return 400, {}, {'error': 'invalid_grant'}
            scope = was.get('scope', '')
        else:
            scope = asked.get('scope', '')
        self.count += 1
        token = 'secret-token-%d' % self.count
        self.tokens[token] = scope
        said = {'access_token': token, 'token_type': self.options['scheme'],
                'expires_in': self.options['expires']}
        if self.options['refresh']:
            said['refresh_token'] = 'secret-refresh-%d' % self.count
        return 200, {}, said

    def proven(self, proof, method, url, token, nonce):
        """Whether a DPoP proof is for this request and was never used."""
        if not proof:
            return False
        head, claims = [unpack(part) for part in proof.split('.')[:2]]
        fresh = claims['jti'] not in self.proofs
        self.proofs.add(claims['jti'])
        return (fresh and head['typ'] == 'dpop+jwt' and 'd' not in head['jwk']
                and claims['htm'] == method and claims['htu'] == url
                and (token is None or claims['ath'] == digest(token))
                and (nonce is None or claims.get('nonce') == nonce))

    def challenge(self, status, **params):
        named = {'resource_metadata': self.base +
                 '/.well-known/oauth-protected-resource/mcp'}
        said = {'realm': 'x'} if self.options.get('bare') else named
        said = {**said, **params}
        return status, {'WWW-Authenticate': self.options['scheme'] + ' ' +
                        ', '.join(f'{k}="{v}"' for k, v in said.items())}, {}

    def mcp(self, handler, query, body):
        scheme, _, token = handler.headers.get('authorization',
                                               '').partition(' ')
        wants = {'scope': self.options['scope']} if self.options['scope'] \
            else {}
        if scheme != self.options['scheme'] or token not in self.tokens:
            return self.challenge(401, **wants)
        if scheme == 'DPoP':
            nonce = 'rs-nonce' if self.options.get('nonce') else None
            if not self.proven(handler.headers.get('dpop'), handler.command,
                               self.url, token, nonce):
                status, fields, said = self.challenge(
                    401, error='use_dpop_nonce')
                return status, {**fields, 'DPoP-Nonce': 'rs-nonce'}, said
        if handler.command != 'POST':
            return 405, {}, {}
        message = json.loads(body)
        need = self.options['needs'].get(message['method'])
        if need and need not in self.tokens[token].split():
            return self.challenge(403, error='insufficient_scope', scope=need)
        if 'id' not in message:
            return 202, {}, b''
        said = {'jsonrpc': '2.0', 'id': message['id']}
        if message['method'] in RESULTS:
            said['result'] = RESULTS[message['method']]
        else:
            said['error'] = {'code': -32601, 'message': 'not known'}
        return 200, {}, said
