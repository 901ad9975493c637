"""Compose emails: headers that no title can inject into, a text part and an HTML part."""

import functools
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from typing import TYPE_CHECKING, NamedTuple

from ticketbox.domain.accounts.security_events import Notice, NoticeKind
from ticketbox.domain.core.unsafe_characters import JOINERS
from ticketbox.domain.events.email_server import EmailServer
from ticketbox.domain.events.records import Reason
from ticketbox.store.events.email_outbox import MailedNotification, MessageToSend

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_TEXT_CHARACTERS = 4_000
_MAX_HEADER_CHARACTERS = 200


def compose_message(email: MessageToSend, relay: EmailServer, public_url: str, now: int) -> EmailMessage:
    """Compose an email; `now` is epoch milliseconds. Raises ValueError for an address that no header can hold."""
    message = EmailMessage(policy=SMTP)
    domain = relay.address.rpartition("@")[2]
    preferences = f"{public_url}/mail/{email.key}"
    message["From"] = Address(sanitize_header_text(relay.name), addr_spec=relay.address)
    message["To"] = Address(sanitize_header_text(email.name), addr_spec=email.address)
    message["Date"] = format_datetime(datetime.fromtimestamp(now // 1000, UTC))
    message["Auto-Submitted"] = "auto-generated"
    if email.notice is not None:
        return _compose_notice(message, email.notice, domain, public_url)
    if email.ticket_id is None:
        message["Subject"] = "Confirm email notifications"
        message["Message-ID"] = make_msgid(domain=domain)
        return _add_content(message, "confirm_address", public_url=public_url, preferences=preferences)
    # A repeated email has the same id; all emails of a ticket reply to an id that is never sent, so clients group them.
    thread = f"<{email.ticket_id}@{domain}>"
    message["Subject"] = sanitize_header_text(f"[{email.project}] {email.title} ({email.ticket_key})")
    message["Message-ID"] = f"<{email.ticket_id}.{email.last}@{domain}>"
    message["In-Reply-To"] = message["References"] = thread
    message["List-Unsubscribe"] = f"<{preferences}>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    entries = _list_entries(email.notifications)
    values = {
        "title": email.title,
        "project": email.project,
        "entries": entries,
        "more": email.more,
        "address": f"{public_url}/tickets/{email.ticket_id}",
        "settings": f"{public_url}/settings/notifications",
        "preferences": preferences,
    }
    return _add_content(message, "notification", **values)


_NOTICES = {
    NoticeKind.NEW_DEVICE: ("New sign-in to your account", "Someone signed in to your account with a new browser."),
    NoticeKind.PASSWORD_CHANGED: ("Your password was changed", "The password of your account was changed."),
    NoticeKind.ADDRESS_CHANGED: ("Your email address was changed", "The email address of your account was changed."),
    NoticeKind.PROVIDER_LINKED: (
        "New way to sign in to your account",
        "An account at the server's identity provider can now sign in to your account.",
    ),
    NoticeKind.PROVIDER_UNLINKED: (
        "A way to sign in to your account was removed",
        "Your account can no longer be signed in to with the server's identity provider.",
    ),
    NoticeKind.SECOND_FACTOR_ENABLED: (
        "Your second factor was turned on",
        "Your account now requires a code of an authenticator app at each sign-in.",
    ),
    NoticeKind.SECOND_FACTOR_DISABLED: (
        "Your second factor was turned off",
        "Your account no longer requires a code of an authenticator app.",
    ),
    NoticeKind.PASSKEY_ADDED: ("A passkey was added to your account", "A new passkey can sign in to your account."),
    NoticeKind.PASSKEY_DELETED: (
        "A passkey of your account was deleted",
        "One of your passkeys can no longer sign in to your account.",
    ),
    NoticeKind.RECOVERY_CODE_USED: (
        "A recovery code was used",
        "Someone signed in to your account, or changed its second factor, with a recovery code.",
    ),
    NoticeKind.CONFIRM_ADDRESS: ("Confirm your new email address", "Someone wants to sign in with this email address."),
    NoticeKind.PASSWORD_RESET: ("Choose a new password", "Someone asked for a new password for your account."),
}


class _Link(NamedTuple):
    """The link of a notice: its path before the key, what it does, and how long it is valid."""

    path: str
    action: str
    valid: str


_LINKS = {
    NoticeKind.CONFIRM_ADDRESS: _Link("address", "confirm your new email address", "24 hours"),
    NoticeKind.PASSWORD_RESET: _Link("password", "choose a new password", "30 minutes"),
}


def _compose_notice(message: EmailMessage, notice: Notice, domain: str, public_url: str) -> EmailMessage:
    message["Message-ID"] = make_msgid(domain=domain)
    if notice.kind is NoticeKind.REPORT_REPLY:
        message.replace_header("Auto-Submitted", "no")
        message["Subject"] = sanitize_header_text(f"Re: {notice.title}")
        return _add_content(message, "report_reply", title=notice.title, text=notice.text, public_url=public_url)
    if notice.kind is NoticeKind.INVITATION:
        name, company = sanitize_header_text(notice.name), sanitize_header_text(notice.title)
        message["Subject"] = sanitize_header_text(f"{name} invites you to {company}")
        address = f"{public_url}/invitations/{notice.key}"
        return _add_content(message, "invitation", name=name, company=company, address=address, public_url=public_url)
    subject, summary = _NOTICES[notice.kind]
    link = _LINKS.get(notice.kind)
    at = datetime.fromtimestamp(notice.at // 1000, UTC)
    values = {
        "subject": subject,
        "summary": summary,
        "at": f"{at:%Y-%m-%d %H:%M} UTC",
        "address": notice.address,
        "browser": sanitize_header_text(notice.user_agent),
        "new_address": sanitize_header_text(notice.new_address),
        "public_url": public_url,
        "sessions": f"{public_url}/settings/sign-in",
        "link": link,
        "link_address": f"{public_url}/{link.path}/{notice.key}" if link else "",
    }
    message["Subject"] = subject
    return _add_content(message, "notice", **values)


def _add_content(message: EmailMessage, template: str, **values: object) -> EmailMessage:
    """Add a text part and an HTML part with the same content."""
    message.set_content(_render(f"{template}.txt", **values))
    message.add_alternative(_render(f"{template}.html", **values), subtype="html")
    return message


def sanitize_header_text(text: str) -> str:
    """Make text safe for a header: one line, no control or invisible characters, at most 200 characters.

    Also breaks encoded words (RFC 2047), which the standard library would decode, including line ends in them.
    """
    plain = "".join(char if char.isprintable() or char in JOINERS else " " for char in text).replace("=?", "= ?")
    return " ".join(plain.split())[:_MAX_HEADER_CHARACTERS]


def _list_entries(notifications: tuple[MailedNotification, ...]) -> list[tuple[str, str]]:
    """Return who did what, with the text of each; the same text isn't repeated."""
    entries: list[tuple[str, str]] = []
    seen: set[str] = set()
    for each in notifications:
        text = "" if each.text in seen else each.text
        seen.add(each.text)
        cut = f"{text[:MAX_TEXT_CHARACTERS].rstrip()} …" if len(text) > MAX_TEXT_CHARACTERS else text
        entries.append((_describe_entry(each), cut))
    return entries


def _describe_entry(notification: MailedNotification) -> str:
    by = notification.event.by
    who = sanitize_header_text(by.user.name)
    if by.token_label is not None:
        who += f" ({sanitize_header_text(by.token_label)}, via {by.via.value})"
    if notification.reason is Reason.ASSIGNMENT:
        return f"{who} assigned you"
    if notification.reason is Reason.REPLY:
        return f"{who} commented"
    if notification.reason is Reason.QUESTION:
        return f"{who} asks"
    if notification.reason is Reason.APPROVAL:
        return f"{who} asks for approval"
    where = "a comment" if notification.event.type.startswith("comment.") else "the description"
    return f"{who} mentioned you in {where}"


@functools.cache
def _load_templates() -> "Environment":
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
    return _load_templates().get_template(template).render(values)
