"""Turn off the second factor of somebody who lost the app or passkeys, and the recovery codes."""

from typing import Any

import msgspec

from ticketbox.domain.accounts.records import User
from ticketbox.domain.accounts.security_events import NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.accounts.security_events import queue_notice, record_security_event
from ticketbox.operations.accounts.users import find_account
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.accounts import actors, credentials, second_factors
from ticketbox.store.file.database import Write

NO_FACTOR = "this account has no second factor"


class ResetSecondFactor(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address."""

    user: str


@operation("reset_second_factor", scope=Access.OPERATOR, budget=Budget.NONE)
def reset_second_factor(tx: Write, actor: Actor, args: ResetSecondFactor) -> User:
    """Turn off an account's second factor, its passkeys too, and end its sessions."""
    account = find_account(tx, args.user)
    person = actors.load_user_as_actor(tx, account.key, Via.CLI)
    if not end_second_factor(tx, person):
        raise NotFound("second factor", NO_FACTOR)
    for membership in person.memberships:
        company = membership.company
        record_company_event(tx, person, "account.second_factor_disabled", company, user_id=person.user_id)
    return account.user


def end_second_factor(tx: Write, person: Actor, by: str | None = None) -> bool:
    """Delete a person's second factor, end the sessions and report it; return whether there was one.

    `by` is the owner who does it.
    """
    if not second_factors.delete_second_factor(tx, person.user):
        return False
    credentials.revoke_sessions(tx, person.user)
    details: dict[str, Any] = {} if by is None else {"by": by}
    record_security_event(tx, person, SecurityAction.SECOND_FACTOR_DISABLE, **details)
    queue_notice(tx, person.user, NoticeKind.SECOND_FACTOR_DISABLED, person.email)
    return True
