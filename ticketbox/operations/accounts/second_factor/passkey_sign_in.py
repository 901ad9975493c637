"""Sign in and confirm with a passkey. One that verified the person counts as password and second factor together."""

import msgspec

from ticketbox.domain.accounts import passkeys, secrets
from ticketbox.domain.accounts.passkeys import InvalidPasskey, PasskeySignature
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, NotFound, Unauthorized
from ticketbox.operations.accounts.confirmation import Confirmation
from ticketbox.operations.accounts.second_factor.passkey_checks import (
    PER_MINUTE,
    TOO_MANY,
    UNKNOWN,
    Challenge,
    PasskeyOptions,
    Purpose,
    issue_challenge,
    use_passkey,
)
from ticketbox.operations.accounts.second_factor.passkeys import get_public_url
from ticketbox.operations.accounts.second_factor.sign_in import (
    EXPIRED,
    WaitingSignIn,
    find_waiting_account,
    load_waiting_account,
)
from ticketbox.operations.accounts.sessions import SignedIn, replace_session, require_password_sign_in
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Nothing, Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, provider_requests, users
from ticketbox.store.accounts import passkeys as stored_passkeys
from ticketbox.store.accounts.actors import CONFIRMED_MS
from ticketbox.store.accounts.passkeys import StoredPasskey
from ticketbox.store.file.database import Write


class StartPasskeySignIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """With `handle`, the secret of the sign-in page's second step, the passkey comes after the password."""

    handle: Secret | None = None


async def limit_starts(services: Services, actor: Actor, args: StartPasskeySignIn, context: RequestContext) -> str:
    """Limit challenges for each address; return the public URL. Raises RateLimited, and Forbidden as sign-ins do."""
    services.limit(context.network, "passkey-start", PER_MINUTE, TOO_MANY)
    if args.handle is None:
        require_password_sign_in(services)
    return services.public_url


@operation(
    "start_passkey_sign_in", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /session/passkey/options",
    refuses=(NotFound, Forbidden), prepare=limit_starts,
)  # fmt: skip
def start_passkey_sign_in(tx: Write, actor: Actor, args: StartPasskeySignIn, public_url: str) -> PasskeyOptions:
    """Return what the browser needs to sign in with a passkey, of any account or of the one that entered a password."""
    if args.handle is None:
        challenge = issue_challenge(tx, Purpose.SIGN_IN)
        return PasskeyOptions(passkeys.build_request_options(public_url, challenge, [], verified=True))
    account = find_waiting_account(tx, args.handle)
    if account is None:
        raise NotFound("sign-in", EXPIRED)
    allowed = stored_passkeys.list_credential_ids(tx, account.key)
    if not allowed:
        raise NotFound("passkey", "your account has no passkey")
    challenge = issue_challenge(tx, Purpose.SECOND_STEP, step=_hash_handle(args.handle))
    return PasskeyOptions(passkeys.build_request_options(public_url, challenge, allowed, verified=False))


def _hash_handle(handle: str) -> str:
    return secrets.hash_secret(handle).hex()


class SignInWithPasskey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the browser returned, and the `handle` that it was started with."""

    passkey: PasskeySignature
    handle: Secret | None = None


async def check_sign_in_passkey(
    services: Services, actor: Actor, args: SignInWithPasskey, context: RequestContext
) -> StoredPasskey:
    """Check the passkey. Raises Unauthorized, NotFound, RateLimited, and Forbidden if only the provider signs in."""
    services.limit(context.network, "passkey", PER_MINUTE, TOO_MANY)
    handle, owner, expected = args.handle, None, Challenge(Purpose.SIGN_IN)
    if handle is None:
        require_password_sign_in(services)
    else:
        account = await services.read(lambda tx: find_waiting_account(tx, handle), (0, context.network))
        if account is None:
            raise NotFound("sign-in", EXPIRED)
        owner, expected = account.key, Challenge(Purpose.SECOND_STEP, _hash_handle(handle))
    try:
        return await use_passkey(services, context, args.passkey, expected, 0, owner)
    except InvalidPasskey as refusal:
        raise Unauthorized(str(refusal)) from None


@operation(
    "sign_in_with_passkey", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /session/passkey", creates=True,
    refuses=(NotFound, Forbidden), prepare=check_sign_in_passkey,
)  # fmt: skip
def sign_in_with_passkey(
    tx: Write, actor: Actor, args: SignInWithPasskey, passkey: StoredPasskey
) -> WithSession[SignedIn]:
    """Sign in with a passkey, without a password or after it. The response sets the session's cookie."""
    account = users.find_account_by_key(tx, passkey.user)
    found = stored_passkeys.find_passkey(tx, passkeys.decode_base64url(args.passkey.credential_id))
    if account is None or account.disabled or found is None or found.key != passkey.key:
        raise Unauthorized(UNKNOWN)
    if args.handle is None:
        return replace_session(tx, actor, account, tx.now, passkey=passkey.name)
    hashed = secrets.hash_secret(args.handle)
    waiting = provider_requests.take_provider_request(tx, hashed, None, 0, WaitingSignIn)
    account = None if waiting is None else load_waiting_account(tx, waiting)
    if waiting is None or account is None or account.key != passkey.user:
        raise NotFound("sign-in", EXPIRED)
    return replace_session(tx, actor, account, waiting.confirmed_at, **waiting.details, passkey=passkey.name)


@operation(
    "start_passkey_confirmation", scope=Access.SESSION, budget=Budget.WRITE,
    rest="POST /session/confirmation/passkey/options", refuses=(NotFound,), prepare=get_public_url,
)  # fmt: skip
def start_passkey_confirmation(tx: Write, actor: Actor, args: Nothing, public_url: str) -> PasskeyOptions:
    """Return what the browser needs to confirm with one of the caller's passkeys."""
    allowed = stored_passkeys.list_credential_ids(tx, actor.user)
    if not allowed:
        raise NotFound("passkey", "your account has no passkey")
    challenge = issue_challenge(tx, Purpose.CONFIRM, actor.user)
    return PasskeyOptions(passkeys.build_request_options(public_url, challenge, allowed, verified=True))


class ConfirmWithPasskey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the browser returned."""

    passkey: PasskeySignature


async def check_own_passkey(
    services: Services, actor: Actor, args: ConfirmWithPasskey, context: RequestContext
) -> None:
    """Check that it is a passkey of the caller. Raises Forbidden."""
    try:
        await use_passkey(services, context, args.passkey, Challenge(Purpose.CONFIRM), actor.user, actor.user)
    except InvalidPasskey as refusal:
        raise Forbidden(str(refusal)) from None


@operation(
    "confirm_with_passkey", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /session/confirmation/passkey",
    prepare=check_own_passkey,
)  # fmt: skip
def confirm_with_passkey(tx: Write, actor: Actor, args: ConfirmWithPasskey, _: None) -> Confirmation:
    """Confirm with a passkey instead of the password, for 15 minutes, what returns `password_required`."""
    credentials.confirm_session(tx, actor.credential)
    return Confirmation(format_rfc3339(tx.now + CONFIRMED_MS))
