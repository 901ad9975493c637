"""`ticketbox serve` whose MCP endpoint offers the conformance suite's own tools, prompts and resources.

Everything but the handlers is the product's: edge, credentials, the endpoint, the SDK's server. What the fixtures
must answer is said by the suite: `conformance server --scenario … --verbose`.
"""

import base64
import re
import secrets
import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from tests.support.pictures import png
from ticketbox import app
from ticketbox.cli import main
from ticketbox.mcp.endpoint import Endpoint
from ticketbox.mcp.handlers import hide_internal_errors

Json = dict[str, Any]

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
PNG = base64.b64encode(png(1, 1)).decode()
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
PICTURE = {"type": "image", "data": PNG, "mimeType": "image/png"}
EMBEDDED = {
    "uri": "test://embedded-resource",
    "mimeType": "text/plain",
    "text": "This is an embedded resource content.",
}
MIXED = {"uri": "test://mixed-content-resource", "mimeType": "application/json", "text": '{"test":"data","value":123}'}


def text(words: str) -> Json:
    """A piece of text."""
    return {"type": "text", "text": words}


def elicit(message: str, **properties: Json) -> Json:
    """A question for the person."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sample(words: str, most: int) -> Json:
    """A question for the client's model."""
    messages = [{"role": "user", "content": text(words)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


STRING, BOOLEAN = {"type": "string"}, {"type": "boolean"}
ROOTS: Json = {"method": "roots/list", "params": {}}
NAME = elicit("What is your name?", name=STRING)

PLAIN: dict[str, list[Json]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [PICTURE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [{"type": "resource", "resource": EMBEDDED}],
    "test_multiple_content_types": [
        text("Multiple content types test:"), PICTURE, {"type": "resource", "resource": MIXED}
    ],
    "test_logging_tool": [text("nothing is logged")],
}  # fmt: skip

# What each tool asks in each round, before it answers; with a state, each round must bring back the one before.
ROUNDS: dict[str, tuple[bool, list[dict[str, Json]]]] = {
    "test_input_required_result_elicitation": (False, [{"user_name": NAME}]),
    "test_input_required_result_sampling": (
        False, [{"capital_question": sample("What is the capital of France?", 100)}]
    ),
    "test_input_required_result_list_roots": (False, [{"client_roots": ROOTS}]),
    "test_input_required_result_request_state": (True, [{"confirm": elicit("Please confirm", ok=BOOLEAN)}]),
    "test_input_required_result_tampered_state": (True, [{"confirm": elicit("Please confirm", ok=BOOLEAN)}]),
    "test_input_required_result_multiple_inputs": (
        True, [{"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}]
    ),
    "test_input_required_result_multi_round": (
        True,
        [
            {"step1": elicit("Step 1: What is your name?", name=STRING)},
            {"step2": elicit("Step 2: What is your favorite color?", color=STRING)},
        ],
    ),
    "test_input_required_result_capabilities": (
        False, [{"user_name": NAME, "greeting": sample("Generate a greeting", 50)}]
    ),
    "test_streaming_elicitation": (False, [{"user_name": NAME}]),
}  # fmt: skip
NEEDED = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
OTHERS = ["test_error_handling", "test_missing_capability"]

PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


def get_client_capabilities(context: Any) -> Json:
    """What the client says it can do."""
    return ((context.params or {}).get("_meta") or {}).get(CAPABILITIES) or {}


def require_input(questions: dict[str, Json], state: str | None = None) -> types.InputRequiredResult:
    """A result that asks."""
    result = {"inputRequests": questions, **({} if state is None else {"requestState": state})}
    return types.InputRequiredResult.model_validate(result)


async def call_tool(context: Any, params: Any) -> Any:
    """The suite's tools."""
    if params.name in PLAIN:
        return types.CallToolResult.model_validate({"content": PLAIN[params.name]})
    if params.name == "test_error_handling":
        words = "This tool intentionally returns an error for testing"
        return types.CallToolResult.model_validate({"content": [text(words)], "isError": True})
    if params.name == "test_missing_capability" and "sampling" not in get_client_capabilities(context):
        needs = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs sampling", needs)
    if params.name not in ROUNDS:
        raise MCPError(types.INVALID_PARAMS, "there is no such tool")
    stateful, rounds = ROUNDS[params.name]
    answers = params.input_responses or {}
    number = int(params.request_state or 0)
    if set(rounds[number]) <= set(answers) and (params.request_state is not None or not stateful):
        number += 1
    if number < len(rounds):
        able = {
            key: each
            for key, each in rounds[number].items()
            if NEEDED[each["method"]] in get_client_capabilities(context)
        }
        return require_input(able, str(number) if stateful else None)
    return types.CallToolResult.model_validate({"content": [text(f"state-ok {dict(answers)}")]})


async def get_prompt(context: Any, params: Any) -> Any:
    """The suite's prompts."""
    given = params.arguments or {}
    resource = {"uri": given.get("resourceUri", ""), "mimeType": "text/plain"}
    resource["text"] = "Embedded resource content for testing."
    said = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            {"type": "resource", "resource": resource}, text("Please process the embedded resource above.")
        ],
        "test_prompt_with_image": [PICTURE, text("Please analyze the image above.")],
        "test_input_required_result_prompt": [text(f"With {params.input_responses}")],
    }  # fmt: skip
    if params.name.endswith("result_prompt") and "user_context" not in (params.input_responses or {}):
        return require_input({"user_context": elicit("What context should the prompt use?", context=STRING)})
    messages = [{"role": "user", "content": content} for content in said[params.name]]
    return types.GetPromptResult.model_validate({"messages": messages})


async def read_resource(context: Any, params: Any) -> types.ReadResourceResult:
    """The suite's resources."""
    uri = str(params.uri)
    contents: Json | None = None
    if uri == "test://static-text":
        contents = {"mimeType": "text/plain", "text": "This is the content of the static text resource."}
    elif uri == "test://static-binary":
        contents = {"mimeType": "image/png", "blob": PNG}
    elif match := re.fullmatch(r"test://template/(\w+)/data", uri):
        document = f'{{"id":"{match[1]}","templateTest":true,"data":"Data for ID: {match[1]}"}}'
        contents = {"mimeType": "application/json", "text": document}
    if contents is None:
        raise MCPError(types.INVALID_PARAMS, "there is no such resource", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": [{"uri": uri, **contents}]})


def answering(shape: Any, **answer: Any) -> Any:
    """A handler that always answers the same."""

    async def handle(context: Any, params: Any) -> Any:
        return shape.model_validate(answer)

    return handle


TOOLS = [
    {"name": name, "description": "A fixture.", "inputSchema": {"type": "object"}}
    for name in [*PLAIN, *ROUNDS, *OTHERS]
]  # fmt: skip


class Fixtures(Endpoint):
    """The endpoint with other handlers."""

    def build_server(self) -> Server[Any]:
        """The SDK's server with the fixtures."""
        listed = [
            {
                "name": name,
                "description": "A fixture.",
                "arguments": [{"name": each, "required": True} for each in given],
            }
            for name, given in PROMPTS.items()
        ]
        resources = [
            {"uri": f"test://static-{kind}", "name": kind, "description": "A fixture.", "mimeType": media}
            for kind, media in {"text": "text/plain", "binary": "image/png"}.items()
        ]
        template = {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}
        server: Server[Any] = Server(
            "fixtures",
            version="1",
            get_tool_input_schema=lambda name: {"type": "object"},
            on_list_tools=answering(types.ListToolsResult, tools=TOOLS),
            on_call_tool=hide_internal_errors(call_tool),
            on_list_prompts=answering(types.ListPromptsResult, prompts=listed),
            on_get_prompt=hide_internal_errors(get_prompt),
            on_list_resources=answering(types.ListResourcesResult, resources=resources),
            on_list_resource_templates=answering(types.ListResourceTemplatesResult, resourceTemplates=[template]),
            on_read_resource=hide_internal_errors(read_resource),
            on_subscribe_resource=answering(types.EmptyResult),
            on_unsubscribe_resource=answering(types.EmptyResult),
            on_completion=answering(types.CompleteResult, completion={"values": [], "total": 0, "hasMore": False}),
            on_set_logging_level=answering(types.EmptyResult),
        )
        security = RequestStateSecurity(keys=[secrets.token_bytes(32)])
        server.middleware.append(RequestStateBoundary(security, default_audience="fixtures"))
        return server


if __name__ == "__main__":
    app.Endpoint = Fixtures
    sys.exit(main())
