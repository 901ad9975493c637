"""A model that follows a script, behind the APIs of Anthropic, OpenAI and Google.

A coding agent connects to it instead of its model. A script is a generator: it yields the tool call that the model
makes next and is sent the result exactly as the model would see it. A text ends the conversation:

    def script() -> Script:
        listed = yield Call("list_tickets", {"status": "active"})
        ticket = listed.json()["items"][0]
        yield Call("get_ticket", {"ticket_id": ticket["id"]})
        return "Done."

What the script does between two calls, such as stopping the server, happens while the agent waits for the model. Every
request is recorded.
"""

import base64
import itertools
import json
import re
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Json = dict[str, Any]


class Call(NamedTuple):
    """A tool call; `tool` is the name as the MCP server has it."""

    tool: str
    arguments: Json


class Result(NamedTuple):
    """What the model gets for a tool call: texts and pictures, in order."""

    texts: list[str]
    pictures: list[bytes]
    raw: Any

    @property
    def text(self) -> str:
        """All texts, in lines."""
        return "\n".join(self.texts)

    def json(self) -> Any:
        """The first JSON object in the texts; some agents wrap it in their own sentences."""
        decoder = json.JSONDecoder()
        for text in self.texts:
            for start in (match.start() for match in re.finditer(r"\{", text)):
                try:
                    return decoder.raw_decode(text, start)[0]
                except json.JSONDecodeError:
                    continue
        raise AssertionError(f"no JSON in {self.text[:2000]!r}")


Script = Generator[Call, Result, str]


class Exchange(NamedTuple):
    """One recorded request."""

    path: str
    body: Json


class MockModel:
    """The server. `tools` are the names of the tools that the agent offered last, and `results` what came back."""

    def __init__(self) -> None:
        self.requests: list[Exchange] = []
        self.unknown: list[str] = []
        self.tools: list[str] = []
        self.results: list[Result] = []
        self.failure: BaseException | None = None
        self._lock = threading.Lock()
        self._script: Script | None = None
        self._steps: list[Call | str] = []
        self._ids = itertools.count(1)
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def follow(self, script: Callable[[], Script]) -> None:
        """Set the script of the next conversation."""
        self._script, self._steps, self.results, self.failure = script(), [], [], None

    @property
    def is_done(self) -> bool:
        """Whether the script has reached its end."""
        return bool(self._steps) and isinstance(self._steps[-1], str)

    def decide(self, tools: list[str], results: list[Result]) -> Call | str:
        """Return the next step: that after so many results. A repeated request gets the same answer again."""
        with self._lock:
            if not tools:
                return "ok"  # a title, a summary, a check of the connection
            self.tools = tools
            assert self._script is not None
            while len(self._steps) <= len(results) and not self.is_done:
                try:
                    if not self._steps:
                        step = next(self._script)
                    else:
                        self.results.append(results[len(self._steps) - 1])
                        step = self._script.send(self.results[-1])
                except StopIteration as stop:
                    step = str(stop.value)
                except BaseException as error:
                    self.failure, step = error, "The script failed."
                self._steps.append(step)
            return self._steps[min(len(results), len(self._steps) - 1)]

    def find_tool(self, name: str, offered: list[str]) -> str:
        """Return an MCP tool's name as the agent offers it."""
        found = [each for each in offered if each == name or re.search(rf"[_.]{name}$", each)]
        if not found:
            self.failure = AssertionError(f"the agent doesn't offer {name}: {offered}")
            return name
        return min(found, key=len)

    def next_id(self) -> int:
        """A number for an id of a message or call."""
        return next(self._ids)


class _Handler(BaseHTTPRequestHandler):
    model: MockModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Log nothing."""

    def do_GET(self) -> None:
        """Answer everything but the model's calls with an empty object."""
        self.model.unknown.append(f"{self.command} {self.path}")
        self._send(json.dumps({"data": [], "models": []}).encode(), "application/json")

    do_HEAD = do_DELETE = do_PUT = do_PATCH = do_GET

    def do_POST(self) -> None:
        """Answer a call of one of the models' APIs."""
        data = self._read()
        path = self.path.partition("?")[0]
        for pattern, answer in ROUTES.items():
            if re.search(pattern, path):
                body = json.loads(data)
                self.model.requests.append(Exchange(self.path, body))
                chunks, single = answer(self.model, body)
                streams = body.get("stream") or "streamGenerateContent" in path
                if streams:
                    self._send("".join(chunks).encode(), "text/event-stream")
                else:
                    self._send(json.dumps(single).encode(), "application/json")
                return
        self.model.unknown.append(f"POST {self.path}")
        self._send(b"{}", "application/json")

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = b""
            while size := int(self.rfile.readline(), 16):
                parts += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return parts
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _event(data: Json, name: str | None = None) -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def _read_data_address(address: str) -> bytes:
    return base64.b64decode(address.partition("base64,")[2])


