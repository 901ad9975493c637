"""Results as agents read them: JSON objects without nulls that fit a context (docs/use/agents.md, "Answer sizes").

REST returns the same results whole. Here lists have one short entry each, long texts are clipped with a mark, and what
doesn't fit is counted in `omitted`, with the call that returns it in `next`.
"""

import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, NetworkEntry
from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.lines import FORMATS, format_line
from ticketbox.domain.core.tokens import clip_text, estimate_tokens, fits
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.captures.streams import StreamPage
from ticketbox.operations.core.content import Content
from ticketbox.operations.tickets.ticket_detail import TicketDetail

Json = dict[str, Any]

LISTED_DESCRIPTION = 200  # characters
TOKENS, FULL_TOKENS = 7_500, 22_000  # of a whole answer without its picture
TICKETS_TOKENS = 5_200  # of a page of tickets
CAPTURES_TOKENS = 400  # of the list of a ticket's captures
ANNOTATION_TOKENS = 400  # of the texts on a picture

_ENVELOPE = 200
_FEWEST_TOKENS = 100
_PARTS = ("error_groups", "failed_requests", "errors", "network", "console")
_AS_LINES = ("error_groups", "failed_requests", "console")
_TICKET_PARTS = {  # tokens of the parts of get_ticket beside the capture: the default, with other parts, and `full`
    "description": (1_500, 800, 4_000),
    "attachments": (600, 400, 2_000),
    "comments": (1_000, 1_000, 2_000),
    "history": (500, 500, 1_000),
}
_REDUCTIONS: tuple[tuple[int, tuple[str, ...]], ...] = (  # the longest description, and fields that are left out
    (LISTED_DESCRIPTION, ()),
    (LISTED_DESCRIPTION // 2, ()),
    (LISTED_DESCRIPTION // 4, ()),
    (0, ("branch",)),
    (0, ("branch", "project_id", "column_id")),  # their names are there, and tools accept those
    (0, ("branch", "project_id", "column_id", "updated", "project")),
)
_LISTED_FIELDS = ("company_id", "position", "created", "version", "source_url")


def build_structured_result(result: Any, *, full: bool = False, complete: bool = False) -> Json:
    """Convert a result to a JSON object without nulls. `complete` leaves out nothing else."""
    if isinstance(result, Content):
        return _describe_content(result)
    if result is None:
        return {"done": True}
    if isinstance(result, StreamPage) and not (full or complete):
        return _build_stream_page(typing.cast("StreamPage[Any]", result))
    structured = typing.cast(Json, msgspec.to_builtins(result))
    _drop_nulls(structured)
    if complete:
        return structured
    if isinstance(result, TicketDetail):
        _shorten_ticket_detail(structured, result, full=full)
    elif isinstance(result, Ticket):
        structured["description"] = _shorten(structured["description"], LISTED_DESCRIPTION)
    elif _is_page_of_tickets(result):
        _shorten_tickets(structured["items"])
    elif isinstance(result, ConsoleEntry | NetworkEntry | ErrorEntry):
        structured = _clip_texts(structured, FULL_TOKENS if full else TOKENS)
    return structured


def _describe_content(content: Content) -> Json:
    """Describe a file; a text is included, clipped to what fits."""
    if is_picture(content):
        fields = {"media_type": content.media_type, "width": content.width, "height": content.height}
        return {name: value for name, value in fields.items() if value is not None}
    described: Json = {"name": content.name, "media_type": content.media_type, "bytes": len(content.data)}
    try:
        text = content.data.decode()
    except UnicodeDecodeError:
        return {**described, "note": "This file isn't text; download it with the REST API, GET /assets/{id}/content."}
    return {**described, "text": clip_text(text, TOKENS - _ENVELOPE)}


def is_picture(content: Content) -> bool:
    """Whether a file is an image that models can see."""
    return content.media_type in {media_types.PNG, media_types.JPEG, media_types.WEBP}


def cut_page(structured: Json, *, full: bool = False) -> int:
    """Return how many items of a page fit; long texts in its items are clipped if they all don't. At least 1."""
    items: list[Any] = structured["items"]
    budget = (FULL_TOKENS if full else TOKENS) - _ENVELOPE
    if fits(_encode(items), budget):
        return len(items)
    for index, item in enumerate(items):
        if isinstance(item, dict):
            items[index] = _clip_texts(typing.cast(Json, item), budget if full else budget // 3)
    spent = 0
    for kept, item in enumerate(items):
        spent += estimate_tokens(_encode(item))
        if spent > budget:
            return max(1, kept)
    return len(items)


def encode_annotation_texts(texts: Iterable[str]) -> str:
    """Return the texts on an image as JSON, because a font may lack some characters."""
    shown: list[str] = []
    spent = 0
    for text in texts:
        clipped = clip_text(text, ANNOTATION_TOKENS // 4)
        spent += estimate_tokens(clipped)
        if spent > ANNOTATION_TOKENS:
            shown.append("… [more texts; see list_annotations]")
            break
        shown.append(clipped)
    return _encode({"annotation_texts": shown})


def describe_next_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the call that continues a page, with `next_cursor` from the answer."""
    given = {key: value for key, value in arguments.items() if key not in {"cursor", "limit"} and value is not None}
    texts = [f"{key}={msgspec.json.encode(value).decode()}" for key, value in given.items()]
    return f"{name}({', '.join([*texts, 'cursor=next_cursor'])})"


def lists_lines(result_type: Any) -> bool:
    """Whether the tool of such a result returns lines, and accepts `detail`."""
    return typing.get_origin(result_type) is StreamPage or result_type in typing.get_args(Entry)


def _build_stream_page(page: StreamPage[Any]) -> Json:
    structured: Json = {"items": [format_line(entry) for entry in page.items]}
    if page.items:
        structured["format"] = FORMATS[type(page.items[0])]
    if page.next_cursor is not None:
        structured["next_cursor"] = page.next_cursor
    return {
        **structured,
        "total": page.total,
        "matched": page.matched,
        "health": {"status": page.health.status.value},
        "health_summary": page.health_summary,
    }


def _shorten_ticket_detail(structured: Json, result: TicketDetail, *, full: bool) -> None:
    column = 2 if full else 1 if "comments" in structured or "history" in structured else 0
    more = f"the resource ticket://{result.id} has all"
    structured["description"] = clip_text(result.description, _TICKET_PARTS["description"][column], more)
    structured["attachments"] = _shorten_assets(structured["attachments"])
    _cut_part(
        structured,
        "attachments",
        _TICKET_PARTS["attachments"][column],
        f'get_ticket(ticket_id="{result.id}", detail="full")',
    )
    _shorten_captures(structured)
    for part, call in (("comments", "list_comments"), ("history", "get_ticket_history")):
        if part in structured:
            _cut_part(structured, part, _TICKET_PARTS[part][column], f'{call}(ticket_id="{result.id}")')
    capture: Json | None = structured.get("capture")
    if capture is None or result.capture is None:
        return
    for name in ("health", "redaction"):
        capture.pop(name, None)
    if "screenshot" in capture:
        capture["screenshot"] = {name: capture["screenshot"].get(name) for name in ("id", "width", "height")}
    capture["assets"] = _shorten_assets(capture["assets"])
    capture["page"] = {name: clip_text(text, 300) for name, text in capture["page"].items()}
    for name in _PARTS:
        part = getattr(result.capture, name)
        if part is msgspec.UNSET:
            continue
        shown = capture.pop(name)  # the overview goes first, whatever the record's order
        if name in _AS_LINES:
            shown["items"] = [format_line(entry) for entry in part.items]
            if part.items:
                shown = {"format": FORMATS[type(part.items[0])], **shown}
        elif name == "errors":
            for entry in shown["items"]:
                if "stack" in entry:
                    entry.pop("frames", None)
        capture[name] = {key: value for key, value in shown.items() if value != 0 or key == "total"}


def _shorten_captures(structured: Json) -> None:
    """List the ticket's captures with what an agent chooses by; a single one is `capture`."""
    listed: list[Json] = structured["captures"]
    if len(listed) < 2:
        del structured["captures"]
        return
    structured["captures"] = [
        {"id": each["id"], "captured_at": _shorten_time(each["captured_at"]), **_count_entries(each["counts"])}
        for each in listed
    ]
    _cut_part(structured, "captures", CAPTURES_TOKENS, f'list_captures(ticket_id="{structured["id"]}")')


def _count_entries(counts: Json) -> Json:
    return {name: count for name, count in counts.items() if count}


def _shorten_assets(files: list[Json]) -> list[Json]:
    kept = ("id", "kind", "name", "media_type", "bytes")
    return [{name: file[name] for name in kept} for file in files]


def _cut_part(structured: Json, part: str, tokens: int, call: str) -> None:
    """Cut a list in a ticket at an entry's boundary."""
    items: list[Json] = structured[part]
    spent = 0
    for kept, item in enumerate(items):
        items[kept] = _clip_texts(item, tokens // 2)
        spent += estimate_tokens(_encode(items[kept]))
        if spent > tokens:
            structured[part] = items[:kept]
            structured[f"{part}_omitted"] = len(items) - kept
            structured[f"{part}_next"] = call
            return


def _is_page_of_tickets(result: Any) -> bool:
    listed: list[Any] = getattr(result, "items", [])
    return bool(listed) and isinstance(listed[0], Ticket)


def _shorten_listed_ticket(item: Json) -> None:
    """Reduce a ticket to what an agent chooses by, in place: fields with their usual value are left out."""
    for name in _LISTED_FIELDS:
        item.pop(name, None)
    usual = (("resolved", False), ("status", "active"), ("priority", "none"), ("comment_count", 0))
    for name in [*(name for name, value in usual if item.get(name) == value), *(n for n, v in item.items() if v == [])]:
        del item[name]
    if "assignees" in item:
        item["assignees"] = [person["name"] for person in item["assignees"]]
    item["updated"] = _shorten_time(item["updated"]["at"])
    if "claim" in item:
        by = item["claim"]["by"]
        item["claim"] = f"{by.get('token_label') or by['user']['name']} until {_shorten_time(item['claim']['until'])}"
    if "capture" in item:
        item["capture"] = {"id": item["capture"]["id"], **_count_entries(item["capture"]["counts"])}
    if found := item.pop("highlights", {}).get("excerpt"):
        item["match"] = "".join(piece["text"] for piece in found["parts"])


def _shorten_tickets(items: list[Json]) -> None:
    """Shorten the tickets of a list; the longer the list, the shorter the descriptions."""
    for item in items:
        _shorten_listed_ticket(item)
    descriptions = [item.get("description", "") for item in items]
    for longest, without in _REDUCTIONS:
        for item, text in zip(items, descriptions, strict=True):
            item["description"] = _shorten(text, longest)
            for name in without if "column" in item else without[:1]:
                item.pop(name, None)
            if not item["description"]:
                del item["description"]
        if fits(_encode(items), TICKETS_TOKENS):
            return


def _shorten_time(time: str) -> str:
    """Return an RFC 3339 time to the minute."""
    return f"{time[:16]}Z"


def _clip_texts(record: Json, tokens: int) -> Json:
    """Clip the longest texts of a record until it fits."""
    text = _encode(record)
    share = tokens
    while not fits(text, tokens) and share > _FEWEST_TOKENS:
        share //= 2
        record = _map_texts(record, share)
        text = _encode(record)
    return record


def _map_texts(node: Any, tokens: int) -> Any:
    if isinstance(node, str):
        return clip_text(node, tokens)
    if isinstance(node, list):
        items = typing.cast(list[Any], node)
        kept = [_map_texts(item, tokens) for item in items[: max(5, tokens // 20)]]
        return kept if len(kept) == len(items) else [*kept, f"… [{len(items) - len(kept):,} more]"]
    if isinstance(node, dict):
        return {name: _map_texts(part, tokens) for name, part in typing.cast(Json, node).items()}
    return node


def _shorten(text: str, longest: int) -> str:
    """Return the beginning of a text; fifty full descriptions would fill a model's context."""
    if len(text) <= longest:
        return text
    if not longest:
        return ""
    return f"{text[:longest].rstrip()}… ({len(text):,} characters; get_ticket returns all)"


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _drop_nulls(node: Any) -> None:
    """Remove null fields in place; building a second tree would double the time."""
    if type(node) is dict:
        fields = typing.cast(Json, node)
        parts: Iterable[Any] = fields.values()
        if None in parts:
            for name in [name for name, value in fields.items() if value is None]:
                del fields[name]
    else:
        parts = node
    for part in parts:
        if type(part) in _NODES:
            _drop_nulls(part)


_NODES = {dict, list}
