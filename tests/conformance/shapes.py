#!/usr/bin/env python3
"""shapes.py - every message a server sends, held against the schema of its
revision.

    shapes.py SCHEMAS PROGRAM [ARGUMENT...]

SCHEMAS is the folder with <revision>/schema.json, as the specification has it;
PROGRAM serves MCP on its standard input and output. In each revision it is
asked for everything it lists, and for a few things it does not have; whatever
it asks back is answered. A member the revision has no word for counts as
wrong, though the schemas allow it: clients of that revision were never told.

Prints TAP, one point per revision.
"""
import copy
import json
import os
import select
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = ["2026-07-28"]
META = "io.modelcontextprotocol/"
TASKS = {"tasks/get", "tasks/cancel", "tasks/update"}
WAIT = 20  # seconds, for one message

RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "tasks/get": "GetTaskResult",
    "tasks/list": "ListTasksResult",
    "tasks/cancel": "CancelTaskResult",
    "tasks/result": "CallToolResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
REQUESTS = {
    "sampling/createMessage": "CreateMessageRequest",
    "elicitation/create": "ElicitRequest",
    "roots/list": "ListRootsRequest",
    "ping": "PingRequest",
}
CAPABILITIES = {
    "2024-11-05": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-03-26": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-06-18": {"roots": {}, "sampling": {}, "elicitation": {}},
    "2025-11-25": {
        "roots": {},
        "sampling": {"tools": {}, "context": {}},
        "elicitation": {"form": {}, "url": {}},
    },
    "2026-07-28": {
        "roots": {},
        "sampling": {"tools": {}},
        "elicitation": {"form": {}, "url": {}},
        "extensions": {META + "tasks": {}},
    },
}


class Schema:
    """One revision's definitions, as they are and closed."""

    def __init__(self, folder, revision):
        path = os.path.join(folder, revision, "schema.json")
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        self.word = "$defs" if "$defs" in whole else "definitions"
        self.defs = whole[self.word]
        parts = set()
        self.find_parts(whole, parts)
        self.closed = {k: self.close(v, k in parts)
                       for k, v in self.defs.items()}

    def find_parts(self, schema, parts):
        """The definitions that others are put together from."""
        if isinstance(schema, dict):
            for part in schema.get("allOf", []):
                parts.add(part.get("$ref", "").split("/")[-1])
            for value in schema.values():
                self.find_parts(value, parts)
        elif isinstance(schema, list):
            for value in schema:
                self.find_parts(value, parts)

    @staticmethod
    def close(schema, part):
        """Objects have no members but those that are named. Those without any
        name are open by intent, and so are _meta and what is but a part."""
        schema = copy.deepcopy(schema)
        if "properties" in schema and not part:
            schema["additionalProperties"] = False
            schema["properties"].setdefault("_meta", {})
        return schema

    def fault(self, name, value, closed):
        defs = self.closed if closed else self.defs
        if name not in defs:
            return f"there is no {name} in this revision"
        schema = {"$ref": f"#/{self.word}/{name}", self.word: defs}
        validator = jsonschema.Draft202012Validator(schema)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        if error is None:
            return None
        path = "/".join(str(p) for p in error.absolute_path)
        return f"{name} at /{path}: {error.message[:300]}"

    def notification(self, method):
        for name, schema in self.defs.items():
            const = schema.get("properties", {}).get("method", {}).get("const")
            if const == method and name.endswith("Notification"):
                return name
        return None