def answer_anthropic(model: MockModel, body: Json) -> tuple[list[str], Json]:
    """The Messages API."""
    tools = [each["name"] for each in body.get("tools", [])]
    results = [
        _read_anthropic_result(part)
        for message in body["messages"]
        if message["role"] == "user" and isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "tool_result"
    ]
    step = model.decide(tools, results)
    identity = model.next_id()
    if isinstance(step, Call):
        block: Json = {"type": "tool_use", "id": f"toolu_{identity:020}", "name": model.find_tool(step.tool, tools)}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        whole, reason = {**block, "input": step.arguments}, "tool_use"
        block["input"] = {}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step}
        whole, reason = {"type": "text", "text": step}, "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {
        "id": f"msg_{identity:020}", "type": "message", "role": "assistant", "model": body.get("model", "mock"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    chunks = [_event(each, str(each["type"])) for each in events]
    return chunks, {**message, "content": [whole], "stop_reason": reason}


def _read_anthropic_result(part: Json) -> Result:
    content = part.get("content", "")
    if isinstance(content, str):
        return Result([content], [], part)
    texts = [each["text"] for each in content if each["type"] == "text"]
    pictures = [base64.b64decode(each["source"]["data"]) for each in content if each["type"] == "image"]
    return Result(texts, pictures, part)


def answer_responses(model: MockModel, body: Json) -> tuple[list[str], Json]:
    """OpenAI's Responses API."""
    tools: dict[str, tuple[str | None, str]] = {}
    for each in body.get("tools", []):
        if each["type"] == "function":
            tools[each["name"]] = (None, each["name"])
        elif each["type"] == "namespace":
            tools |= {f"{each['name']}.{one['name']}": (each["name"], one["name"]) for one in each["tools"]}
    items = body["input"] if isinstance(body["input"], list) else []
    results = [_read_responses_result(each) for each in items if each.get("type") == "function_call_output"]
    step = model.decide(list(tools), results)
    identity = model.next_id()
    if isinstance(step, Call):
        namespace, name = tools.get(model.find_tool(step.tool, list(tools)), (None, step.tool))
        item: Json = {
            "type": "function_call", "id": f"fc_{identity}", "call_id": f"call_{identity}", "name": name,
            "arguments": json.dumps(step.arguments), "status": "completed",
            **({"namespace": namespace} if namespace else {}),
        }  # fmt: skip
    else:
        content = [{"type": "output_text", "text": step, "annotations": []}]
        item = {
            "type": "message", "id": f"msg_{identity}", "role": "assistant", "status": "completed", "content": content
        }  # fmt: skip
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20,
    }  # fmt: skip
    response = {
        "id": f"resp_{identity}", "object": "response", "created_at": 1_795_253_400, "status": "in_progress",
        "model": body.get("model", "mock"), "output": [],
    }  # fmt: skip
    completed = {**response, "status": "completed", "output": [item], "usage": usage}
    events = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": completed},
    ]
    return [_event({**each, "sequence_number": at}, str(each["type"])) for at, each in enumerate(events)], completed


def _read_responses_result(item: Json) -> Result:
    output = item["output"]
    if isinstance(output, str):
        return Result([output], [], item)
    texts = [each["text"] for each in output if each["type"] == "input_text"]
    pictures = [_read_data_address(each["image_url"]) for each in output if each["type"] == "input_image"]
    return Result(texts, pictures, item)


def answer_chat(model: MockModel, body: Json) -> tuple[list[str], Json]:
    """OpenAI's chat completions, which many other models' servers have as well."""
    tools = [each["function"]["name"] for each in body.get("tools", [])]
    results: list[Result] = []
    for message in body["messages"]:
        content = message.get("content") or ""
        parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [each["text"] for each in parts if each["type"] == "text"]
        pictures = [_read_data_address(each["image_url"]["url"]) for each in parts if each["type"] == "image_url"]
        if message["role"] == "tool":
            results.append(Result(texts, pictures, message))
        elif message["role"] == "user" and results:
            results[-1].pictures.extend(pictures)  # tool messages can't have pictures, so a user's message follows
    step = model.decide(tools, results)
    identity = model.next_id()
    if isinstance(step, Call):
        function = {"name": model.find_tool(step.tool, tools), "arguments": json.dumps(step.arguments)}
        calls = [{"index": 0, "id": f"call_{identity}", "type": "function", "function": function}]
        message, reason = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
    else:
        message, reason = {"role": "assistant", "content": step}, "stop"
    head = {"id": f"chat_{identity}", "created": 1_795_253_400, "model": body.get("model", "mock")}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    chunk = {**head, "object": "chat.completion.chunk"}
    chunks = [
        _event({**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        _event({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
        "data: [DONE]\n\n",
    ]
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return chunks, {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def answer_gemini(model: MockModel, body: Json) -> tuple[list[str], Json]:
    """Google's generateContent."""
    declared = [one["name"] for each in body.get("tools", []) for one in each.get("functionDeclarations", [])]
    results: list[Result] = []
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                results.append(_read_gemini_result(part["functionResponse"]))
            elif "inlineData" in part and results:  # older models get a picture beside the response
                results[-1].pictures.append(base64.b64decode(part["inlineData"]["data"]))
    wants_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
    step = "{}" if wants_json else model.decide(declared, results)
    part = (
        {"functionCall": {"name": model.find_tool(step.tool, declared), "args": step.arguments}}
        if isinstance(step, Call)
        else {"text": step}
    )
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
        "modelVersion": "mock",
    }
    return [_event(answer)], answer


def _read_gemini_result(response: Json) -> Result:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in response["response"].values()]
    parts = [each["inlineData"] for each in response.get("parts", []) if "inlineData" in each]
    return Result(texts, [base64.b64decode(each["data"]) for each in parts], response)


def count_tokens(model: MockModel, body: Json) -> tuple[list[str], Json]:
    """The calls that count tokens."""
    return [], {"input_tokens": 10, "totalTokens": 10}


ROUTES: dict[str, Callable[[MockModel, Json], tuple[list[str], Json]]] = {
    r"/messages/count_tokens$|:countTokens$": count_tokens,
    r"/messages$": answer_anthropic,
    r"/responses$": answer_responses,
    r"/chat/completions$": answer_chat,
    r":(stream)?[gG]enerateContent$": answer_gemini,
}
