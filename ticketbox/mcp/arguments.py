"""Arguments of tool calls as models send them: under common other names, numbers as text, JSON as text.

What other tools for tickets call an argument is accepted, so that a model or a skill written for those works here.
Faults that remain are found by the operation (`operations/core/faults.py`).
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ticketbox.domain.core.problems import InvalidField, InvalidRequest
from ticketbox.mcp.nested_values import read_value
from ticketbox.mcp.tools import ToolCard
from ticketbox.operations.core.faults import MAX_MEMBERS, list_options
from ticketbox.operations.tickets.ticket_detail import Detail

Arguments = dict[str, Any]

# Other names, each for the first argument in its list that the tool has. A tool's own names come first, then those that
# differ in number or in `_id` (`_list_names`).
ALIASES: dict[str, tuple[str, ...]] = {
    "assignee": ("user_id", "user_ids"),
    "assignee_id": ("user_id", "user_ids"),
    "assignees": ("user_ids",),
    "body": ("description",),
    "branch_name": ("branch",),
    "comment": ("body",),
    "content": ("body", "description"),
    "id": ("ticket_id", "capture_id", "asset_id"),
    "issue_id": ("ticket_id",),
    "key": ("ticket_id",),
    "max_results": ("limit",),
    "message": ("body",),
    "name": ("title",),
    "options": ("choices",),
    "page_size": ("limit",),
    "query": ("q",),
    "request_id": ("entry",),
    "search": ("q",),
    "seq": ("entry",),
    "severity": ("priority",),
    "summary": ("title",),
    "text": ("body", "q"),
    "ticket_key": ("ticket_id",),
    "url": ("source_url", "ticket_id"),
    "version": ("expected_version",),
}
_PREFIX = re.compile(r"^(?:target|to|new)_")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FINDERS = {"list_tickets", "search_tickets"}
_FILTERS = {"column_id": "column", "assignee": "assignee", "label": "label", "priority": "priority"}
_FILE_NAMES = {
    "name": "name",
    "filename": "name",
    "file_name": "name",
    "data": "data",
    "content": "data",
    "base64": "data",
}
_WITH_COMMAS = {"label", "labels", "ticket_ids"}  # lists whose items have no comma
_ALWAYS_INCLUDED = {"annotations", "attachments", "assets", "captures"}  # in every answer of get_ticket


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
    if card.name in _FINDERS:
        card, sent = _choose_finder(cards, card, sent)
    given = _convert_values(card, _translate_names(card, sent))
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
    accepted = {*card.input_schema["properties"], *card.operation.arguments.__struct_fields__}
    given: Arguments = {name: value for name, value in sent.items() if name in accepted}
    for name, value in sent.items():
        if name not in accepted:
            targets = [each for each in _list_names(name) if each in accepted and each not in given]
            given[targets[0] if targets else name] = value
    if card.name == "add_attachment" and "file" not in given:
        file = {field: given.pop(name) for name, field in _FILE_NAMES.items() if name in given}
        given |= {"file": file} if file else {}
    if card.operation.name == "get_screenshot" and isinstance(given.get("asset"), str):
        given.setdefault("annotated", "annotation" in given.pop("asset"))
    if card.name == "get_ticket" and isinstance(given.get("include"), list):
        given["include"] = [part for part in given["include"] if part not in _ALWAYS_INCLUDED]
    return given


def _list_names(name: str) -> list[str]:
    """List what an argument may be called here, the most likely name first."""
    snake = _WORD_START.sub("_", name).lower().replace("-", "_")
    bare = _PREFIX.sub("", snake)
    stem = bare.removesuffix("_id")
    one = stem.removesuffix("s")
    return [snake, bare, *ALIASES.get(snake, ()), f"{stem}_id", stem, f"{one}_ids", f"{one}s", one]


def _choose_finder(cards: Mapping[str, ToolCard], card: ToolCard, sent: Arguments) -> tuple[ToolCard, Arguments]:
    """Choose the tool that finds what a call describes: words and filters are a search, filters alone a list."""
    search, listing = cards["search_tickets"], cards["list_tickets"]
    given = _translate_names(search, sent)
    query = given.pop("q", None)
    if not (query is None or isinstance(query, str)) or not sent:
        return card, sent
    rest = _translate_names(listing, given)
    if not query:
        return listing, rest
    terms = [query]
    for name in [*_FILTERS, "resolved"]:
        value = read_value(rest.get(name), str)
        if name in _FILTERS and isinstance(value, str):
            terms.append(f'{_FILTERS[name]}:"{value}"')
        elif name == "resolved" and value is not None:
            terms.append("is:resolved" if value in {True, "true", "1"} else "is:open")
        else:
            continue
        del rest[name]
    rest.pop("sort", None)
    return search, {"q": " ".join(terms), **rest}


def _convert_values(card: ToolCard, given: Arguments) -> Arguments:
    """Convert values to the types of the arguments; drop null where it isn't a value."""
    shapes = {field.encode_name: field.type for field in msgspec.structs.fields(card.operation.arguments)}
    converted: Arguments = {}
    for name, value in given.items():
        shape = shapes.get(name)
        if shape is None:
            converted[name] = value
        elif value is not None or type(None) in list_options(shape):
            is_listed = name in _WITH_COMMAS and isinstance(value, str) and not value.startswith("[")
            parts = [part.strip() for part in cast(str, value).split(",")] if is_listed else value
            converted[name] = read_value(parts, shape)
    return converted
