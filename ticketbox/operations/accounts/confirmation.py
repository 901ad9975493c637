"""The password and code again, for what changes who can use an account or a company (docs/use/accounts.md)."""

from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords
from ticketbox.domain.accounts.security_events import Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, PasswordRequired, RateLimited, SecondFactorRequired, WrongCode
from ticketbox.domain.core.records import Time
from ticketbox.operations.accounts.second_factor.codes import Code, check_sign_in_code
from ticketbox.operations.accounts.security_events import log_security_event, record_security_event, report_refusal
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, users
from ticketbox.store.accounts.actors import CONFIRMED_MS
from ticketbox.store.file.database import Write

CurrentPassword = Annotated[
    Secret, Meta(description="The account's password, unless this session confirmed it in the last 15 minutes.")
]
ConfirmationCode = Annotated[
    Code, Meta(description="With the password, if the account has a second factor: a code of the app, or for recovery.")
]


CONFIRMATION_PROBLEMS = (PasswordRequired, SecondFactorRequired, WrongCode)


class PasswordInput(Protocol):
    """Input that can have the account's password, and its code."""

    @property
    def current_password(self) -> str | None:
        """The account's password."""
        ...

    @property
    def code(self) -> str | None:
        """The code of its second factor."""
        ...


class WithPassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The fields of such an input."""

    current_password: CurrentPassword | None = None
    code: ConfirmationCode | None = None


async def check_confirmation(services: Services, actor: Actor, args: PasswordInput, context: RequestContext) -> bool:
    """Whether the session has confirmed the password, or the call has it. Raises as `check_current_password` does."""
    if args.current_password is None:
        return actor.confirmed
    action = SecurityAction.PASSWORD_CHECK
    await check_current_password(services, actor, action, args.current_password, args.code, context)
    return True


def limit_password_attempts(services: Services, actor: Actor, action: SecurityAction, context: RequestContext) -> None:
    """Limit the attempts with an account's password, and log those that are refused. Raises RateLimited."""
    try:
        services.limit(actor.user, "password", 10, "too many attempts with the current password")
    except RateLimited:
        log_security_event(action, Outcome.LIMITED, context.address, actor.user_id, Via.WEB, {})
        raise


async def check_current_password(
    services: Services,
    actor: Actor,
    action: SecurityAction,
    password: str,
    code: str | None,
    context: RequestContext,
    *,
    needs_code: bool = True,
) -> None:
    """Check the caller's password for an action, then use up the code if the account has a second factor.

    Without `needs_code`, the session has confirmed the second factor already.

    Raises Forbidden if either is wrong, SecondFactorRequired without the code, and RateLimited.
    """
    limit_password_attempts(services, actor, action, context)
    account = await services.read(lambda tx: users.find_account_by_key(tx, actor.user), actor.fair_share)
    stored = None if account is None else account.password_hash
    is_right = await services.passwords.run((context.network,), passwords.verify_password, stored, password)
    if account is None or not is_right:
        report_refusal(services, context, action, account)
        raise Forbidden("the current password is wrong")
    if needs_code and not await check_sign_in_code(services, account, code, context):
        raise WrongCode


class ConfirmPassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The password of the caller's account."""

    current_password: Annotated[Secret, Meta(description="The account's password.")]
    code: ConfirmationCode | None = None


async def confirm_account(services: Services, actor: Actor, args: ConfirmPassword, context: RequestContext) -> None:
    """Check the password and the code. Raises as `check_current_password` does."""
    action = SecurityAction.PASSWORD_CHECK
    await check_current_password(services, actor, action, args.current_password, args.code, context)


class Confirmation(msgspec.Struct, frozen=True):
    """Until when the session can do what requires the password."""

    confirmed_until: Time


@operation(
    "confirm_password", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /session/confirmation",
    refuses=(SecondFactorRequired, WrongCode), prepare=confirm_account, without_factor=True,
    example={"current_password": "correct horse battery"},
)  # fmt: skip
def confirm_password(tx: Write, actor: Actor, args: ConfirmPassword, _: None) -> Confirmation:
    """Confirm the password, and the second factor, for 15 minutes: for operations that return `password_required`."""
    credentials.confirm_session(tx, actor.credential)
    record_security_event(tx, actor, SecurityAction.PASSWORD_CHECK)
    return Confirmation(format_rfc3339(tx.now + CONFIRMED_MS))
