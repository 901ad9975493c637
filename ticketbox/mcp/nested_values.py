"""Values of arguments as models write them: JSON as text, one value for a list, a number for a text."""

import enum
import typing
from typing import Any, cast

import msgspec

from ticketbox.operations.core.faults import list_options

_FIELDS = {"status": "state", "title": "text", "content": "text", "step": "text", "href": "url", "type": "kind"}
_WORDS = {  # of the states of a plan's steps, as other tools have them
    "in_progress": "active", "completed": "done", "complete": "done", "todo": "pending", "cancelled": "dropped",
    "canceled": "dropped", "skipped": "dropped",
}  # fmt: skip


def read_value(value: Any, shape: Any) -> Any:
    """Convert a value to a type as far as its meaning is clear; what isn't stays, so that the operation refuses it."""
    options = list(list_options(shape))
    kinds = {typing.get_origin(each) or each for each in options}
    structs = [each for each in options if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    if isinstance(value, str) and ((list in kinds and value.startswith("[")) or (structs and value.startswith("{"))):
        value = _decode_json(value)
    if list in kinds:
        items = cast(list[Any], value) if isinstance(value, list) else [value] if _is_item(value) else None
        (item,) = next(typing.get_args(each) for each in options if typing.get_origin(each) is list)
        return cast(Any, value) if items is None else [read_value(each, item) for each in items]
    if isinstance(value, list):
        items = cast(list[Any], value)
        return read_value(items[0], shape) if len(items) == 1 else items
    if structs:
        return _read_struct(value, structs[0])
    if type(value) in {int, float} and str in kinds and not kinds & {int, float}:
        return str(value)
    return _read_word(value, options) if isinstance(value, str) else value


def _is_item(value: Any) -> bool:
    return isinstance(value, str | int | dict)


def _decode_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _read_struct(value: Any, shape: type[msgspec.Struct]) -> Any:
    """Read an object by its fields; a text is an object whose only required field is that text."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    required = [name for name, field in fields.items() if field.required]
    if isinstance(value, str) and required == ["text"]:
        return {"text": value}
    if not isinstance(value, dict):
        return value
    read: dict[Any, Any] = {}
    for name, part in cast(dict[Any, Any], value).items():
        target = name if name in fields or _FIELDS.get(name) not in fields else _FIELDS[name]
        read[target if target not in read else name] = (
            read_value(part, fields[target].type) if target in fields else part
        )
    return read


def _read_word(value: str, options: list[Any]) -> str:
    """Return the value of an enum that a word means, in any case; words that mean none stay."""
    valid = {
        each.value
        for option in options
        if isinstance(option, type) and issubclass(option, enum.Enum)
        for each in option
    }
    word = value.strip().lower().replace(" ", "_").replace("-", "_")
    return next((each for each in (word, _WORDS.get(word, "")) if value not in valid and each in valid), value)
