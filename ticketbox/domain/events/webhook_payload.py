"""The body of a webhook: the event, or a sentence for a chat."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from ticketbox.domain.events.records import Event, WebhookFormat

MAX_CHARACTERS = 1_500

_PHRASES = {
    "ticket.created": "filed {ticket}",
    "ticket.updated": "edited {ticket}",
    "ticket.moved": "moved {ticket}",
    "ticket.assigned": "assigned {ticket}",
    "ticket.unassigned": "unassigned {ticket}",
    "ticket.archived": "archived {ticket}",
    "ticket.restored": "restored {ticket}",
    "ticket.deleted": "deleted {ticket}",
    "ticket.linked": "linked {ticket} to another ticket",
    "ticket.unlinked": "removed a link of {ticket}",
    "ticket.work_started": "started work on {ticket}",
    "ticket.work_stopped": "stopped work on {ticket}",
    "ticket.work_progress": "reported progress on {ticket}",
    "ticket.work_finished": "finished work on {ticket}",
    "ticket.question_asked": "asks about {ticket}",
    "ticket.question_answered": "answered a question about {ticket}",
    "ticket.approval_requested": "asks for approval of {ticket}",
    "ticket.approved": "approved the work on {ticket}",
    "ticket.declined": "declined the work on {ticket}",
    "ticket.occurred": "saw the bug of {ticket} again",
    "ticket.work_stale": "didn't renew the claim of {ticket}",
    "comment.created": "commented on {ticket}",
    "comment.updated": "edited a comment on {ticket}",
    "comment.deleted": "deleted a comment on {ticket}",
    "capture.attached": "attached a capture to {ticket}",
    "capture.bug_chosen": "chose the bug of {ticket}",
    "capture.confirmed": "confirmed a capture of {ticket}",
    "capture.deleted": "deleted a capture of {ticket}",
    "capture.expectation_added": "said what is wrong in {ticket}",
    "capture.expectation_confirmed": "confirmed what is wrong in {ticket}",
    "capture.expectation_removed": "removed an expectation of {ticket}",
    "attachment.added": "attached a file to {ticket}",
    "attachment.deleted": "deleted a file of {ticket}",
    "annotations.saved": "annotated a picture of {ticket}",
    "verification.added": "verified {ticket}",
    "criterion.added": "added a criterion to {ticket}",
    "criterion.changed": "changed a criterion of {ticket}",
    "criterion.removed": "removed a criterion of {ticket}",
    "evidence.added": "added evidence to {ticket}",
}


def build_body(format_: WebhookFormat, event: Event, key: str | None, title: str | None, public_url: str) -> bytes:
    """Build the body for an event about a ticket with this key and title (None: about no ticket)."""
    whole: dict[str, Any]
    if format_ is WebhookFormat.SLACK:
        whole = {"text": _compose_sentence(event, key, title, public_url, _escape_for_slack, "<{url}|{name}>")}
    elif format_ is WebhookFormat.DISCORD:
        text = _compose_sentence(event, key, title, public_url, _escape_for_discord, "[{name}](<{url}>)")
        whole = {"content": text, "allowed_mentions": {"parse": []}}
    else:
        data = {**msgspec.structs.asdict(event), "ticket_key": key}
        whole = {"type": event.type, "timestamp": event.at, "data": data}
    return msgspec.json.encode(whole)


def _compose_sentence(
    event: Event, key: str | None, title: str | None, public_url: str, plain: Callable[[str], str], link: str
) -> str:
    who = plain(event.by.user.name)
    if event.by.token_label is not None:
        who += " " + plain(f"({event.by.token_label}, via {event.by.via.value})")
    ticket = "a ticket"
    if event.ticket_id is not None:
        name = plain(f"{key or event.ticket_id} {title or ''}".strip())
        ticket = link.format(url=f"{public_url}/tickets/{event.ticket_id}", name=name)
    words = _PHRASES.get(event.type)
    if words is None:
        return f"{who}: {plain(event.type)}"
    return f"{who} {words.format(ticket=ticket)}{plain(_describe_result(event))}"


def _describe_result(event: Event) -> str:
    """Describe what a verification found out, or what is expected; an empty text for other events."""
    data = event.data
    if "expectation" in data:
        return f": {data['expectation']}"
    if event.type != "verification.added":
        return ""
    verdict = "unproven" if data["verdict"] == "gone" and not data.get("proven") else str(data["verdict"])
    reason = f" ({data['reason']})" if data.get("reason") else ""
    return f": {verdict.replace('_', ' ')} on {data['commit'][:7]}{reason}"


def _escape_for_slack(text: str) -> str:
    """Escape text for Slack ("Escaping text" in its documentation), and bars, which would end a link's name."""
    text = " ".join(text.split())[:MAX_CHARACTERS].replace("|", "\u00a6")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escape_for_discord(text: str) -> str:
    """Escape Markdown for Discord; mentions are off for the whole message."""
    return re.sub(r"([\\`*_~|<>\[\]()#:@-])", r"\\\1", " ".join(text.split())[: MAX_CHARACTERS // 2])
