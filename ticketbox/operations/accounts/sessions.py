"""Web sessions: sign in and sign out (docs/operate/security.md, "Sessions")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.accounts.records import Session, User
from ticketbox.domain.accounts.security_events import NoticeKind, Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, NotFound, RateLimited, SecondFactorRequired, Unauthorized
from ticketbox.domain.core.records import Time
from ticketbox.operations.accounts.second_factor.codes import WRONG_CODE, Code, check_sign_in_code
from ticketbox.operations.accounts.security_events import (
    log_security_event,
    queue_notice,
    record_security_event,
    report_refusal,
)
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Nothing, Secret
from ticketbox.operations.core.lookups import SessionId
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors, credentials, devices, security_events, sign_in_links, users
from ticketbox.store.accounts.credentials import NewCredential
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Read, Write

LIFETIME = 30 * DAY
MAX_NOTICES = 10  # emails about new devices in a day
WRONG = "the email address or the password is wrong"


class SignedIn(msgspec.Struct, frozen=True):
    """Who is signed in, and when the session expires.

    With `second_factor_missing`, a company requires a second factor, and the session can only set it up.
    """

    user: User
    session_id: str
    expires_at: Time
    second_factor_missing: bool


class SignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account's email address and password."""

    email: Annotated[Email, Meta(description="The account's email address.")]
    password: Annotated[Secret, Meta(description="The account's password.")]
    code: (
        Annotated[Code, Meta(description="The code of the authenticator app, or a recovery code, if it has one.")]
        | None
    ) = None


async def check_password(services: Services, actor: Actor, args: SignIn, context: RequestContext) -> Account | None:
    """Check a password, and the code if one is required; return the account if the password is right.

    Raises Unauthorized for a wrong code, SecondFactorRequired, RateLimited, and Forbidden if passwords are off.
    """
    require_password_sign_in(services)
    account = await check_account_password(services, args, context)
    if account is not None and not await check_sign_in_code(services, account, args.code, context):
        raise Unauthorized(WRONG_CODE)
    return account


def require_password_sign_in(services: Services) -> None:
    """Raise Forbidden if the operator turned passwords off."""
    if services.provider is not None and not services.provider.settings.allows_passwords:
        raise Forbidden(f"passwords are disabled on this server; sign in with {services.provider.settings.name}")


async def check_account_password(services: Services, args: SignIn, context: RequestContext) -> Account | None:
    """Check a password; return the account if it is right. Raises RateLimited."""
    email = fold_address(args.email)
    try:
        account = await _limit_attempts(services, email, context)
    except RateLimited:
        log_security_event(SecurityAction.SIGN_IN, Outcome.LIMITED, context.address, "", Via.WEB, {})
        raise
    stored = None if account is None or account.disabled else account.password_hash
    if await services.passwords.run((context.network,), passwords.verify_password, stored, args.password):
        return account
    report_refusal(services, context, SecurityAction.SIGN_IN, account)
    return None


async def _limit_attempts(services: Services, email: str, context: RequestContext) -> Account | None:
    """Limit attempts per address, per account and address, and per account; return the account.

    A device that the account has signed in with has its own limit instead, so that nobody's attempts, from
    whatever address, lock out the owner. The limit per account doesn't apply to a known address either.
    """
    wait = "too many attempts to sign in"
    fair_share = 0, context.network

    def find_account(tx: Read) -> tuple[Account | None, bool]:
        found = users.find_account_by_email(tx, email)
        return found, found is not None and devices.is_known_device(tx, context.device_hash, found.key)

    if context.device_hash is not None:
        account, is_known = await services.read(find_account, fair_share)
        if is_known:
            services.limit((context.device_hash, email), "sign-in-device", 10, wait)
            return account
    services.limit(context.network, "sign-in", 30, wait)
    services.limit((context.network, email), "sign-in-account", 10, wait)
    account, _ = await services.read(find_account, fair_share)
    if account is None or not await services.read(
        lambda tx: credentials.has_signed_in_from(tx, account.key, context.network), fair_share
    ):
        services.limit(email, "sign-in-strangers", 20, wait)
    return account


@operation(
    "create_session", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /session", creates=True,
    refuses=(SecondFactorRequired,), prepare=check_password,
    example={"email": "ann@example.org", "password": "correct horse battery"},
)  # fmt: skip
def create_session(tx: Write, actor: Actor, args: SignIn, checked: Account | None) -> WithSession[SignedIn]:
    """Sign in with a password. The response sets the session's cookie. The session of the request ends."""
    return replace_session(tx, actor, require_same_account(tx, checked), tx.now)


def require_same_account(tx: Read, checked: Account | None) -> Account:
    """Return the account whose password was right, if that is still so. Raises Unauthorized."""
    account = None if checked is None else users.find_account_by_key(tx, checked.key)
    if account is None or checked is None or account.disabled or account.password_hash != checked.password_hash:
        raise Unauthorized(WRONG)
    return account


