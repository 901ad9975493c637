"""Confirm or stop email notifications with the link in an email (docs/use/notifications.md, "Email").

The key in the link is enough, so that it works without signing in and in every mail program.
"""

import msgspec

from ticketbox.domain.accounts.records import MailState
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.store.events import email_addresses
from ticketbox.store.file.database import Read, Write


class MailKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key in an email's links."""

    key: Secret


class MailChoice(msgspec.Struct, frozen=True):
    """The address that a key belongs to, and whether it gets email."""

    address: str
    state: MailState


@operation("get_mail_choice", scope=Access.PUBLIC, budget=Budget.NONE)
def get_mail_choice(tx: Read, actor: Actor, args: MailKey) -> MailChoice:
    """Show whether an address gets email."""
    mailbox = email_addresses.find_mailbox_by_mail_key(tx, args.key)
    if mailbox is None:
        raise NotFound("address")
    return MailChoice(mailbox.address, mailbox.state)


class ChooseMail(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Whether to send email to the address."""

    key: Secret
    wanted: bool


@operation("choose_mail", scope=Access.PUBLIC, budget=Budget.NONE)
def choose_mail(tx: Write, actor: Actor, args: ChooseMail) -> MailChoice:
    """Turn email to an address on or off."""
    mailbox = email_addresses.find_mailbox_by_mail_key(tx, args.key)
    if mailbox is None:
        raise NotFound("address")
    state = MailState.ON if args.wanted else MailState.OFF
    email_addresses.set_mailbox_state(tx, mailbox.user, state)
    return MailChoice(mailbox.address, state)
