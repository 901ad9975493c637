"""Every patterned text of every operation: what its schema promises is what the server takes."""

import typing
from collections.abc import Iterator
from typing import Annotated, Any

import jsonschema_rs
import msgspec
import pytest

from tests.support.server import World, expect_error, ok
from ticketbox.domain.accounts.oauth import CHALLENGE
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.schemas import build_schemas

MANY_LINES = r"^[^\x00]*$"
SAMPLES = ("correct horse", "active", "4xx", "GET", "a" * 43, "ann_000000000000", "ann@example.org")


def find_patterns(kind: Any, path: str, seen: frozenset[Any] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Each type of text with a pattern within a type, with the way to it."""
    metas = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, msgspec.Meta)]
    if any(each.pattern for each in metas):
        yield path, kind
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in seen:
        for field in msgspec.structs.fields(kind):
            yield from find_patterns(field.type, f"{path}.{field.name}", seen | {kind})
    else:
        for part in typing.get_args(kind):
            yield from find_patterns(part, path, seen)


FOUND = dict(
    found for operation in load_registry() for found in find_patterns(operation.arguments, operation.arguments.__name__)
) | {"Authorize.code_challenge": Annotated[str, CHALLENGE]}


@pytest.mark.parametrize("field", sorted(FOUND))
def test_trailing_newline_is_accepted_as_the_schema_says(field: str) -> None:
    """jsonschema-rs reads the patterns as ECMA-262 does; only texts of many lines may end in a line feed."""
    kind = FOUND[field]
    ((schema,), _) = build_schemas([kind], "#/$defs/{name}")
    validator = jsonschema_rs.validator_for(schema)
    text = next(each for each in (*schema.get("examples", ()), *SAMPLES) if validator.is_valid(each))
    assert msgspec.convert(text, kind) == text
    assert validator.is_valid(text + "\n") == (schema["pattern"] == MANY_LINES)
    if schema["pattern"] == MANY_LINES:
        msgspec.convert(text + "\n", kind)
    else:
        with pytest.raises(msgspec.ValidationError, match=r"regex|length"):
            msgspec.convert(text + "\n", kind)


def test_trailing_newline_in_a_title_is_rejected_by_the_server(world: World) -> None:
    given = {"project_id": world.project, "title": "A title\n"}
    expect_error(world.api.post("/tickets", json=given), 400, "invalid_request")
    assert ok(world.api.get("/tickets"))["items"] == []