class OpenLink(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The secret of a link that the operator created."""

    secret: Secret


async def limit_links(services: Services, actor: Actor, args: OpenLink, context: RequestContext) -> None:
    """Limit attempts for each address. Raises RateLimited."""
    services.limit(context.network, "sign-in-link", 20, "too many attempts with links to sign in")


@operation("open_sign_in_link", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_links)
def open_sign_in_link(tx: Write, actor: Actor, args: OpenLink, _: None) -> WithSession[SignedIn]:
    """Sign in once with a link that the operator created. It counts as a confirmed password."""
    secret = secrets.hash_secret(args.secret)
    user = sign_in_links.find_sign_in_link(tx, secret)
    account = None if user is None else users.find_account_by_key(tx, user)
    if account is None or account.disabled:
        raise NotFound("link", "this link has expired or was already used; ask the operator for a new one")
    sign_in_links.delete_sign_in_link(tx, secret)
    return replace_session(tx, actor, account, tx.now, link="operator")


def replace_session(
    tx: Write, actor: Actor, account: Account, confirmed_at: int | None, **data: str
) -> WithSession[SignedIn]:
    """End the session of the request, if any, and sign an account in."""
    if actor.kind is Kind.SESSION and actor.token_id is not None:
        credentials.revoke_credential(tx, actor.user, actor.token_id, Kind.SESSION)
    return _start_session(tx, account, confirmed_at, data)


def start_session(tx: Write, account: Account) -> WithSession[SignedIn]:
    """Sign in somebody who has just entered or chosen the password."""
    return _start_session(tx, account, tx.now, {})


def _start_session(
    tx: Write, account: Account, confirmed_at: int | None, data: dict[str, str]
) -> WithSession[SignedIn]:
    """Insert a session, and return it with its secret and the new secret of the device."""
    is_new = _is_new_device(tx, account.key)
    session = renew_session(tx, account, confirmed_at)
    signed_in = actors.load_user_as_actor(tx, account.key, Via.WEB)
    session_id = session.answer.session_id
    details = {"session_id": session_id, "new_device": is_new, **data}
    record_security_event(tx, signed_in, SecurityAction.SIGN_IN, Outcome.DONE, **details)
    if is_new and security_events.count_new_devices(tx, account.key) <= MAX_NOTICES:
        queue_notice(tx, account.key, NoticeKind.NEW_DEVICE, account.user.email)
    return session


def renew_session(tx: Write, account: Account, confirmed_at: int | None) -> WithSession[SignedIn]:
    """Insert a session for a person who was just identified, by a password or by the session that it replaces.

    `confirmed_at` is when the password was entered; replacing a session doesn't renew it.
    """
    secret, device = secrets.generate_secret(), secrets.generate_secret()
    expires = tx.now + LIFETIME
    _, public_id = credentials.insert_credential(
        tx,
        NewCredential(
            kind=Kind.SESSION,
            user=account.key,
            label="web session",
            secret_hash=secrets.hash_secret(secret),
            shown="",
            expires_at=expires,
            address=tx.origin.address,
            user_agent=tx.origin.user_agent,
            confirmed_at=confirmed_at,
        ),
    )
    devices.insert_device(tx, tx.origin.device_hash, secrets.hash_secret(device), account.key)
    answer = SignedIn(account.user, public_id, format_rfc3339(expires), actors.lacks_required_factor(tx, account.key))
    return WithSession(secret, LIFETIME // 1000, answer, device)


def _is_new_device(tx: Write, user: int) -> bool:
    """Whether nothing says that the person signed in with this browser before. The first one of all isn't new."""
    if devices.is_known_device(tx, tx.origin.device_hash, user):
        return False
    return credentials.has_only_signed_in_elsewhere(tx, user, tx.origin.address, tx.origin.user_agent)


@operation("delete_session", scope=Access.SESSION, budget=Budget.NONE, rest="DELETE /session", without_factor=True)
def delete_session(tx: Write, actor: Actor, args: Nothing) -> WithSession[None]:
    """Sign out: end the session of this request."""
    credentials.revoke_credential(tx, actor.user, actor.token_id or "", Kind.SESSION)
    record_security_event(tx, actor, SecurityAction.SIGN_OUT, session_id=actor.token_id)
    return WithSession("", 0, None)


async def find_idle_limit(services: Services, actor: Actor, args: Nothing, context: RequestContext) -> int:
    """Return since when a session must have been used, in epoch milliseconds."""
    idle = services.session_idle_ms
    return 0 if idle is None else services.database.clock.now() - idle


@operation("list_sessions", scope=Access.SESSION, budget=Budget.READ, rest="GET /sessions", prepare=find_idle_limit)
def list_sessions(tx: Read, actor: Actor, args: Nothing, used_since: int) -> Page[Session]:
    """List the caller's web sessions, newest first."""
    return Page(credentials.list_sessions(tx, actor.user, actor.credential, used_since), None)


class RevokeSession(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's sessions."""

    session_id: SessionId


@operation("revoke_session", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /sessions/{session_id}")
def revoke_session(tx: Write, actor: Actor, args: RevokeSession) -> None:
    """End one of the caller's sessions on any device."""
    if credentials.revoke_credential(tx, actor.user, args.session_id, Kind.SESSION) is None:
        raise NotFound("session")
    record_security_event(tx, actor, SecurityAction.SIGN_OUT, session_id=args.session_id)
