"""What whoever reads a person's mail may say of it: yes, or no more (docs/use/notifications.md, "E-mail").

The key in each mail is all that it takes, so that it works without signing in, in whatever program reads mail.
"""

import msgspec

from ticketbox.domain.accounts.records import MailState
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import NotFound
from ticketbox.domain.core.scopes import Access
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.store.events import email_addresses
from ticketbox.store.file.database import Read, Write


class MailKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key of a mail's links."""

    key: Secret


class MailChoice(msgspec.Struct, frozen=True):
    """The address that a key is for, and what was said of it."""

    address: str
    state: MailState


@operation("get_mail_choice", scope=Access.PUBLIC, budget=Budget.NONE)
def get_mail_choice(tx: Read, actor: Actor, args: MailKey) -> MailChoice:
    """Say what an address gets."""
    mailbox = email_addresses.find_mailbox_by_mail_key(tx, args.key)
    if mailbox is None:
        raise NotFound("address")
    return MailChoice(mailbox.address, mailbox.state)


class ChooseMail(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Whether the address wants mail."""

    key: Secret
    wanted: bool


@operation("choose_mail", scope=Access.PUBLIC, budget=Budget.NONE)
def choose_mail(tx: Write, actor: Actor, args: ChooseMail) -> MailChoice:
    """Begin or end to mail an address."""
    mailbox = email_addresses.find_mailbox_by_mail_key(tx, args.key)
    if mailbox is None:
        raise NotFound("address")
    state = MailState.ON if args.wanted else MailState.OFF
    email_addresses.set_mailbox_state(tx, mailbox.user, state)
    return MailChoice(mailbox.address, state)
