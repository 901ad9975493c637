"""Turn off the second factor of a member who lost the app and the recovery codes."""

import msgspec

from ticketbox.domain.core.access.policy import Actor, Via, require_confirmation
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, NotFound, PasswordRequired
from ticketbox.operations.accounts.second_factor.reset import NO_FACTOR, end_second_factor
from ticketbox.operations.core.lookups import CompanyId, MemberId, find_membership
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.accounts import actors
from ticketbox.store.companies import members
from ticketbox.store.file.database import Write


class ResetMemberSecondFactor(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A member of a company."""

    company_id: CompanyId
    user_id: MemberId


@operation(
    "reset_member_second_factor",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="DELETE /companies/{company_id}/members/{user_id}/second-factor",
    refuses=(PasswordRequired,),
)
def reset_member_second_factor(tx: Write, actor: Actor, args: ResetMemberSecondFactor) -> None:
    """Turn off a member's second factor, and end the member's sessions.

    Requires the role owner in all companies of the member, and that this session confirmed the password.
    """
    key = find_membership(actor, args.company_id, Role.OWNER).company
    require_confirmation(actor.confirmed)
    place = members.find_member(tx, key, args.user_id)
    if place is None:
        raise NotFound("member")
    if place.user == actor.user:
        raise Forbidden("you can't reset your own second factor; ask another owner, or the operator of the server")
    person = actors.load_user_as_actor(tx, place.user, Via.WEB)
    owned = {membership.company for membership in actor.memberships if membership.role is Role.OWNER}
    if any(membership.company not in owned for membership in person.memberships):
        raise Forbidden("the member also belongs to a company that you don't own; ask the operator of the server")
    if not end_second_factor(tx, person, by=actor.user_id):
        raise NotFound("second factor", NO_FACTOR)
    for membership in person.memberships:
        company = membership.company
        record_company_event(tx, actor, "account.second_factor_disabled", company, user_id=person.user_id)
