"""JSON schemas of records and inputs, for OpenAPI and MCP."""

import types
import typing
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from ticketbox.domain.core.patterns import to_schema_pattern
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.registry import Operation

Json = dict[str, Any]


def build_schemas(shapes: Iterable[Any], template: str) -> tuple[list[Json], Json]:
    """Return the schema of each type, and by name the schemas they refer to. `template` formats a reference."""
    schemas, components = msgspec.json.schema_components(shapes, ref_template=template)
    return [_make_portable(each) for each in schemas], _make_portable(components)


def _make_portable(node: Any) -> Any:
    """Translate patterns, and add the type that enums lack: some agents' clients drop arguments without one."""
    if isinstance(node, list):
        return [_make_portable(each) for each in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    schema = {
        key: to_schema_pattern(value) if key == "pattern" and isinstance(value, str) else _make_portable(value)
        for key, value in cast(Json, node).items()
    }
    values = schema.get("enum")
    if isinstance(values, list) and "type" not in schema:
        texts = [each for each in cast(list[Any], values) if isinstance(each, str)]
        return {"type": "string", **schema} if len(texts) == len(cast(list[Any], values)) else schema
    return schema


def list_answer_types(operation: Operation) -> list[Any]:
    """Return the types of an operation's answer, without the wrapper for a session cookie."""
    answer = operation.result
    if operation.finish is not None:
        answer = typing.get_type_hints(operation.finish)["return"]
    if typing.get_origin(answer) is WithSession:
        (answer,) = typing.get_args(answer)
    if typing.get_origin(answer) in {typing.Union, types.UnionType}:
        return list(typing.get_args(answer))
    return [types.NoneType if answer is None else answer]


def get_description(annotated: Any) -> str:
    """Return the description of an annotated type."""
    return next(meta.description for meta in typing.get_args(annotated)[1:] if meta.description)
