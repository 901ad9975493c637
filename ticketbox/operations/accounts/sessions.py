"""Web sessions: sign in and sign out (docs/operate/security.md, "Sessions")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.accounts.records import Session, User
from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor, Kind
from ticketbox.domain.core.problems import NotFound, Unauthorized
from ticketbox.domain.core.records import Time
from ticketbox.domain.core.scopes import Access
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Nothing, Secret
from ticketbox.operations.core.lookups import SessionId
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, users
from ticketbox.store.accounts.credentials import NewCredential
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Read, Write

LIFETIME = 30 * DAY
WRONG = "the email address or the password is wrong"


class SignedIn(msgspec.Struct, frozen=True):
    """Who is signed in, and when the session expires."""

    user: User
    session_id: str
    expires_at: Time


class SignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account's email address and password."""

    email: Annotated[Email, Meta(description="The account's email address.")]
    password: Annotated[Secret, Meta(description="The account's password.")]


class SignInAttempt(msgspec.Struct, frozen=True):
    """A sign-in whose password was checked outside the transaction."""

    account: Account | None
    address: str
    user_agent: str


async def check_password(services: Services, actor: Actor, args: SignIn, context: RequestContext) -> SignInAttempt:
    """Check a password. Raises RateLimited.

    Attempts are limited per address, per account and address, and per account. The last limit doesn't apply to an
    address that the account has signed in from before, so that a stranger can't lock out the owner.
    """
    email, wait = args.email.strip().lower(), "too many attempts to sign in"
    services.limit(context.network, "sign-in", 30, wait)
    services.limit((context.network, email), "sign-in-account", 10, wait)
    account = await services.read(lambda tx: users.find_account_by_email(tx, email))
    known = account is not None and await services.read(
        lambda tx: credentials.has_signed_in_from(tx, account.key, context.network)
    )
    if not known:
        services.limit(email, "sign-in-strangers", 20, wait)
    stored = None if account is None or account.disabled else account.password_hash
    is_right = await services.run_in_worker(passwords.verify_password, stored, args.password)
    return SignInAttempt(account if is_right else None, context.address, context.user_agent)


@operation(
    "create_session", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /session", creates=True,
    prepare=check_password, example={"email": "ann@example.org", "password": "correct horse battery"},
)  # fmt: skip
def create_session(tx: Write, actor: Actor, args: SignIn, attempt: SignInAttempt) -> WithSession[SignedIn]:
    """Sign in with a password. The response sets the session's cookie. The session of the request ends."""
    account = None if attempt.account is None else users.find_account_by_key(tx, attempt.account.key)
    if account is None or account.disabled or account.password_hash != attempt.account.password_hash:  # type: ignore[union-attr]
        raise Unauthorized(WRONG)
    if actor.kind is Kind.SESSION and actor.token_id is not None:
        credentials.revoke_credential(tx, actor.user, actor.token_id, Kind.SESSION)
    return start_session(tx, account, attempt.address, attempt.user_agent)


def start_session(tx: Write, account: Account, address: str, user_agent: str) -> WithSession[SignedIn]:
    """Insert a session for an account, and return it with its secret."""
    secret = secrets.generate_secret()
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
            address=address,
            user_agent=user_agent[:300],
        ),
    )
    return WithSession(secret, LIFETIME // 1000, SignedIn(account.user, public_id, format_rfc3339(expires)))


@operation("delete_session", scope=Access.SESSION, budget=Budget.NONE, rest="DELETE /session")
def delete_session(tx: Write, actor: Actor, args: Nothing) -> WithSession[None]:
    """Sign out: end the session of this request."""
    credentials.revoke_credential(tx, actor.user, actor.token_id or "", Kind.SESSION)
    return WithSession("", 0, None)


@operation("list_sessions", scope=Access.SESSION, budget=Budget.READ, rest="GET /sessions")
def list_sessions(tx: Read, actor: Actor, args: Nothing) -> Page[Session]:
    """List the caller's web sessions, newest first."""
    return Page(credentials.list_sessions(tx, actor.user, actor.credential), None)


class RevokeSession(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's sessions."""

    session_id: SessionId


@operation("revoke_session", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /sessions/{session_id}")
def revoke_session(tx: Write, actor: Actor, args: RevokeSession) -> None:
    """End one of the caller's sessions on any device."""
    if credentials.revoke_credential(tx, actor.user, args.session_id, Kind.SESSION) is None:
        raise NotFound("session")
