"""The MCP tools, made from the registry: names, descriptions and schemas (docs/reference/tools.md).

Schemas are written out without references and cut to what a caller needs, because every one of them is read
by a model before it can do anything.
"""

import base64
import functools
import typing
from collections.abc import Iterable
from typing import Any

import msgspec

from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.scopes import Scope
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.registry import Operation, Registry
from ticketbox.operations.core.schemas import Json, build_schemas, list_answer_types

LISTED_DESCRIPTION = 200  # characters

_REF = "#/$defs/{name}"
_OUTPUT_DEPTH = 1
_REFUSAL = {"required": ["code", "detail"]}
_PICTURE = {
    "properties": {
        "media_type": {"type": "string"},
        "width": {"type": "integer"},
        "height": {"type": "integer"},
    },
    "required": ["media_type"],
}


class ToolCard(msgspec.Struct, frozen=True):
    """A tool as `tools/list` shows it."""

    name: str
    title: str
    description: str
    input_schema: Json
    output_schema: Json
    read_only: bool
    destructive: bool
    idempotent: bool
    operation: Operation


@functools.cache
def cards(registry: Registry) -> dict[str, ToolCard]:
    """Every tool by its name, in the registry's order."""
    found = [_card(operation) for operation in registry if operation.tool is not None]
    return {card.name: card for card in found}


def allowed(registry: Registry, actor: Actor) -> list[ToolCard]:
    """The tools that a caller's scopes let it use."""
    return [
        card
        for card in cards(registry).values()
        if not isinstance(card.operation.scope, Scope) or card.operation.scope in actor.scopes
    ]


def _card(operation: Operation) -> ToolCard:
    tool = operation.tool
    assert tool is not None
    example = msgspec.json.encode(tool.example).decode()
    return ToolCard(
        name=tool.name or operation.name,
        title=tool.title,
        description=f"{operation.summary}. {tool.when} Example: {example}",
        input_schema=_input(operation),
        output_schema=_output(operation),
        read_only=not operation.writes,
        destructive=tool.destructive,
        idempotent=tool.idempotent or not operation.writes,
        operation=operation,
    )


def _input(operation: Operation) -> Json:
    schema = _inlined(operation.arguments)
    properties = {name: _optional(part) for name, part in schema.get("properties", {}).items()}
    for part in properties.values():
        part.pop("examples", None)
        if part.get("default", 0) is None:
            del part["default"]
    found: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def _output(operation: Operation) -> Json:
    """What a tool answers, or a refusal: some clients hold results that are errors to the schema as well."""
    (shape,) = list_answer_types(operation)
    found = _PICTURE if shape is Content else _outlined(_inlined(shape), _OUTPUT_DEPTH)
    kind = {name: part for name, part in found.items() if name != "type"}
    return {"type": "object", "anyOf": [kind, _REFUSAL]}


def _inlined(shape: Any) -> Json:
    (schema,), components = build_schemas([shape], _REF)
    return typing.cast(Json, _resolved(schema, components))


def _resolved(node: Any, components: Json) -> Any:
    if isinstance(node, list):
        return [_resolved(each, components) for each in typing.cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    found = typing.cast(Json, node)
    if "$ref" in found:
        target = _resolved(components[found["$ref"].rpartition("/")[2]], components)
        return {**target, **{key: value for key, value in found.items() if key != "$ref"}}
    return {
        key: _resolved(value, components)
        for key, value in found.items()
        if key != "title" or not isinstance(value, str)
    }


def _optional(schema: Json) -> Json:
    """A schema without its null: what may be null is left out instead."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if not kinds:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else {**rest, "anyOf": kinds}


def _outlined(schema: Json, depth: int) -> Json:
    """An output's schema to a certain depth; what is optional there isn't required."""
    schema = _optional(schema)
    if "anyOf" in schema:
        return {"anyOf": [_outlined(kind, depth) for kind in schema["anyOf"]]}
    if schema.get("type") == "array":
        items = schema.get("items")
        return {"type": "array", **({"items": _outlined(items, depth - 1)} if items and depth else {})}
    if schema.get("type") == "object":
        if depth == 0 or "properties" not in schema:
            return {"type": "object"}
        properties: Json = schema["properties"]
        required = [name for name in schema.get("required", ()) if not _may_be_null(properties[name])]
        return {
            "type": "object",
            "properties": {name: _outlined(part, depth - 1) for name, part in properties.items()},
            "required": required,
        }
    return {key: schema[key] for key in ("type", "enum", "const") if key in schema}


def _may_be_null(schema: Json) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def structured(result: Any) -> Json:
    """An answer as a tool's structured result: an object without nulls."""
    if isinstance(result, Content):
        told = {"media_type": result.media_type, "width": result.width, "height": result.height}
        return {name: value for name, value in told.items() if value is not None}
    if result is None:
        return {"done": True}
    found = typing.cast(Json, msgspec.to_builtins(result))
    _drop_nulls(found)
    listed: list[Any] = getattr(result, "items", [])
    if listed and isinstance(listed[0], Ticket):
        for each in found["items"]:
            each["description"] = _in_short(each["description"])
    return found


def _in_short(text: str) -> str:
    """The beginning of a text: fifty whole descriptions would fill a context before anything was chosen."""
    if len(text) <= LISTED_DESCRIPTION:
        return text
    return f"{text[:LISTED_DESCRIPTION].rstrip()}… ({len(text):,} characters; get_ticket tells all)"


def _drop_nulls(node: Any) -> None:
    """In place: a second tree of the same would take as long as the first."""
    if type(node) is dict:
        fields = typing.cast(Json, node)
        for name in [name for name, value in fields.items() if value is None]:
            del fields[name]
        parts: Iterable[Any] = fields.values()
    else:
        parts = node
    for part in parts:
        if type(part) in _NODES:
            _drop_nulls(part)


_NODES = {dict, list}


def encoded(content: Content) -> str:
    """A picture's bytes as MCP carries them."""
    return base64.b64encode(content.data).decode()


def annotation_texts(content: Content) -> str | None:
    """The texts on a picture as JSON, because a font may lack some of their characters; None without texts."""
    if not content.annotation_texts:
        return None
    return msgspec.json.encode({"annotation_texts": content.annotation_texts}).decode()