def instance(schema):
    """Some value that a schema allows, if it is a simple one."""
    if "default" in schema:
        return schema["default"]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "object":
        properties = schema.get("properties", {})
        return {k: instance(properties.get(k, {}))
                for k in schema.get("required", [])}
    if kind == "array":
        items = schema.get("items", {})
        return [instance(items) for _ in range(schema.get("minItems", 0))]
    if kind in ("number", "integer"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    return {"email": "a@example.org", "uri": "https://example.org/",
            "date": "2026-01-01"}.get(schema.get("format"), "word")


def answer_to(method, params):
    if method == "sampling/createMessage":
        return {"role": "assistant", "model": "m",
                "content": {"type": "text", "text": "yes"}}
    if method == "roots/list":
        return {"roots": [{"uri": "file:///a", "name": "a"}]}
    if method == "elicitation/create":
        if "requestedSchema" not in params:
            return {"action": "accept"}
        return {"action": "accept",
                "content": instance(params["requestedSchema"])}
    return {}


class Session:
    """A server that was started for one revision."""

    def __init__(self, folder, revision, command):
        self.revision = revision
        self.modern = revision in MODERN
        self.schema = Schema(folder, revision)
        self.faults = []
        self.messages = 0
        self.last_id = 0
        self.methods = {}
        self.buffer = b""
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)

    def complain(self, message, why):
        text = json.dumps(message)
        self.faults.append(f"{why}\n    {text[:400]}")

    def send(self, message):
        text = json.dumps(message).encode() + b"\n"
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def read(self):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.child.stdout], [], [], WAIT)
            piece = os.read(self.child.stdout.fileno(), 65536) if ready else b""
            if piece == b"":
                raise RuntimeError("no message came")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def hold(self, message, name, value):
        if name == "InitializeResult": # where servers of all eras say it
            value = copy.deepcopy(value)
            value["capabilities"].pop("extensions", None)
        if name == "ElicitRequest" and self.revision == "2025-06-18":
            value = copy.deepcopy(value) # the fields are the handler's
            value["params"]["requestedSchema"]["properties"] = {}
        fault = self.schema.fault(name, value, False) or \
            self.schema.fault(name, value, True)
        if fault is not None:
            self.complain(message, fault)

    def judge_result(self, message, method):
        result = message["result"]
        kind = result.get("resultType")
        if self.modern and kind is None:
            self.complain(message, "a result without resultType")
        if not self.modern and kind is not None:
            self.complain(message, "a result with resultType")
        name = RESULTS.get(method, "Result")
        if self.modern and (method in TASKS or kind == "task"):
            name = None  # an extension's, of which there is no schema here
        elif kind == "input_required":
            name = "InputRequiredResult"
        elif "task" in result and method == "tools/call":
            name = "CreateTaskResult"
        if name is not None:
            self.hold(message, name, result)

    def judge(self, message):
        """Returns the answer, if it is a request."""
        self.messages += 1
        if isinstance(message, list):
            if self.revision != "2025-03-26":
                self.complain(message, "a batch")
            for element in message:
                self.judge(element)
            return None
        if "method" in message and "id" in message:
            if self.modern:
                self.complain(message, "a request of the server's")
            method, params = message["method"], message.get("params", {})
            name = REQUESTS.get(method)
            if name is None:
                self.complain(message, "an unknown request")
            else:
                self.hold(message, name, {k: v for k, v in message.items()
                                          if k in ("id", "jsonrpc", "method",
                                                   "params")
                                          and (k in self.schema.defs.get(
                                              name, {}).get("properties", {}))})
            return {"jsonrpc": "2.0", "id": message["id"],
                    "result": answer_to(method, params)}
        if "method" in message:
            name = self.schema.notification(message["method"])
            if name is not None:
                value = dict(message)
                known = self.schema.defs[name]["properties"]
                if "jsonrpc" not in known:
                    del value["jsonrpc"]
                self.hold(message, name, value)
            elif not (self.modern and
                      message["method"] == "notifications/tasks"):
                self.complain(message, "an unknown notification")
            return None
        if "error" in message:
            name = "JSONRPCError" if "JSONRPCError" in self.schema.defs \
                else "JSONRPCErrorResponse"
            if message.get("id") is None:
                message = {**message, "id": 0}
            self.hold(message, name, message)
            return None
        method = self.methods.get(message.get("id"))
        if method is None:
            self.complain(message, "an answer to nothing")
        else:
            self.judge_result(message, method)
        return None

    def request(self, method, params=None):
        self.last_id += 1
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {
                META + "protocolVersion": self.revision,
                META + "clientInfo": {"name": "shapes", "version": "1"},
                META + "clientCapabilities": CAPABILITIES[self.revision],
                META + "logLevel": "debug",
                "progressToken": f"p{self.last_id}",
            }
        elif method != "initialize":
            params["_meta"] = {"progressToken": f"p{self.last_id}"}
        self.methods[self.last_id] = method
        return {"jsonrpc": "2.0", "id": self.last_id, "method": method,
                "params": params}

    def await_answer(self, wanted):
        while True:
            message = self.read()
            answer = self.judge(message)
            if answer is not None:
                self.send(answer)
            elif isinstance(message, dict) and message.get("id") == wanted \
                    and "method" not in message:
                return message

    def ask(self, method, params=None):
        """The result, after all rounds; or None after an error."""
        params = dict(params or {})
        for _ in range(12):
            request = self.request(method, params)
            self.send(request)
            result = self.await_answer(request["id"]).get("result")
            if result is None or result.get("resultType") != "input_required":
                return result
            params["inputResponses"] = {}
            for key, wanted in result.get("inputRequests", {}).items():
                name = REQUESTS[wanted["method"]]
                value = {"jsonrpc": "2.0", "id": 1, **wanted}
                known = self.schema.defs[name]["properties"]
                self.hold(wanted, name,
                          {k: v for k, v in value.items() if k in known})
                params["inputResponses"][key] = answer_to(
                    wanted["method"], wanted.get("params", {}))
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        self.complain({"method": method}, "asked without end")
        return None

    def ask_all(self, method, member):
        items, cursor = [], {}
        while True:
            result = self.ask(method, cursor)
            if result is None:
                return items
            items += result.get(member, [])
            if "nextCursor" not in result:
                return items
            cursor = {"cursor": result["nextCursor"]}

    def open(self):
        if self.modern:
            return self.ask("server/discover")["capabilities"]
        result = self.ask("initialize", {
            "protocolVersion": self.revision,
            "capabilities": CAPABILITIES[self.revision],
            "clientInfo": {"name": "shapes", "version": "1"},
        })
        if result["protocolVersion"] != self.revision:
            self.complain(result, "another revision")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("logging/setLevel", {"level": "debug"})
        self.ask("ping")
        return result["capabilities"]

    def follow(self, task):
        """A task of either era, to its end."""
        for _ in range(400):
            now = self.ask("tasks/get", {"taskId": task})
            if now is None or now["status"] in ("completed", "failed",
                                                "cancelled"):
                return
            if now["status"] == "input_required":
                if not self.modern:
                    self.ask("tasks/result", {"taskId": task})
                else:
                    self.ask("tasks/update", {
                        "taskId": task,
                        "inputResponses": {
                            k: answer_to(v["method"], v.get("params", {}))
                            for k, v in now["inputRequests"].items()}})
            select.select([], [], [], 0.05)

    def call(self, tool):
        arguments = instance(tool["inputSchema"])
        params = {"name": tool["name"], "arguments": arguments}
        support = tool.get("execution", {}).get("taskSupport")
        if support != "required":
            result = self.ask("tools/call", params)
            if result is not None and result.get("resultType") == "task":
                self.follow(result["taskId"])
        if support is not None:
            result = self.ask("tools/call", {**params, "task": {}})
            if result is not None and "task" in result:
                self.follow(result["task"]["taskId"])
                self.ask("tasks/result", {"taskId": result["task"]["taskId"]})
                self.ask("tasks/list")

    def use(self, capabilities):
        for tool in self.ask_all("tools/list", "tools"):
            self.call(tool)
        if "resources" in capabilities:
            for item in self.ask_all("resources/list", "resources"):
                self.ask("resources/read", {"uri": item["uri"]})
                self.ask("resources/subscribe", {"uri": item["uri"]})
                self.ask("resources/unsubscribe", {"uri": item["uri"]})
            for item in self.ask_all("resources/templates/list",
                                     "resourceTemplates"):
                uri = item["uriTemplate"]
                name = uri[uri.find("{") + 1:uri.find("}")].lstrip("+")
                self.ask("resources/read",
                         {"uri": uri.replace("{" + name + "}", "1")})
                self.ask("completion/complete", {
                    "ref": {"type": "ref/resource", "uri": uri},
                    "argument": {"name": name, "value": ""}})
        if "prompts" in capabilities:
            for item in self.ask_all("prompts/list", "prompts"):
                names = [a["name"] for a in item.get("arguments", [])]
                self.ask("prompts/get", {
                    "name": item["name"],
                    "arguments": {name: "word" for name in names}})
                for name in names:
                    self.ask("completion/complete", {
                        "ref": {"type": "ref/prompt", "name": item["name"]},
                        "argument": {"name": name, "value": ""}})

    def misuse(self):
        self.ask("tools/call", {"name": "there is none"})
        self.ask("tools/call", {"name": 1})
        self.ask("tools/list", {"cursor": "none"})
        self.ask("resources/read", {"uri": "none:"})
        self.ask("prompts/get", {"name": "there is none"})
        self.ask("completion/complete", {})
        self.ask("tasks/get", {"taskId": "none"})
        self.ask("there/is/none")
        self.send({"jsonrpc": "2.0", "id": 0, "method": 5})
        self.judge(self.read())

    def batch(self):
        requests = [self.request("tools/list"), self.request("prompts/list"),
                    self.request("resources/list"), self.request("ping"),
                    self.request("there/is/none")]
        self.send(requests)
        message = self.read()
        while isinstance(message, dict) and "method" in message:
            self.judge(message)
            message = self.read()
        self.judge(message)
        if self.revision == "2025-03-26" and len(message) != len(requests):
            self.complain(message, "not every request of a batch was answered")

    def listen(self):
        request = self.request("subscriptions/listen", {"notifications": {
            "toolsListChanged": True, "promptsListChanged": True,
            "resourcesListChanged": True}})
        self.send(request)
        self.judge(self.read())
        return request["id"]

    def run(self):
        capabilities = self.open()
        listening = self.listen() if self.modern else None
        self.use(capabilities)
        self.misuse()
        if not self.modern:
            self.batch()
        self.child.stdin.close()
        if listening is not None:
            self.await_answer(listening)
        while True:
            try:
                self.judge(self.read())
            except RuntimeError:
                break
        if self.child.wait(WAIT) != 0:
            self.faults.append("it did not end well")


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    revisions = LEGACY + MODERN
    failed = False

    if jsonschema is None or not os.path.isdir(folder):
        missing = "python3-jsonschema" if jsonschema is None else folder
        print(f"1..0 # SKIP there is no {missing}")
        return 0
    print(f"1..{len(revisions)}")
    for number, revision in enumerate(revisions, 1):
        session = Session(folder, revision, command)
        try:
            session.run()
        except (RuntimeError, OSError, KeyError, TypeError) as error:
            session.faults.append(f"{type(error).__name__}: {error}")
            session.child.kill()
        failed = failed or bool(session.faults)
        print(f"{'not ok' if session.faults else 'ok'} {number} - {revision}: "
              f"{session.messages} messages", flush=True)
        for fault in session.faults:
            print(f"# {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
