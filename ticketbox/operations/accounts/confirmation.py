"""The password again, for what changes who can use an account or a company (docs/use/accounts.md)."""

from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords
from ticketbox.domain.accounts.security_events import Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, RateLimited
from ticketbox.domain.core.records import Time
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


class WithPassword(Protocol):
    """Input that can have the account's password."""

    @property
    def current_password(self) -> str | None:
        """The account's password."""
        ...


async def check_confirmation(services: Services, actor: Actor, args: WithPassword, context: RequestContext) -> bool:
    """Whether the session has confirmed the password, or the call has it. Raises Forbidden for a wrong password."""
    if args.current_password is None:
        return actor.confirmed
    await check_current_password(services, actor, args.current_password, context)
    return True


def limit_password_attempts(services: Services, actor: Actor, action: SecurityAction, context: RequestContext) -> None:
    """Limit the attempts with an account's password, and log those that are refused. Raises RateLimited."""
    try:
        services.limit(actor.user, "password", 10, "too many attempts with the current password")
    except RateLimited:
        log_security_event(action, Outcome.LIMITED, context.address, actor.user_id, Via.WEB, {})
        raise


async def check_current_password(services: Services, actor: Actor, password: str, context: RequestContext) -> None:
    """Check the caller's password. Raises Forbidden if it is wrong, and RateLimited."""
    limit_password_attempts(services, actor, SecurityAction.PASSWORD_CHECK, context)
    account = await services.read(lambda tx: users.find_account_by_key(tx, actor.user), actor.share)
    stored = None if account is None else account.password_hash
    if not await services.passwords.run((context.network,), passwords.verify_password, stored, password):
        report_refusal(services, context, SecurityAction.PASSWORD_CHECK, account)
        raise Forbidden("the current password is wrong")


class ConfirmPassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The password of the caller's account."""

    current_password: Annotated[Secret, Meta(description="The account's password.")]


class Confirmation(msgspec.Struct, frozen=True):
    """Until when the session can do what requires the password."""

    confirmed_until: Time


@operation(
    "confirm_password", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /session/confirmation",
    prepare=check_confirmation, example={"current_password": "correct horse battery"},
)  # fmt: skip
def confirm_password(tx: Write, actor: Actor, args: ConfirmPassword, _: bool) -> Confirmation:
    """Confirm the password for 15 minutes, for operations that otherwise return `password_required`."""
    credentials.confirm_session(tx, actor.credential)
    record_security_event(tx, actor, SecurityAction.PASSWORD_CHECK)
    return Confirmation(format_rfc3339(tx.now + CONFIRMED_MS))
