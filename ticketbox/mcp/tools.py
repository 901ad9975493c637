"""The MCP tools, built from the registry: names, descriptions and schemas (docs/reference/tools.md).

Schemas have no references and only what a caller needs, because a model reads all of them before its first call.
"""

import base64
import functools
import typing
from typing import Any

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.mcp import answers
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.lookups import Key, TicketId, Version
from ticketbox.operations.core.paging import Cursor, Limit
from ticketbox.operations.core.registry import Operation, Registry, ToolSet
from ticketbox.operations.core.schemas import Json, build_schemas, get_description, list_answer_types
from ticketbox.operations.tickets.ticket_detail import Detail, TicketDetail

_REF = "#/$defs/{name}"
_LONGEST_ENUM = 12
_BOUNDS = {"pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "format", "examples"}
_SHORTER = {  # descriptions that many tools repeat
    get_description(Limit): "At most 100 items.",
    get_description(Cursor): "The previous `next_cursor`.",
    get_description(TicketId): "Id, key or URL of a ticket.",
    get_description(Version): "Fail unless this is its version.",
    get_description(Key): "A repeat within 24 hours returns the first answer.",
}
_DETAIL_OF_LISTS = "`summary` is one line for each entry."
_DETAIL_OF_ENTRIES = "`full` raises the limit from 8,000 to 24,000 tokens."
_WITH_IMAGES = (Content, TicketDetail)


class ToolCard(msgspec.Struct, frozen=True):
    """A tool as `tools/list` shows it."""

    name: str
    title: str
    description: str
    input_schema: Json
    output_schema: Json | None
    tool_set: ToolSet
    lists_lines: bool
    read_only: bool
    destructive: bool
    idempotent: bool
    operation: Operation


@functools.cache
def get_tool_cards(registry: Registry) -> dict[str, ToolCard]:
    """Return all tools by name, in the registry's order."""
    cards = [_build_card(operation) for operation in registry if operation.tool is not None]
    return {card.name: card for card in cards}


def list_allowed_tools(registry: Registry, actor: Actor, sets: frozenset[ToolSet]) -> list[ToolCard]:
    """List the tools of some sets that a caller's scopes allow."""
    return [
        card
        for card in get_tool_cards(registry).values()
        if card.tool_set in sets
        and (not isinstance(card.operation.scope, Scope) or card.operation.scope in actor.scopes)
    ]


def _build_card(operation: Operation) -> ToolCard:
    tool = operation.tool
    assert tool is not None
    example = msgspec.json.encode(tool.example).decode()
    return ToolCard(
        name=tool.name or operation.name,
        title=tool.title,
        description=f"{operation.summary}. {tool.when} Example: {example}",
        input_schema=_build_input_schema(operation),
        output_schema=_build_output_schema(operation),
        tool_set=tool.tool_set,
        lists_lines=answers.lists_lines(operation.result),
        read_only=not operation.writes,
        destructive=tool.destructive,
        idempotent=tool.idempotent or not operation.writes,
        operation=operation,
    )


def _build_input_schema(operation: Operation) -> Json:
    schema = _inline_schema(operation.arguments)
    properties = {
        name: _simplify_property(_drop_null_type(part))
        for name, part in schema.get("properties", {}).items()
        if operation.tool is None or name not in operation.tool.unlisted
    }
    if answers.lists_lines(operation.result):
        properties["detail"] = {
            "type": "string",
            "enum": [each.value for each in Detail],
            "default": Detail.SUMMARY,
            "description": _DETAIL_OF_LISTS if "limit" in properties else _DETAIL_OF_ENTRIES,
        }
    for name, value in operation.tool.defaults.items() if operation.tool else ():
        properties[name]["default"] = value
    input_schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    if schema.get("required"):
        input_schema["required"] = schema["required"]
    return input_schema


def _simplify_property(schema: Json) -> Json:
    """Leave out what a model doesn't need to write a value; a refusal says which bounds or values it broke."""
    simple: Json = {key: value for key, value in schema.items() if key not in _BOUNDS}
    if "default" in simple and not simple["default"]:
        del simple["default"]  # null, false, 0 and an empty list are what a model expects
    if simple.get("description") in _SHORTER:
        simple["description"] = _SHORTER[simple["description"]]
    if len(simple.get("enum", ())) > _LONGEST_ENUM:
        del simple["enum"]
    if "items" in simple:
        simple["items"] = _simplify_property(simple["items"])
        simple["items"].pop("description", None)
    if "properties" in simple:
        simple["properties"] = {
            name: _simplify_property(_drop_null_type(part)) for name, part in simple["properties"].items()
        }
        for part in simple["properties"].values():
            if "enum" in part:
                del part["description"]  # its values say it
        simple.pop("additionalProperties", None)
        if not simple.get("required"):
            simple.pop("required", None)
    return simple


def _build_output_schema(operation: Operation) -> Json | None:
    """Declare that a tool's result is an object, without its fields: models read the schema of each tool in the list.

    None for a tool whose result can have images: such a result has no structured part.
    """
    shape = list_answer_types(operation)[0]  # the other one of a result that may be missing is None
    return None if isinstance(shape, type) and issubclass(shape, _WITH_IMAGES) else {"type": "object"}


def _inline_schema(shape: Any) -> Json:
    (schema,), components = build_schemas([shape], _REF)
    return typing.cast(Json, _resolve_references(schema, components))


def _resolve_references(node: Any, components: Json) -> Any:
    if isinstance(node, list):
        return [_resolve_references(each, components) for each in typing.cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    schema = typing.cast(Json, node)
    if "$ref" in schema:
        target = _resolve_references(components[schema["$ref"].rpartition("/")[2]], components)
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return {
        key: _resolve_references(value, components)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _drop_null_type(schema: Json) -> Json:
    """Remove null from a schema; results leave out null fields."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if not kinds:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else {**rest, "anyOf": kinds}


def encode_image(content: Content) -> str:
    """Encode an image for MCP (base64)."""
    return base64.b64encode(content.data).decode()
