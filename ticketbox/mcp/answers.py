"""Results as agents read them: JSON objects without nulls that fit a context (docs/use/agents.md, "Answer sizes").

REST returns the same results whole. Here lists have one short entry each, long texts are clipped with a mark, and what
doesn't fit is counted in `omitted`, with the call that returns it in `next`.
"""

import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ticketbox.domain.captures.capture import Entry
from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.replay.transcript_lines import TRANSCRIPT_FORMAT, format_transcript_line
from ticketbox.domain.captures.summaries.lines import FORMATS, format_line
from ticketbox.domain.captures.timeline.selection import MOMENT_FORMAT, format_moment
from ticketbox.domain.companies.records import Project
from ticketbox.domain.core.access.tokens import clip_text, estimate_tokens, fits
from ticketbox.domain.tickets.records import Ticket
from ticketbox.mcp.clipping import Json, clip_texts, encode_json
from ticketbox.mcp.hidden_text import remove_hidden_text
from ticketbox.mcp.ticket_answers import LISTED_DESCRIPTION, shorten_text, shorten_ticket_detail, shorten_tickets
from ticketbox.operations.captures.replays import ReplayTranscript
from ticketbox.operations.captures.streams import StreamPage
from ticketbox.operations.captures.timeline import Timeline
from ticketbox.operations.core.content import Archive, Content
from ticketbox.operations.tickets.ticket_detail import TicketDetail

TOKENS, FULL_TOKENS = 7_500, 22_000  # of a whole answer without its picture
ARCHIVE_TOKENS = 4_000  # of the files of an archive
ANNOTATION_TOKENS = 400  # of the texts on a picture

_ENVELOPE = 200
_PROJECT_SETTINGS = {"former_keys", "url_patterns", "capture_policy", "verifiers", "created"}  # for people


def build_structured_result(result: Any, *, full: bool = False, complete: bool = False) -> Json:
    """Convert a result to a JSON object without nulls and hidden text. `complete` leaves out nothing else."""
    return remove_hidden_text(_convert_result(result, full=full, complete=complete))


def _convert_result(result: Any, *, full: bool, complete: bool) -> Json:
    if isinstance(result, Archive):
        return _describe_archive(result)
    if isinstance(result, Content):
        return _describe_content(result)
    if result is None:
        return {"done": True}
    if isinstance(result, StreamPage) and not (full or complete):
        return _build_stream_page(typing.cast("StreamPage[Any]", result))
    if isinstance(result, Timeline) and not complete:
        return _build_timeline(result)
    if isinstance(result, ReplayTranscript) and not complete:
        return _build_transcript(result)
    structured = typing.cast(Json, msgspec.to_builtins(result))
    drop_nulls(structured)
    structured = remove_hidden_text(structured)  # before a clipped definition is a paragraph
    if complete or isinstance(result, dict):  # a dict is the stored answer of another version
        return structured
    if isinstance(result, TicketDetail):
        shorten_ticket_detail(structured, result, full=full)
    elif isinstance(result, Ticket):
        structured["description"] = shorten_text(structured["description"], LISTED_DESCRIPTION)
    elif "items" in structured:
        _shorten_items(structured["items"], typing.cast(Any, result).items)
    else:
        structured = clip_texts(structured, FULL_TOKENS if full else TOKENS)
    return structured


def _describe_content(content: Content) -> Json:
    """Describe a file; a text is included, clipped to what fits."""
    if is_picture(content):
        size = {"width": content.width, "height": content.height}
        fields = {"media_type": content.media_type, **size}
        return {name: value for name, value in fields.items() if value is not None}
    described: Json = {"name": content.name, "media_type": content.media_type, "bytes": len(content.data)}
    try:
        text = content.data.decode()
    except UnicodeDecodeError:
        return {**described, "note": "This file isn't text; download it with the REST API, GET /assets/{id}/content."}
    return {**described, "text": clip_text(text, TOKENS - _ENVELOPE)}


