"""Arguments of tool calls as models send them: under common other names, numbers as text, null for nothing.

What other tools for tickets call an argument is accepted silently, so that a model or a skill written for those works
here. Faults that remain are found by the operation (`operations/core/faults.py`).
"""

import functools
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InvalidField, InvalidRequest
from ticketbox.mcp.tools import ToolCard
from ticketbox.operations.core.faults import MAX_MEMBERS
from ticketbox.operations.tickets.ticket_detail import Detail

Arguments = dict[str, Any]

# Other names, each for the first argument in its list that the tool has. Names of a tool's own arguments come first.
ALIASES: dict[str, tuple[str, ...]] = {
    "assignee": ("user_id",),
    "assignee_id": ("assignee", "user_id"),
    "assignees": ("user_ids",),
    "branch_name": ("branch",),
    "capture": ("capture_id",),
    "column": ("column_id",),
    "comment": ("body",),
    "company": ("company_id",),
    "content": ("body", "description"),
    "entry_id": ("entry",),
    "id": ("ticket_id", "capture_id", "asset_id"),
    "key": ("ticket_id",),
    "label": ("labels",),
    "labels": ("label",),
    "max_results": ("limit",),
    "message": ("body",),
    "name": ("title",),
    "page_size": ("limit",),
    "project": ("project_id",),
    "query": ("q",),
    "request_id": ("entry",),
    "search": ("q",),
    "seq": ("entry",),
    "target_column": ("column_id",),
    "target_column_id": ("column_id",),
    "text": ("body", "q"),
    "ticket": ("ticket_id",),
    "ticket_key": ("ticket_id",),
    "ticket_ids": ("ticket_id",),
    "tickets": ("ticket_ids",),
    "to_column_id": ("column_id",),
    "url": ("source_url", "ticket_id"),
    "user": ("user_id",),
    "users": ("user_ids",),
    "version": ("expected_version",),
}
_QUERY_NAMES = ("q", "query", "search", "text")
_FILTERS = {"column_id": "column", "assignee": "assignee", "label": "label", "priority": "priority"}
_FILE_NAMES = {  # of the members of add_attachment's file
    "name": "name", "filename": "name", "file_name": "name", "data": "data", "content": "data", "base64": "data",
}  # fmt: skip
_IGNORED_PARTS = {"annotations", "attachments", "assets"}  # get_ticket includes them, or list_annotations has them
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool: `given` as the model may repeat it, `arguments` for the operation."""

    card: ToolCard
    given: Arguments
    arguments: Arguments
    full: bool


def prepare_call(cards: Mapping[str, ToolCard], card: ToolCard, sent: Arguments) -> ToolCall:
    """Translate a call to the arguments of its operation. Raises InvalidRequest for a wrong `detail` or too many."""
    if len(sent) > MAX_MEMBERS:
        raise InvalidRequest(f"a call may have up to {MAX_MEMBERS:,} arguments")
    card, given = _redirect_search(cards, card, sent)
    given = _convert_values(card, _translate_names(card, given))
    arguments = dict(given)
    detail = arguments.get("detail", Detail.SUMMARY)
    if card.lists_lines:
        # Operations on streams have no `detail`: their answers are always complete, and tools show them as lines.
        arguments.pop("detail", None)
        if detail not in list(Detail):
            raise InvalidField("detail", f"must be one of {', '.join(Detail)}", valid=list(Detail))
    for name, value in card.operation.tool.defaults.items() if card.operation.tool else ():
        if arguments.get(name) is None:
            arguments[name] = value
    return ToolCall(card, given, arguments, detail == Detail.FULL)


def _translate_names(card: ToolCard, sent: Arguments) -> Arguments:
    """Replace other names by those of the tool; unknown ones stay, so that the operation refuses them."""
    accepted = card.input_schema["properties"]
    given: Arguments = {name: value for name, value in sent.items() if name in accepted}
    for name, value in sent.items():
        if name in accepted:
            continue
        snake = _WORD_START.sub("_", name).lower().replace("-", "_")
        targets = [each for each in (snake, *ALIASES.get(snake, ())) if each in accepted and each not in given]
        given[targets[0] if targets else name] = value
    if card.operation.name == "add_attachment" and "file" not in given:
        file = {field: given.pop(name) for name, field in _FILE_NAMES.items() if name in given}
        given |= {"file": file} if file else {}
    if card.operation.name == "get_ticket" and isinstance(given.get("include"), list):
        given["include"] = [part for part in given["include"] if part not in _IGNORED_PARTS]
    if card.operation.name == "get_screenshot" and isinstance(given.get("asset"), str):
        given.setdefault("annotated", "annotation" in given.pop("asset"))
    return given


def _redirect_search(cards: Mapping[str, ToolCard], card: ToolCard, sent: Arguments) -> tuple[ToolCard, Arguments]:
    """Turn a list of tickets with a query into a search, whose filters are part of its query."""
    if card.operation.name != "list_tickets":
        return card, sent
    query = next((sent[name] for name in _QUERY_NAMES if sent.get(name)), None)
    if not isinstance(query, str):
        return card, sent
    terms = [query]
    rest: Arguments = {}
    for name, sent_value in _translate_names(card, {key: sent[key] for key in sent if key not in _QUERY_NAMES}).items():
        value = _unwrap_list(sent_value)
        if name in _FILTERS and isinstance(value, str):
            terms.append(f'{_FILTERS[name]}:"{value}"')
        elif name == "resolved" and value is not None:
            terms.append("is:resolved" if value in {True, "true", "1"} else "is:open")
        elif name != "sort":
            rest[name] = value
    return cards["search_tickets"], {"q": " ".join(terms), **rest}


def _unwrap_list(value: Any) -> Any:
    """Return the only item of a list, and anything else as it is."""
    if isinstance(value, list) and len(typing.cast(list[Any], value)) == 1:
        return typing.cast(list[Any], value)[0]
    return typing.cast(Any, value)


def _convert_values(card: ToolCard, given: Arguments) -> Arguments:
    """Convert numbers for text, one value for a list, and a list as JSON text; drop null where it isn't a value."""
    shapes = _get_kinds(card.operation.arguments)
    converted: Arguments = {}
    for name, value in given.items():
        kinds = shapes.get(name)
        if value is None and kinds is not None and type(None) not in kinds:
            continue
        if kinds and type(value) in {int, float} and str in kinds and not kinds & {int, float}:
            converted[name] = str(value)
        elif kinds and list in kinds and isinstance(value, str | int):
            converted[name] = _read_list(value)
        elif kinds and list not in kinds and isinstance(value, list) and len(typing.cast(list[Any], value)) == 1:
            converted[name] = value[0]
        else:
            converted[name] = value
    return converted


@functools.cache
def _get_kinds(arguments: type[msgspec.Struct]) -> dict[str, set[type]]:
    """Return the plain types that each argument accepts."""
    return {field.encode_name: set(_list_kinds(field.type)) for field in msgspec.structs.fields(arguments)}


def _read_list(value: str | int) -> Any:
    """Read a list that was sent as JSON text, or as its only item."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return [value]


def _list_kinds(shape: Any) -> Iterable[type]:
    """Yield the plain types that a field accepts."""
    origin = typing.get_origin(shape)
    if origin is typing.Annotated:
        yield from _list_kinds(typing.get_args(shape)[0])
    elif origin in {typing.Union, types.UnionType}:
        for each in typing.get_args(shape):
            yield from _list_kinds(each)
    elif origin is not None:
        yield origin
    elif isinstance(shape, type):
        yield shape
