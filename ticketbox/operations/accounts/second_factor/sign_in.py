"""Sign in on the pages in two steps. Between them there is no session, only the secret of the second step."""

import msgspec

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound, Unauthorized
from ticketbox.operations.accounts.second_factor.codes import WRONG_CODE, Code, accept_code
from ticketbox.operations.accounts.sessions import (
    SignedIn,
    SignIn,
    check_account_password,
    replace_session,
    require_password_sign_in,
    require_same_account,
)
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import passkeys, provider_requests, second_factors, users
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Read, Write

EXPIRED = "this sign-in has expired, or your password has changed; sign in again"


class CodeRequired(msgspec.Struct, frozen=True):
    """The account needs a code or a passkey: `handle` is the secret that continues this sign-in."""

    handle: str
    has_app: bool
    has_passkey: bool


class WaitingSignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sign-in that waits for its code. `seal` is of the password, whose change ends it."""

    user: int
    seal: str
    confirmed_at: int | None
    details: dict[str, str]


def continue_sign_in(
    tx: Write, actor: Actor, account: Account, confirmed_at: int | None, **details: str
) -> WithSession[SignedIn] | CodeRequired:
    """Sign in somebody who was identified, or ask for a code first."""
    if not second_factors.has_second_factor(tx, account.key):
        return replace_session(tx, actor, account, confirmed_at, **details)
    handle = secrets.generate_secret()
    waiting = WaitingSignIn(account.key, _seal_password(account), confirmed_at, details)
    provider_requests.insert_provider_request(tx, secrets.hash_secret(handle), waiting)
    has_app, has_passkey = second_factors.has_app(tx, account.key), passkeys.has_passkey(tx, account.key)
    return CodeRequired(handle, has_app, has_passkey)


def _seal_password(account: Account) -> str:
    return secrets.hash_secret(account.password_hash or "").hex()


async def check_only_password(
    services: Services, actor: Actor, args: SignIn, context: RequestContext
) -> Account | None:
    """Check a password; return the account if it is right. Raises RateLimited, and Forbidden if passwords are off."""
    require_password_sign_in(services)
    return await check_account_password(services, args, context)


@operation("begin_sign_in", scope=Access.PUBLIC, budget=Budget.NONE, prepare=check_only_password)
def begin_sign_in(
    tx: Write, actor: Actor, args: SignIn, checked: Account | None
) -> WithSession[SignedIn] | CodeRequired:
    """Sign in with a password on the sign-in page, or ask for a code."""
    return continue_sign_in(tx, actor, require_same_account(tx, checked), tx.now)


class FinishSignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The secret of the second step, and the code."""

    handle: Secret
    code: Code


async def check_waiting_code(services: Services, actor: Actor, args: FinishSignIn, context: RequestContext) -> None:
    """Use up the code. Raises NotFound, RateLimited, and Unauthorized for a wrong one."""
    services.limit(context.network, "sign-in", 30, "too many attempts to sign in")
    account = await services.read(lambda tx: find_waiting_account(tx, args.handle), (0, context.network))
    if account is None:
        raise NotFound("sign-in", EXPIRED)
    if not await accept_code(services, account, args.code, context):
        raise Unauthorized(WRONG_CODE)


def find_waiting_account(tx: Read, handle: str) -> Account | None:
    """Find the account of a sign-in that waits for its second step."""
    hashed = secrets.hash_secret(handle)
    waiting = provider_requests.find_provider_request(tx, hashed, None, 0, WaitingSignIn)
    return None if waiting is None else load_waiting_account(tx, waiting)


def load_waiting_account(tx: Read, waiting: WaitingSignIn) -> Account | None:
    """Load the account of a sign-in, unless it was disabled or its password changed since."""
    account = users.find_account_by_key(tx, waiting.user)
    if account is None or account.disabled or _seal_password(account) != waiting.seal:
        return None
    return account


@operation("finish_sign_in", scope=Access.PUBLIC, budget=Budget.NONE, prepare=check_waiting_code)
def finish_sign_in(tx: Write, actor: Actor, args: FinishSignIn, _: None) -> WithSession[SignedIn]:
    """Sign in after the code was checked."""
    hashed = secrets.hash_secret(args.handle)
    waiting = provider_requests.take_provider_request(tx, hashed, None, 0, WaitingSignIn)
    account = None if waiting is None else load_waiting_account(tx, waiting)
    if waiting is None or account is None:
        raise NotFound("sign-in", EXPIRED)
    return replace_session(tx, actor, account, waiting.confirmed_at, **waiting.details)