def _describe_archive(archive: Archive) -> Json:
    """Return the files of an archive as texts: each one completely or, if it is shared or doesn't fit, its size."""
    files: list[Json] = []
    left = ARCHIVE_TOKENS
    for name, data in archive.files:
        text = data.decode(errors="replace")
        if name not in archive.shared and fits(text, left):
            files.append({"name": name, "text": text})
            left -= estimate_tokens(text)
        else:
            files.append({"name": name, "bytes": len(data)})
    return {"name": archive.name, "note": archive.note, "files": files}


def is_picture(content: Content) -> bool:
    """Whether a file is an image that models can see."""
    return content.media_type in {media_types.PNG, media_types.JPEG, media_types.WEBP}


def cut_page(structured: Json, *, full: bool = False) -> int:
    """Return how many items of a page fit; long texts in its items are clipped if they all don't. At least 1."""
    items: list[Any] = structured["items"]
    budget = (FULL_TOKENS if full else TOKENS) - _ENVELOPE
    if fits(encode_json(items), budget):
        return len(items)
    for index, item in enumerate(items):
        if isinstance(item, dict):
            items[index] = clip_texts(typing.cast(Json, item), budget if full else budget // 3)
    spent = 0
    for kept, item in enumerate(items):
        spent += estimate_tokens(encode_json(item))
        if spent > budget:
            return max(1, kept)
    return len(items)


def shorten_annotation_texts(texts: Iterable[str]) -> list[str]:
    """Return the texts on an image, because a font may lack some characters."""
    shown: list[str] = []
    spent = 0
    for text in texts:
        clipped = clip_text(text, ANNOTATION_TOKENS // 4)
        spent += estimate_tokens(clipped)
        if spent > ANNOTATION_TOKENS:
            shown.append("… [more texts]")
            break
        shown.append(clipped)
    return shown


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


def _build_timeline(timeline: Timeline) -> Json:
    lines = [(moment.omitted_before, format_moment(moment, timeline.start)) for moment in timeline.items]
    structured = _build_lines(timeline, MOMENT_FORMAT, lines)
    if timeline.omitted:
        structured["next"] = f'get_timeline(capture_id="{timeline.capture_id}", around=time of a line)'
    return structured


def _build_transcript(transcript: ReplayTranscript) -> Json:
    lines = [(line.omitted_before, format_transcript_line(line)) for line in transcript.items]
    structured = _build_lines(transcript, TRANSCRIPT_FORMAT, lines)
    if transcript.omitted:
        structured["next"] = f'get_replay_transcript(capture_id="{transcript.capture_id}", detail="full")'
    return structured


def _build_lines(result: Timeline | ReplayTranscript, line_format: str, lines: list[tuple[int, str]]) -> Json:
    """Replace the items by lines, each with the number of items that are left out before it."""
    items: list[str] = []
    for omitted, line in lines:
        items += [f"… {omitted:,} omitted", line] if omitted else [line]
    structured = typing.cast(Json, msgspec.to_builtins(result)) | {"format": line_format, "items": items}
    drop_nulls(structured)
    return structured


def _shorten_items(shown: list[Json], items: list[Any]) -> None:
    """Leave out what agents don't need of the items of a page, in place."""
    if items and isinstance(items[0], Ticket):
        shorten_tickets(shown)
    elif items and isinstance(items[0], Project):
        for item in shown:
            for name in _PROJECT_SETTINGS:
                item.pop(name, None)


def drop_nulls(node: Json | list[Any]) -> None:
    """Remove null fields in place; building a second tree would double the time."""
    parts: Iterable[Any] = node.values() if isinstance(node, dict) else node
    if isinstance(node, dict) and None in parts:
        for name in [name for name, value in node.items() if value is None]:
            del node[name]
    for part in parts:
        if type(part) in _NODES and part:
            drop_nulls(part)


_NODES = {dict, list}
