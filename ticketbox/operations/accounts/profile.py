"""The caller's account, and what the credential that it uses can do."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.accounts import passwords
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.accounts.records import MailState, Profile, User
from ticketbox.domain.accounts.security_events import NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Kind, require_confirmation
from ticketbox.domain.core.access.scopes import Access, RoleName
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.network.host_names import encode_address
from ticketbox.domain.core.problems import (
    Conflict,
    InvalidField,
    InvalidRequest,
    RateLimited,
    SecondFactorRequired,
    WrongCode,
)
from ticketbox.domain.core.records import Time
from ticketbox.operations.accounts.address_changes import change_address, check_unconfirmed_address, request_address
from ticketbox.operations.accounts.confirmation import (
    CONFIRMATION_PROBLEMS,
    ConfirmationCode,
    WithPassword,
    check_confirmation,
    check_current_password,
)
from ticketbox.operations.accounts.security_events import queue_notice, record_account_change
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Name, Nothing, Password, Secret
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import account_links, credentials, devices, passkeys, users
from ticketbox.store.events import email_addresses
from ticketbox.store.file.database import Read, Write


class Quota(msgspec.Struct, frozen=True):
    """A rate limit: calls per minute, and calls left now."""

    limit: int
    remaining: int


class Budgets(msgspec.Struct, frozen=True):
    """The credential's rate limits for reads and writes."""

    reads: Quota
    writes: Quota


class MyToken(msgspec.Struct, frozen=True):
    """The credential of this request."""

    id: str
    label: str
    kind: Kind
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    expires_at: Time | None


class MyCompany(msgspec.Struct, frozen=True):
    """A company that the credential can access, and its owner's role there."""

    id: str
    name: str
    role: RoleName


class Me(msgspec.Struct, frozen=True):
    """The caller, its credential, and how many calls are left."""

    user: User
    token: MyToken
    companies: list[MyCompany]
    budgets: Budgets


@operation(
    "get_me",
    scope=Access.ANY,
    budget=Budget.READ,
    rest="GET /me",
    tool=Tool(
        "Who am I",
        "Use this first.",
        {},
        name="whoami",
        tool_set="core",
    ),
)
def get_me(tx: Read, actor: Actor, args: Nothing, meter: Meter) -> Me:
    """Show who the caller is, what the token can do, and how many calls are left."""
    reads, writes = meter.read_levels()
    pinned, projects = credentials.load_restriction(tx, actor.credential)
    return Me(
        user=User(actor.user_id, actor.name, actor.email),
        token=MyToken(
            id=actor.token_id or "",
            label=actor.token_label or "web session",
            kind=actor.kind or Kind.SESSION,
            scopes=sorted(actor.scopes),
            company_id=pinned,
            project_ids=projects if actor.restricted else None,
            expires_at=None if actor.expires_at is None else format_rfc3339(actor.expires_at),
        ),
        companies=[
            MyCompany(m.company_id, m.company_name, RoleName(m.role.label)) for m in actor.permitted_memberships
        ],
        budgets=Budgets(Quota(reads.limit, reads.remaining), Quota(writes.limit, writes.remaining)),
    )


async def is_email_configured(services: Services, actor: Actor, args: msgspec.Struct, context: RequestContext) -> bool:
    """Whether the operator set a mail server."""
    return services.sends_email


@operation("get_profile", scope=Access.SESSION, budget=Budget.READ, rest="GET /profile", prepare=is_email_configured)
def get_profile(tx: Read, actor: Actor, args: Nothing, mails: bool) -> Profile:
    """Show the caller's account."""
    return _load_profile(tx, actor, mails)


