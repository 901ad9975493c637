"""What is wrong with an operation's input: every fault, with the names and values that are accepted.

msgspec stops at the first fault. A caller that sees all of them needs one correction instead of several.
"""

import difflib
import enum
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ticketbox.domain.core.problems import FieldError, InvalidRequest
from ticketbox.domain.core.validation_errors import split_error

MAX_FAULTS = 20
MAX_MEMBERS = 1_000  # of an input; no operation has a tenth of it

_UNKNOWN = "Object contains unknown field `"
_MISSING = "Object missing required field `"
_NO_OBJECT = "Expected `object"  # or `object | null`
_NO_VALUE = "Invalid enum value "
_REPHRASED = (
    (re.compile(r"expected `str` matching regex .*", re.DOTALL), "invalid characters or format"),
    (re.compile(r"expected `(?:str|array)` of length >= 1"), "must not be empty"),
    (re.compile(r"expected `str` of length >= (\d+)"), r"must have at least \1 characters"),
    (re.compile(r"expected `str` of length <= (\d+)"), r"must have at most \1 characters"),
    (re.compile(r"expected `array` of length >= (\d+)"), r"must have at least \1 items"),
    (re.compile(r"expected `array` of length <= (\d+)"), r"must have at most \1 items"),
    (re.compile(r"expected `(?:int|float)` >= (.+)"), r"must be \1 or more"),
    (re.compile(r"expected `(?:int|float)` <= (.+)"), r"must be \1 or less"),
)


class Fault(msgspec.Struct, frozen=True):
    """One wrong part of the input, and the names or values that it could have."""

    field: str
    message: str
    valid: list[str] = []


def find_faults(shape: type[msgspec.Struct], arguments: Mapping[str, Any], *, lax: bool = False) -> list[Fault]:
    """Find the first faults of an input, up to MAX_FAULTS; empty if only the input as a whole is wrong."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    faults: list[Fault] = []
    knows_names = False
    for name, value in arguments.items():
        if len(faults) == MAX_FAULTS:
            return faults
        if name not in fields:
            faults.append(_describe_unknown_name(name, list(fields), listed=knows_names))
            knows_names = True
            continue
        try:
            msgspec.convert(value, fields[name].type, strict=not lax)
        except msgspec.ValidationError as error:
            faults.append(describe_fault(error, name, fields[name].type))
    missing = [name for name, field in fields.items() if field.required and name not in arguments]
    return [*faults, *(Fault(name, "required field is missing") for name in missing)][:MAX_FAULTS]


def describe_fault(error: msgspec.ValidationError, within: str = "", shape: Any = None) -> Fault:
    """Describe an error of msgspec in an input, or in its field `within`, of the type `shape`."""
    message, inner, of_name = split_error(error)
    field = (within + inner).lstrip(".")
    found = None if shape is None else _follow_path(shape, inner)
    for lead in (_UNKNOWN, _MISSING):
        if message.startswith(lead):
            name = message.removeprefix(lead).removesuffix("`")
            field = f"{field}.{name}" if field else name
            if lead == _UNKNOWN and (accepted := _list_fields(found)):
                return msgspec.structs.replace(_describe_unknown_name(name, accepted, listed=False), field=field)
            return Fault(field, "unknown field" if lead == _UNKNOWN else "required field is missing")
    if message.startswith(_NO_VALUE) and (values := _list_values(found)):
        return Fault(field, f"must be one of {', '.join(values)}", values)
    if message.startswith(_NO_OBJECT) and (accepted := _list_fields(found)):
        return Fault(field, f"must be an object with {', '.join(accepted)}", accepted)
    message = _simplify_message(message)
    if of_name:
        return Fault(field, f"each name {message}")
    examples = _list_examples(found) if message == _REPHRASED[0][1] else []
    return Fault(field, f"{message}; an example: {examples[0]}" if examples else message)


def build_invalid_request(faults: Iterable[Fault]) -> InvalidRequest:
    """Return the problem that names all faults; a single one also has the names or values that are accepted."""
    faults = list(faults)
    detail = "; ".join(f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in faults)
    problem = InvalidRequest(detail, *(FieldError(fault.field, fault.message) for fault in faults))
    if len(faults) == 1 and faults[0].valid:
        problem.extra["valid"] = faults[0].valid
    return problem


def describe_validation_error(error: msgspec.ValidationError, within: str = "") -> InvalidRequest:
    """Convert an error of msgspec to a problem that names the field."""
    return build_invalid_request([describe_fault(error, within)])


def _describe_unknown_name(name: str, accepted: list[str], *, listed: bool) -> Fault:
    """Describe an unknown field; `listed` says that an earlier fault has the accepted names and a suggestion."""
    shown = name if len(name) <= 100 else f"{name[:100]}…"
    if listed:
        return Fault(shown, "unknown field")
    near = [f"did you mean {each}?" for each in difflib.get_close_matches(shown, accepted, 1)]
    names = f"accepted: {', '.join(accepted)}" if accepted else "this takes no input"
    return Fault(shown, "; ".join(["unknown field", *near, names]), accepted)


def _simplify_message(message: str) -> str:
    """Rephrase a message of msgspec without its type names."""
    message = message[:1].lower() + message[1:]
    for pattern, words in _REPHRASED:
        if pattern.fullmatch(message):
            return pattern.sub(words, message)
    return message


def _follow_path(shape: Any, path: str) -> Any:
    """Return the type at a path such as `[...].status`; None if it can't be found."""
    for step in re.findall(r"\[[^\]]*\]|\.\w+", path):
        options = list(list_options(shape))
        if step.startswith("["):
            shape = next((typing.get_args(each)[-1] for each in options if typing.get_args(each)), None)
        else:
            fields = [
                field.type
                for each in options
                if isinstance(each, type) and issubclass(each, msgspec.Struct)
                for field in msgspec.structs.fields(each)
                if field.encode_name == step[1:]
            ]
            shape = fields[0] if fields else None
        if shape is None:
            return None
    return shape


def list_options(shape: Any) -> Iterable[Any]:
    """Yield the types of a union, without annotations."""
    origin = typing.get_origin(shape)
    if origin is typing.Annotated:
        yield from list_options(typing.get_args(shape)[0])
    elif origin in {typing.Union, types.UnionType}:
        for each in typing.get_args(shape):
            yield from list_options(each)
    else:
        yield shape


def _list_values(shape: Any) -> list[str]:
    options = list_options(shape)
    return [
        str(value.value)
        for each in options
        if isinstance(each, type) and issubclass(each, enum.Enum)
        for value in each
    ]  # fmt: skip


def _list_fields(shape: Any) -> list[str]:
    structs = [each for each in list_options(shape) if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    return [field.encode_name for each in structs[:1] for field in msgspec.structs.fields(each)]


def _list_examples(shape: Any) -> list[str]:
    """List the examples of a type's annotations."""
    origin = typing.get_origin(shape)
    if origin in {typing.Union, types.UnionType}:
        return [example for each in typing.get_args(shape) for example in _list_examples(each)]
    if origin is not typing.Annotated:
        return []
    metas = [meta for meta in typing.get_args(shape)[1:] if isinstance(meta, msgspec.Meta)]
    return [str(example) for meta in metas for example in meta.examples or ()]
