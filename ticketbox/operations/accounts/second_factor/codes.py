"""Check the codes of a second factor: each works once, and wrong ones are slowed down."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from ticketbox.domain.accounts import secrets, totp
from ticketbox.domain.accounts.security_events import NoticeKind, Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.problems import RateLimited, SecondFactorRequired
from ticketbox.operations.accounts.security_events import log_security_event, queue_notice
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import second_factors, security_events
from ticketbox.store.accounts.users import Account
from ticketbox.store.file.database import Write

PER_MINUTE = 10
FREE_FAILURES = 5
MAX_WAIT_MINUTES = 60
WRONG_CODE = "the code is wrong, or was already used"
TOO_MANY = "too many codes for this account"

Code = Annotated[
    str, Meta(min_length=6, max_length=40, description="The code of the authenticator app, or a recovery code.")
]


async def check_sign_in_code(services: Services, account: Account, code: str | None, context: RequestContext) -> bool:
    """Whether the code is right, or the account needs none. Raises SecondFactorRequired without one, RateLimited."""
    fair_share = 0, context.network
    if not await services.read(lambda tx: second_factors.has_second_factor(tx, account.key), fair_share):
        return True
    if code is None:
        raise SecondFactorRequired
    return await accept_code(services, account, code, context)


async def accept_code(services: Services, account: Account, code: str, context: RequestContext) -> bool:
    """Use up a code of an account; return whether it was right. Raises RateLimited.

    It has its own transaction, so that a wrong code counts although the call is refused.
    """
    try:
        services.limit(account.key, "second-factor", PER_MINUTE, TOO_MANY)

        def take(tx: Write) -> bool:
            tx.origin = services.describe_origin(context)
            return take_code(tx, account, totp.normalize_code(code))

        return await services.database.write(take)
    except RateLimited:
        action = SecurityAction.SECOND_FACTOR_CHECK
        log_security_event(action, Outcome.LIMITED, context.address, account.user.id, Via.WEB, {})
        raise


def take_code(tx: Write, account: Account, code: str) -> bool:
    """Use up a code, and record what it was. Raises RateLimited after many wrong codes of the app in a row.

    Recovery codes aren't delayed: they can't be guessed, so somebody who knows the password can't lock out the owner.
    """
    user, action, outcome = account.key, SecurityAction.SECOND_FACTOR_CHECK, Outcome.DONE
    if not totp.is_totp_code(code):
        accepted = second_factors.take_recovery_code(tx, user, secrets.hash_secret(code))
        if accepted:
            action = SecurityAction.RECOVERY_CODE
            queue_notice(tx, user, NoticeKind.RECOVERY_CODE_USED, account.user.email)
    else:
        accepted = _take_app_code(tx, user, code)
    if not accepted:
        outcome = Outcome.FAILED
    security_events.insert_security_event(tx, user, action, outcome, Via.WEB, {})
    tx.after_commit.append(
        partial(log_security_event, action, outcome, tx.origin.address, account.user.id, Via.WEB, {})
    )
    return accepted


def _take_app_code(tx: Write, user: int, code: str) -> bool:
    factor = second_factors.find_second_factor(tx, user)
    if factor is None or factor.enabled_at is None:
        return False
    if factor.failures >= FREE_FAILURES:
        minutes = min(2 ** min(factor.failures - FREE_FAILURES, 10), MAX_WAIT_MINUTES)
        wait = factor.failed_at + minutes * MINUTE - tx.now
        if wait > 0:
            raise RateLimited(-(-wait // 1000), TOO_MANY, "wrong codes in a row")
    step = totp.find_step(factor.secret, code, tx.now, factor.last_step)
    if step is None:
        second_factors.record_wrong_code(tx, user)
        return False
    second_factors.record_code(tx, user, step)
    return True