class UpdateProfile(WithPassword, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change. `mail` true sends a confirmation email first.

    Where the server sends email, a new `email` takes effect when its link is opened; until then it is `pending_email`.
    """

    name: Annotated[Name, Meta(description="The name that others see.")] | UnsetType = UNSET
    email: Annotated[Email, Meta(description="The email address to sign in with.")] | UnsetType = UNSET
    mail: Annotated[bool, Meta(description="Whether notifications are also sent by email.")] | UnsetType = UNSET


async def check_address_change(services: Services, actor: Actor, args: UpdateProfile, context: RequestContext) -> bool:
    """Whether the password was confirmed. Limits new addresses. Raises RateLimited, and Forbidden as its check does.

    Raises Conflict for an address that another account has, where no link can be sent to it.
    """
    if args.email is not UNSET:
        services.limit(actor.user, "address", 10, "too many new email addresses for this account")
    confirmed = await check_confirmation(services, actor, args, context)
    if confirmed and args.email is not UNSET and not services.sends_email:
        await check_unconfirmed_address(services, actor, fold_address(args.email), context)
    return confirmed


@operation(
    "update_profile",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="PATCH /profile",
    refuses=(Conflict, *CONFIRMATION_PROBLEMS),
    prepare=check_address_change,
    example={"name": "Ann B."},
)
def update_profile(tx: Write, actor: Actor, args: UpdateProfile, confirmed: bool) -> Profile:
    """Change the caller's name or email address, or whether notifications are sent by email.

    A new address requires the password, in this session or in this call.
    """
    if args.name is UNSET and args.email is UNSET and args.mail is UNSET:
        raise InvalidRequest("nothing to change: send name, email or mail")
    mails = tx.origin.sends_email
    email = None
    if args.email is not UNSET:
        asked = fold_address(args.email)
        if asked == fold_address(actor.email):
            account_links.end_account_links(tx, actor.user)
        else:
            require_confirmation(confirmed)
            if mails:
                request_address(tx, actor, asked)
            else:
                change_address(tx, actor, asked)
                email = asked
    if args.name is not UNSET:
        users.update_account(tx, actor.user, name=args.name.strip())
    _choose_mail(tx, actor, args.mail, email, mails)
    changed = msgspec.structs.replace(
        actor, name=actor.name if args.name is UNSET else args.name.strip(), email=email or actor.email
    )
    return _load_profile(tx, changed, mails)


def _load_profile(tx: Read, actor: Actor, mails: bool) -> Profile:
    state = MailState.UNAVAILABLE
    if mails:
        mailbox = email_addresses.find_mailbox(tx, actor.user)
        state = MailState.OFF if mailbox is None else mailbox.state
    pending = account_links.find_pending_address(tx, actor.user)
    return Profile(actor.user_id, actor.name, actor.email, pending, state)


def _choose_mail(tx: Write, actor: Actor, wanted: bool | UnsetType, email: str | None, mails: bool) -> None:
    """Turn email on or off. Turning it on sends a confirmation, also for an address that was sent one before."""
    address = email or actor.email
    mailbox = email_addresses.find_mailbox(tx, actor.user)
    state = MailState.OFF if mailbox is None else mailbox.state
    moved = mailbox is not None and mailbox.address != address
    if wanted is False or (moved and not mails):
        email_addresses.set_mailbox_state(tx, actor.user, MailState.OFF)
    elif (wanted is True and (moved or state is not MailState.ON)) or (moved and state is not MailState.OFF):
        if not mails:
            raise Conflict("this server sends no email; its operator must set a mail server")
        _require_deliverable(address)
        if wait := email_addresses.compute_retry_after(tx, actor.user):
            raise RateLimited(wait, "too many confirmation emails for this account", "confirmation emails a day")
        email_addresses.request_confirmation(tx, actor.user, address)


def _require_deliverable(address: str) -> None:
    try:
        encode_address(address)
    except ValueError:
        detail = "email can't be sent to this address, because it has other characters than ASCII before the @"
        raise InvalidField("mail", detail) from None


class ChangePassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The current password is required, so that an unattended screen isn't enough."""

    current_password: Annotated[Secret, Meta(description="The current password.")]
    new_password: Annotated[Password, Meta(description="The new password, at least 10 characters.")]
    code: ConfirmationCode | None = None


async def hash_new_password(services: Services, actor: Actor, args: ChangePassword, context: RequestContext) -> str:
    """Check the current password and code, and hash the new password. Raises as `check_current_password` does.

    A session that confirmed a passkey, or the password with a code, sends no code if the account has passkeys.
    """
    action = SecurityAction.PASSWORD_CHANGE
    has_passkey = await services.read(lambda tx: passkeys.has_passkey(tx, actor.user), actor.fair_share)
    await check_current_password(
        services, actor, action, args.current_password, args.code, context,
        needs_code=args.code is not None or not (has_passkey and actor.confirmed),
    )  # fmt: skip
    return await services.passwords.run((context.network,), passwords.hash_password, args.new_password)


@operation(
    "change_password", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/password",
    refuses=(SecondFactorRequired, WrongCode), prepare=hash_new_password,
    example={"current_password": "correct horse battery", "new_password": "a better one, longer"},
)  # fmt: skip
def change_password(tx: Write, actor: Actor, args: ChangePassword, password_hash: str) -> None:
    """Change the caller's password, and end all other sessions of the account.

    A new email address that wasn't confirmed yet is no longer pending.
    """
    users.set_password(tx, actor.user, password_hash)
    credentials.revoke_sessions(tx, actor.user, but=actor.credential)
    credentials.confirm_session(tx, actor.credential)
    devices.forget_devices(tx, actor.user, but=tx.origin.device_hash)
    account_links.end_account_links(tx, actor.user)
    record_account_change(tx, actor, SecurityAction.PASSWORD_CHANGE, "account.password_changed")
    queue_notice(tx, actor.user, NoticeKind.PASSWORD_CHANGED, actor.email)
