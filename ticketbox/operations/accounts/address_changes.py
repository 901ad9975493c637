"""A new email address: it takes effect when its link is opened, or immediately on a server that sends no email."""

import msgspec

from ticketbox.domain.accounts.security_events import NoticeKind, Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import DAY
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, NotFound, RateLimited
from ticketbox.operations.accounts.security_events import (
    log_security_event,
    queue_notice,
    record_account_change,
    record_security_event,
    report_refusal,
)
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import account_links, actors, security_events, users
from ticketbox.store.accounts.account_links import AccountLink, Purpose
from ticketbox.store.accounts.users import Account
from ticketbox.store.events import email_addresses
from ticketbox.store.file.database import Read, Write

MAX_TAKEN_A_DAY = 3
LIFETIME = DAY


def request_address(tx: Write, actor: Actor, address: str) -> None:
    """Send a link to a new address. The answer is the same whether another account has it. Raises RateLimited."""
    if wait := account_links.compute_retry_after(tx, Purpose.ADDRESS, actor.user):
        raise RateLimited(wait, "too many new email addresses for this account", "addresses a day")
    key = account_links.create_account_link(tx, Purpose.ADDRESS, actor.user, address, LIFETIME)
    record_security_event(tx, actor, SecurityAction.ADDRESS_REQUEST, to=address)
    queue_notice(tx, actor.user, NoticeKind.CONFIRM_ADDRESS, address, new_address=address, key=key)


async def check_unconfirmed_address(services: Services, actor: Actor, address: str, context: RequestContext) -> None:
    """Refuse an address that another account has, where no link can be sent. Raises Conflict and RateLimited.

    The refusal says that the account exists, so it is reported, and an account gets only a few of them a day.
    """

    def look_up(tx: Read) -> tuple[bool, Account | None, int]:
        holder = users.find_account_by_email(tx, address)
        taken = holder is not None and holder.key != actor.user
        refusals = security_events.count_refusals(tx, actor.user, SecurityAction.ADDRESS_CHANGE, DAY)
        return taken, users.find_account_by_key(tx, actor.user), refusals

    taken, account, refusals = await services.read(look_up, actor.fair_share)
    if refusals >= MAX_TAKEN_A_DAY:
        log_security_event(SecurityAction.ADDRESS_CHANGE, Outcome.LIMITED, context.address, actor.user_id, Via.WEB, {})
        raise RateLimited(DAY // 1000, "too many email addresses of other accounts", "taken addresses a day")
    if taken:
        report_refusal(services, context, SecurityAction.ADDRESS_CHANGE, account)
        raise Conflict("this email address can't be used")


def change_address(tx: Write, actor: Actor, address: str) -> None:
    """Change the address of an account, and report it to the old one. Raises Conflict if another account has it."""
    holder = users.find_account_by_email(tx, address)
    if holder is not None and holder.key != actor.user:
        raise Conflict("this email address can't be used")
    users.update_account(tx, actor.user, email=address)
    account_links.end_account_links(tx, actor.user)
    data = {"from": actor.email, "to": address}
    record_account_change(tx, actor, SecurityAction.ADDRESS_CHANGE, "account.address_changed", **data)
    queue_notice(tx, actor.user, NoticeKind.ADDRESS_CHANGED, actor.email, new_address=address)


class AddressKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key in the link."""

    key: Secret


class NewAddress(msgspec.Struct, frozen=True):
    """The address that a link confirms, and the name of the account that asked for it."""

    address: str
    name: str


@operation("get_new_address", scope=Access.PUBLIC, budget=Budget.NONE)
def get_new_address(tx: Read, actor: Actor, args: AddressKey) -> NewAddress:
    """Show what a link confirms."""
    change = _find_change(tx, args.key)
    return NewAddress(change.address, actors.load_user_as_actor(tx, change.user, Via.WEB).name)


@operation("confirm_address", scope=Access.PUBLIC, budget=Budget.NONE)
def confirm_address(tx: Write, actor: Actor, args: AddressKey) -> NewAddress:
    """Change the account's address to the one that the link was sent to."""
    change = _find_change(tx, args.key)
    person = actors.load_user_as_actor(tx, change.user, Via.WEB)
    change_address(tx, person, change.address)
    email_addresses.move_mailbox(tx, change.user, change.address)
    return NewAddress(change.address, person.name)


def _find_change(tx: Read, key: str) -> AccountLink:
    change = account_links.find_account_link(tx, Purpose.ADDRESS, key)
    account = None if change is None else users.find_account_by_key(tx, change.user)
    if change is None or account is None or account.disabled:
        raise NotFound("address")
    return change
