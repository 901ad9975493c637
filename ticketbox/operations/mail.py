"""What whoever reads a person's mail may say of it: yes, or no more (docs/use/notifications.md, "E-mail").

The key in each mail is all that it takes, so that it works without signing in, in whatever program reads mail.
"""

import msgspec

from ticketbox.domain.account_records import MailState
from ticketbox.domain.limits import Budget
from ticketbox.domain.policy import Actor
from ticketbox.domain.problems import NotFound
from ticketbox.domain.scopes import Access
from ticketbox.operations.inputs import Secret
from ticketbox.operations.registry import operation
from ticketbox.store import mailboxes
from ticketbox.store.database import Read, Write


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
    mailbox = mailboxes.by_key(tx, args.key)
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
    mailbox = mailboxes.by_key(tx, args.key)
    if mailbox is None:
        raise NotFound("address")
    state = MailState.ON if args.wanted else MailState.OFF
    mailboxes.set_state(tx, mailbox.user, state)
    return MailChoice(mailbox.address, state)
