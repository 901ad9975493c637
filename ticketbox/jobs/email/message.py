"""A mail as it goes: headers that nobody's title can add to, the text, and the same as HTML."""

import functools
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from typing import TYPE_CHECKING

from ticketbox.domain.events.mail_server import MailServer
from ticketbox.domain.events.records import Reason
from ticketbox.store.events.email_outbox import MailedNotification, MessageToSend

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CHARACTERS = 4_000
_MOST_IN_HEADER = 200


def compose(letter: MessageToSend, relay: MailServer, public_url: str, now: int) -> EmailMessage:
    """Write a mail; `now` is epoch milliseconds. Raises ValueError for an address that no header can hold."""
    message = EmailMessage(policy=SMTP)
    domain = relay.address.rpartition("@")[2]
    choice = f"{public_url}/mail/{letter.key}"
    message["From"] = Address(one_line(relay.name), addr_spec=relay.address)
    message["To"] = Address(one_line(letter.name), addr_spec=letter.address)
    message["Date"] = format_datetime(datetime.fromtimestamp(now // 1000, UTC))
    message["Auto-Submitted"] = "auto-generated"
    if letter.ticket_id is None:
        message["Subject"] = "Shall ticketbox write to this address?"
        message["Message-ID"] = make_msgid(domain=domain)
        values = {"public_url": public_url, "choice": choice}
        message.set_content(_render("mail_asked.txt", **values))
        message.add_alternative(_render("mail_asked.html", **values), subtype="html")
        return message
    # The same mail has the same id whenever it goes; all of a ticket's are answers to one that never went.
    thread = f"<{letter.ticket_id}@{domain}>"
    message["Subject"] = one_line(f"[{letter.project}] {letter.title} ({letter.ticket_id})")
    message["Message-ID"] = f"<{letter.ticket_id}.{letter.last}@{domain}>"
    message["In-Reply-To"] = message["References"] = thread
    message["List-Unsubscribe"] = f"<{choice}>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    entries = _entries(letter.notifications)
    values = {
        "title": letter.title,
        "project": letter.project,
        "entries": entries,
        "more": letter.more,
        "address": f"{public_url}/tickets/{letter.ticket_id}",
        "settings": f"{public_url}/settings/profile",
        "choice": choice,
    }
    message.set_content(_render("mail.txt", **values))
    message.add_alternative(_render("mail.html", **values), subtype="html")
    return message


def one_line(text: str) -> str:
    """A header's text: no line ends, no control or invisible characters, not too long.

    Nor an encoded word (RFC 2047), which the standard library would decode, with whatever line ends are in it.
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text).replace("=?", "= ?")
    return " ".join(plain.split())[:_MOST_IN_HEADER]


def _entries(told: tuple[MailedNotification, ...]) -> list[tuple[str, str]]:
    """Who did what, and the text of it; a text that was there already isn't repeated."""
    entries: list[tuple[str, str]] = []
    seen: set[str] = set()
    for each in told:
        text = "" if each.text in seen else each.text
        seen.add(each.text)
        cut = f"{text[:MOST_CHARACTERS].rstrip()} …" if len(text) > MOST_CHARACTERS else text
        entries.append((_sentence(each), cut))
    return entries


def _sentence(told: MailedNotification) -> str:
    by = told.event.by
    who = one_line(by.user.name)
    if by.token_label is not None:
        who += f" ({one_line(by.token_label)}, via {by.via.value})"
    if told.reason is Reason.ASSIGNMENT:
        return f"{who} assigned you"
    if told.reason is Reason.REPLY:
        return f"{who} commented"
    where = "a comment" if told.event.type.startswith("comment.") else "the description"
    return f"{who} mentioned you in {where}"


@functools.cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=PackageLoader("ticketbox.jobs.email"),
        autoescape=select_autoescape(["html"], default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _render(template: str, **values: object) -> str:
    return _templates().get_template(template).render(values)
