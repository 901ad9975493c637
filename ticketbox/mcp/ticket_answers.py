"""Tickets as agents read them: in lists what an agent chooses by, alone with every part cut to its share."""

import msgspec

from ticketbox.domain.captures.summaries.lines import FORMATS, format_line
from ticketbox.domain.core.access.tokens import clip_text, estimate_tokens, fits
from ticketbox.mcp.clipping import Json, clip_texts, encode_json
from ticketbox.operations.tickets.ticket_detail import TicketDetail
from ticketbox.operations.work.ready import ClaimedTicket

LISTED_DESCRIPTION = 200  # characters
TICKETS_TOKENS = 5_200  # of a page of tickets
LONG_FRAMES = 3  # of a capture's environment, the longest

_PARTS = ("error_groups", "failed_requests", "actions", "errors", "network", "console")
_AS_LINES = ("error_groups", "failed_requests", "actions", "console")
_INCLUDED = ("comments", "history", "verifications")
_ALONE_TOKENS = (4_000, 15_000)  # of one of them without the others and the capture, and with `full`
_TICKET_PARTS = {  # tokens of the parts of get_ticket beside the capture: the default, with those, and `full`
    "description": (1_500, 800, 4_000),
    "attachments": (600, 400, 2_000),
    "links": (600, 400, 2_000),
    "git_links": (400, 300, 1_500),
    "questions": (400, 300, 1_500),
    "captures": (400, 300, 2_000),
    "comments": (500, 1_000, 2_000),
    "history": (500, 500, 1_000),
    "verifications": (500, 500, 1_000),
    "declared": (200, 100, 1_500),  # of the capture's environment, as are the names in its storage
    "storage": (50, 50, 500),  # of each kind
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


def shorten_ticket_detail(structured: Json, result: TicketDetail, *, full: bool) -> None:
    """Cut the parts of a ticket with its capture to their shares of the answer, in place."""
    included = [part for part in _INCLUDED if part in structured]
    column = 2 if full else 1 if included and not isinstance(result, ClaimedTicket) else 0
    more = f"the resource ticket://{result.id} has all"
    structured["description"] = clip_text(structured["description"], _TICKET_PARTS["description"][column], more)
    structured.pop("watchers")  # people follow tickets, agents don't
    _shorten_reporter(structured)
    _shorten_lists(structured, column)
    alone = len(included) == 1 and (result.capture is None or result.capture.console is msgspec.UNSET)
    for part in included:
        _shorten_included(structured, part, _ALONE_TOKENS[full] if alone else _TICKET_PARTS[part][column], alone, full)
    capture: Json | None = structured.get("capture")
    if capture is None or result.capture is None:
        return
    for name in ("health", "redaction"):
        capture.pop(name, None)
    if "screenshot" in capture:
        capture["screenshot"] = {name: capture["screenshot"].get(name) for name in ("id", "width", "height")}
    capture["assets"] = _shorten_assets(capture["assets"])
    _shorten_environment(capture["environment"], column)
    capture["page"] = {name: clip_text(text, 300) for name, text in capture["page"].items()}
    if bug := capture.get("bug"):
        capture["bug"] = {**bug, "text": clip_text(bug["text"], 100)}
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


def _shorten_reporter(structured: Json) -> None:
    """Keep who reported a ticket and whether that is verified, in place; most tickets have no such reporter."""
    reporter: Json | None = structured.pop("reporter", None)
    if reporter is not None:
        named = {name: reporter[name] for name in ("name", "email", "user_id") if reporter.get(name)}
        structured["reporter"] = {**named, "verified": reporter["verified"]}


def _shorten_lists(structured: Json, column: int) -> None:
    """Cut the lists of a ticket to their shares, in place."""
    structured["attachments"] = _shorten_assets(structured["attachments"])
    named = f'(ticket_id="{structured["id"]}"'
    for part in ("attachments", "links", "git_links", "questions"):
        if structured[part]:
            _cut_part(structured, part, _TICKET_PARTS[part][column], f'get_ticket{named}, detail="full")')
    _shorten_captures(structured, _TICKET_PARTS["captures"][column], f'get_ticket{named}, include=[], detail="full")')


def _shorten_included(structured: Json, part: str, tokens: int, alone: bool, full: bool) -> None:
    """Cut a part that the caller asked for, in place; what it omits is in the part alone, then in the `full` one."""
    named = f'ticket_id="{structured["id"]}", include=["{part}"]'
    call = f'get_ticket({named}, detail="full")' if alone else f"get_ticket({named})"
    rest = f"the REST API returns the rest: GET /tickets/{structured['id']}/{part}"
    _cut_part(structured, part, tokens, rest if alone and full else call)


def _shorten_environment(environment: Json, column: int) -> None:
    """Cut the parts of an environment that can be long, in place; the resource of the ticket has all."""
    if frames := environment.pop("long_frames", []):
        longest = sorted(frames, key=lambda frame: -frame["duration_ms"])[:LONG_FRAMES]
        environment["long_frames"] = [_format_long_frame(frame) for frame in longest]
        environment["long_frames_total"] = len(frames)
    if declared := environment.pop("declared", {}):
        kept = _keep_first([f"{name}={value}" for name, value in declared.items()], _TICKET_PARTS["declared"][column])
        environment["declared"] = dict(list(declared.items())[: len(kept)])
        if len(kept) < len(declared):
            environment["declared_omitted"] = len(declared) - len(kept)
    if storage := environment.pop("storage", {}):
        omitted = storage.pop("omitted", 0)
        storage.pop("start", None)  # for the reproduction
        for kind, names in list(storage.items()):
            storage[kind] = _keep_first(names, _TICKET_PARTS["storage"][column])
            omitted += len(names) - len(storage[kind])
        environment["storage"] = {kind: names for kind, names in storage.items() if names}
        if omitted:
            environment["storage_omitted"] = omitted


def _keep_first(texts: list[str], tokens: int) -> list[str]:
    """Return the first texts that take at most these tokens together."""
    for count, text in enumerate(texts):
        tokens -= estimate_tokens(text) + 3  # quotes and comma
        if tokens < 0:
            return texts[:count]
    return texts


def _format_long_frame(frame: Json) -> str:
    """Describe a long frame in a line: its length and time, and the script that took longest."""
    line = f"{frame['duration_ms']:.0f} ms ({frame['ts']:.0f})"
    if not frame["scripts"]:
        return line
    script = frame["scripts"][0]
    parts = (
        script["function"],
        script["url"] and f"in {script['url']}",
        script["invoker"] and f"({script['invoker']})",
    )
    return f"{line}: {' '.join(filter(None, parts)) or 'a script'}, {script['duration_ms']:.0f} ms"


def _shorten_captures(structured: Json, tokens: int, call: str) -> None:
    """List the ticket's captures with what an agent chooses by; a single one is `capture`."""
    listed: list[Json] = structured["captures"]
    if len(listed) < 2:
        del structured["captures"]
        return
    structured["captures"] = [
        {"id": each["id"], "captured_at": _shorten_time(each["captured_at"]), **_describe_capture(each)}
        for each in listed
    ]
    _cut_part(structured, "captures", tokens, call)


def _describe_capture(capture: Json) -> Json:
    """Return how many entries a capture's streams hold, and whether somebody without an account sent it."""
    counts = {name: count for name, count in capture["counts"].items() if count}
    return {**counts, "external": True} if capture["external"] else counts


def _shorten_assets(files: list[Json]) -> list[Json]:
    kept = ("id", "kind", "name", "media_type", "bytes")
    return [{name: file[name] for name in kept} for file in files]


def _cut_part(structured: Json, part: str, tokens: int, call: str) -> None:
    """Cut a list in a ticket at an entry's boundary."""
    items: list[Json] = structured[part]
    spent = 0
    for kept, item in enumerate(items):
        items[kept] = clip_texts(item, tokens // 2)
        spent += estimate_tokens(encode_json(items[kept]))
        if spent > tokens:
            structured[part] = items[:kept]
            structured[f"{part}_omitted"] = len(items) - kept
            structured[f"{part}_next"] = call
            return


def _shorten_listed_ticket(item: Json) -> None:
    """Reduce a ticket to what an agent chooses by, in place: fields with their usual value are left out."""
    for name in _LISTED_FIELDS:
        item.pop(name, None)
    usual = (("resolved", False), ("status", "active"), ("priority", "none"), ("comment_count", 0))
    for name in [*(name for name, value in usual if item.get(name) == value), *(n for n, v in item.items() if v == [])]:
        del item[name]
    if "assignees" in item:
        item["assignees"] = [person["name"] for person in item["assignees"]]
    if "blocked_by" in item:
        item["blocked_by"] = [blocker["key"] for blocker in item["blocked_by"]]
    item["updated"] = _shorten_time(item["updated"]["at"])
    if "claim" in item:
        by = item["claim"]["by"]
        item["claim"] = f"{by.get('token_label') or by['user']['name']} until {_shorten_time(item['claim']['until'])}"
    if "capture" in item:
        item["capture"] = {"id": item["capture"]["id"], **_describe_capture(item["capture"])}
    if "verification" in item:
        last = item["verification"]
        verdict = "unproven" if last["verdict"] == "gone" and not last["proven"] else last["verdict"]
        item["verification"] = f"{verdict} on {last['commit']}"
    if "pull_request" in item:
        item["pull_request"] = item["pull_request"]["name"]
    if found := item.pop("highlights", {}).get("excerpt"):
        item["match"] = "".join(piece["text"] for piece in found["parts"])


def shorten_tickets(items: list[Json]) -> None:
    """Shorten the tickets of a list; the longer the list, the shorter the descriptions."""
    for item in items:
        _shorten_listed_ticket(item)
    descriptions = [item.get("description", "") for item in items]
    for longest, without in _REDUCTIONS:
        for item, text in zip(items, descriptions, strict=True):
            item["description"] = shorten_text(text, longest)
            for name in without if "column" in item else without[:1]:
                item.pop(name, None)
            if not item["description"]:
                del item["description"]
        if fits(encode_json(items), TICKETS_TOKENS):
            return


def _shorten_time(time: str) -> str:
    """Return an RFC 3339 time to the minute."""
    return f"{time[:16]}Z"


def shorten_text(text: str, longest: int) -> str:
    """Return the beginning of a text; fifty full descriptions would fill a model's context."""
    if len(text) <= longest:
        return text
    if not longest:
        return ""
    return f"{text[:longest].rstrip()}… ({len(text):,} characters; get_ticket returns all)"
