"""Turn the second factor on and off, and replace recovery codes (docs/use/accounts.md, "Second factor")."""

from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import secrets, totp
from ticketbox.domain.accounts.security_events import NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, require_confirmation
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, NotFound, PasswordRequired
from ticketbox.operations.accounts.second_factor.codes import PER_MINUTE, TOO_MANY, WRONG_CODE, Code, accept_code
from ticketbox.operations.accounts.security_events import queue_notice, record_account_change
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Nothing
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, passkeys, second_factors, users
from ticketbox.store.file.database import Write

NOT_ON = "your account has no second factor"


class AuthenticatorSecret(msgspec.Struct, frozen=True):
    """What an authenticator app needs. `uri` is the text of its QR code, `secret` the same to type."""

    secret: str
    uri: str


class RecoveryCodes(msgspec.Struct, frozen=True):
    """Codes that sign in once each without the app. They are shown only in this response."""

    recovery_codes: list[str]


async def name_issuer(services: Services, actor: Actor, args: Nothing, context: RequestContext) -> str:
    """Return the name under which an app lists the account."""
    return f"ticketbox ({urlsplit(services.public_url).hostname})"


@operation(
    "start_second_factor", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/second-factor",
    refuses=(Conflict, PasswordRequired), prepare=name_issuer, without_factor=True,
)  # fmt: skip
def start_second_factor(tx: Write, actor: Actor, args: Nothing, issuer: str) -> AuthenticatorSecret:
    """Create the secret for an authenticator app. `enable_second_factor` requires its codes from then on.

    Requires that this session confirmed the password.
    """
    require_confirmation(actor.confirmed)
    if second_factors.has_app(tx, actor.user):
        raise Conflict("your account has an authenticator app; turn it off first")
    secret = totp.generate_totp_secret()
    second_factors.insert_second_factor(tx, actor.user, secret)
    return AuthenticatorSecret(totp.encode_totp_secret(secret), totp.build_totp_uri(secret, actor.email, issuer))


class EnableSecondFactor(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The first code, which proves that the app has the secret."""

    code: Annotated[Code, Meta(description="The code that the authenticator app shows.")]


async def limit_first_codes(
    services: Services, actor: Actor, args: EnableSecondFactor, context: RequestContext
) -> None:
    """Limit first codes. Raises RateLimited."""
    services.limit(actor.user, "second-factor", PER_MINUTE, TOO_MANY)


@operation(
    "enable_second_factor", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/second-factor/enable",
    refuses=(NotFound, Conflict, PasswordRequired), prepare=limit_first_codes, without_factor=True,
    example={"code": "287082"},
)  # fmt: skip
def enable_second_factor(tx: Write, actor: Actor, args: EnableSecondFactor, _: None) -> RecoveryCodes:
    """Require a code at each sign-in from now on, and end all other sessions. Returns the recovery codes."""
    require_confirmation(actor.confirmed)
    factor = second_factors.find_second_factor(tx, actor.user)
    if factor is None:
        raise NotFound("second factor", "start with POST /profile/second-factor")
    if factor.enabled_at is not None:
        raise Conflict("your account has a second factor already")
    step = totp.find_step(factor.secret, totp.normalize_code(args.code), tx.now, factor.last_step)
    if step is None:
        raise Forbidden("the code is wrong; check that the clock of your phone is right")
    second_factors.enable_second_factor(tx, actor.user, step)
    credentials.revoke_sessions(tx, actor.user, but=actor.credential)
    record_account_change(tx, actor, SecurityAction.SECOND_FACTOR_ENABLE, "account.second_factor_enabled")
    queue_notice(tx, actor.user, NoticeKind.SECOND_FACTOR_ENABLED, actor.email)
    return issue_recovery_codes(tx, actor)


def issue_recovery_codes(tx: Write, actor: Actor) -> RecoveryCodes:
    """Create recovery codes in place of the earlier ones."""
    codes = totp.generate_recovery_codes()
    hashes = [secrets.hash_secret(totp.normalize_code(code)) for code in codes]
    second_factors.replace_recovery_codes(tx, actor.user, hashes)
    return RecoveryCodes(codes)


class WithCode(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A code of the second factor."""

    code: Code


async def require_code(services: Services, actor: Actor, args: WithCode, context: RequestContext) -> None:
    """Use up a code. Raises Forbidden for a wrong one, NotFound without a second factor, and RateLimited."""
    account = await services.read(lambda tx: users.find_account_by_key(tx, actor.user), actor.fair_share)
    if not await services.read(lambda tx: second_factors.has_second_factor(tx, actor.user), actor.fair_share):
        raise NotFound("second factor", NOT_ON)
    if account is None or not await accept_code(services, account, args.code, context):
        raise Forbidden(WRONG_CODE)


@operation(
    "disable_second_factor", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/second-factor/disable",
    refuses=(NotFound, Conflict), prepare=require_code, example={"code": "287082"},
)  # fmt: skip
def disable_second_factor(tx: Write, actor: Actor, args: WithCode, _: None) -> None:
    """Sign in without the authenticator app from now on. Without passkeys, the recovery codes end, too.

    Not possible for the last second factor if a company requires one.
    """
    if not second_factors.has_app(tx, actor.user):
        raise NotFound("authenticator app", "your account has no authenticator app")
    required = second_factors.is_second_factor_required(tx, actor.user)
    if required and not passkeys.has_passkey(tx, actor.user):
        raise Conflict("a company of yours requires a second factor; to change phones, ask an owner to reset yours")
    second_factors.delete_app(tx, actor.user)
    record_account_change(tx, actor, SecurityAction.SECOND_FACTOR_DISABLE, "account.second_factor_disabled")
    queue_notice(tx, actor.user, NoticeKind.SECOND_FACTOR_DISABLED, actor.email)


class ReplaceRecoveryCodes(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A code of the second factor, unless this session confirmed the password or a passkey in the last 15 minutes."""

    code: Code | None = None


async def require_code_or_confirmation(
    services: Services, actor: Actor, args: ReplaceRecoveryCodes, context: RequestContext
) -> None:
    """Use up a code, or require a confirmation. Raises PasswordRequired, and as `require_code` does."""
    if args.code is None:
        require_confirmation(actor.confirmed)
    else:
        await require_code(services, actor, WithCode(args.code), context)


@operation(
    "replace_recovery_codes", scope=Access.SESSION, budget=Budget.WRITE,
    rest="POST /profile/second-factor/recovery-codes", refuses=(NotFound, PasswordRequired),
    prepare=require_code_or_confirmation,
    example={"code": "287082"},
)  # fmt: skip
def replace_recovery_codes(tx: Write, actor: Actor, args: ReplaceRecoveryCodes, _: None) -> RecoveryCodes:
    """Create new recovery codes. The earlier ones end."""
    if not second_factors.has_second_factor(tx, actor.user):
        raise NotFound("second factor", NOT_ON)
    record_account_change(tx, actor, SecurityAction.RECOVERY_CODES_REPLACE, "account.recovery_codes_replaced")
    return issue_recovery_codes(tx, actor)
