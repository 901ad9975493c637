"""Members of a company, their roles, and the projects that they are restricted to."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.records import Member
from ticketbox.domain.core.access.policy import Actor, require_company_role, require_confirmation
from ticketbox.domain.core.access.scopes import Access, Role, RoleName, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, InvalidRequest, NotFound, PasswordRequired
from ticketbox.operations.accounts.confirmation import CONFIRMATION_PROBLEMS, WithPassword, check_confirmation
from ticketbox.operations.accounts.memberships import end_membership
from ticketbox.operations.core.lookups import CompanyId, Id, MemberId, ProjectId, find_membership, find_readable
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.companies import members, projects
from ticketbox.store.companies.members import MemberWithKeys
from ticketbox.store.file.database import Read, Write

ProjectIds = Annotated[
    list[Id],
    Meta(min_length=1, max_length=100, description="Restricts the member to these projects; null means all projects."),
]


class ListMembers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """With a project, only the members who can access it are listed."""

    company_id: CompanyId
    project_id: ProjectId | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_members",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /companies/{company_id}/members",
    tool=Tool(
        "List members",
        "Use this to find people to assign.",
        {"company_id": "Example Ltd", "project_id": "Webshop"},
        tool_set="triage",
    ),
)
def list_members(tx: Read, actor: Actor, args: ListMembers) -> Page[Member]:
    """List a company's members, in the order in which they joined."""
    membership = find_membership(actor, args.company_id)
    key, project = membership.company, None
    if args.project_id is not None:
        row = find_readable(tx, actor, "project", args.project_id)
        if row.company != key:
            raise NotFound("project")
        project = row.project
    (after,) = decode_cursor(actor, args) or (0,)
    listed = members.list_members(tx, key, project, after, args.limit + 1)
    if membership.role is not Role.OWNER:
        listed = [(place, _hide_factor(member)) for place, member in listed]
        if not membership.all_projects:  # the ids of projects that the caller can't see stay hidden
            own = _find_member(tx, key, actor.user_id).member.project_ids or []
            listed = [(place, _hide_projects(member, own)) for place, member in listed]
    return build_page(actor, args, listed)


class UpdateMember(WithPassword, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    company_id: CompanyId
    user_id: MemberId
    role: RoleName | UnsetType = UNSET
    project_ids: ProjectIds | UnsetType | None = UNSET


@operation(
    "update_member", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /companies/{company_id}/members/{user_id}",
    refuses=(Conflict, *CONFIRMATION_PROBLEMS), prepare=check_confirmation,
    example={"company_id": "co_7h2k9m4p1r6t", "user_id": "usr_3f6h9k2m5p8r", "role": "admin"},
)  # fmt: skip
def update_member(tx: Write, actor: Actor, args: UpdateMember, confirmed: bool) -> Member:
    """Change a member's role or projects. Requires the role admin, or owner to promote or demote an owner.

    Changing or creating an owner or admin requires the password, in this session or in this call.
    """
    if args.role is UNSET and args.project_ids is UNSET:
        raise InvalidRequest("nothing to change: send role or project_ids")
    membership = find_membership(actor, args.company_id, Role.ADMIN)
    key = membership.company
    place = _find_member(tx, key, args.user_id)
    role = place.role if args.role is UNSET else args.role.role
    require_may_grant(actor, key, max(place.role, role), confirmed)
    _require_another_owner(tx, key, place, role)
    if args.project_ids is UNSET:
        project_keys = None if place.member.project_ids is None else members.list_project_keys(tx, place.key)
    else:
        project_keys = find_project_keys(tx, key, args.project_ids)
    members.update_member(tx, place.key, role, project_keys)
    after = _find_member(tx, key, args.user_id).member
    record_company_event(
        tx, actor, "member.changed", key,
        user_id=after.id, role=after.role, project_ids=after.project_ids,
    )  # fmt: skip
    return after if membership.role is Role.OWNER else _hide_factor(after)


class RemoveMember(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Every member can leave a company by sending the caller's own user id."""

    company_id: CompanyId
    user_id: MemberId


@operation(
    "remove_member",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="DELETE /companies/{company_id}/members/{user_id}",
    refuses=(Conflict, PasswordRequired),
)
def remove_member(tx: Write, actor: Actor, args: RemoveMember) -> None:
    """Remove a member from a company, or leave it. The member's assignments and tokens there are removed too.

    Removing another owner or an admin requires that this session confirmed the password.
    """
    leaving = args.user_id == actor.user_id
    key = find_membership(actor, args.company_id, Role.VIEWER if leaving else Role.ADMIN).company
    place = _find_member(tx, key, args.user_id)
    if not leaving:
        require_may_grant(actor, key, place.role, actor.confirmed)
    _require_another_owner(tx, key, place, Role.VIEWER)
    end_membership(tx, actor, key, place)


def require_may_grant(actor: Actor, company: int, role: Role, confirmed: bool) -> None:
    """Raise Forbidden unless the actor may grant a role: admins can, except for owner, which only owners can.

    Raises PasswordRequired for owner and admin unless the password was `confirmed`.
    """
    membership = actor.find_membership(company)
    if membership is None:
        raise NotFound("company")
    require_company_role(membership, Role.ADMIN)
    if role is Role.OWNER and membership.role is not Role.OWNER:
        raise Forbidden("only an owner can promote, change or remove an owner")
    require_confirmation(confirmed or role < Role.ADMIN)


def find_project_keys(tx: Read, company: int, project_ids: list[str] | None) -> list[int] | None:
    """Return the keys of a company's projects; None for None. Raises NotFound."""
    if project_ids is None:
        return None
    keys = [projects.find_project_key(tx, project_id, company) for project_id in dict.fromkeys(project_ids)]
    if None in keys:
        raise NotFound("project")
    return [key for key in keys if key is not None]


def _hide_factor(member: Member) -> Member:
    return msgspec.structs.replace(member, second_factor_missing=None)


def _hide_projects(member: Member, visible: list[str]) -> Member:
    if member.project_ids is None:
        return member
    return msgspec.structs.replace(member, project_ids=[each for each in member.project_ids if each in visible])


def _find_member(tx: Read, company: int, user_id: str) -> MemberWithKeys:
    place = members.find_member(tx, company, user_id)
    if place is None:
        raise NotFound("member")
    return place


def _require_another_owner(tx: Read, company: int, place: MemberWithKeys, role: Role) -> None:
    if place.role is Role.OWNER and role is not Role.OWNER and members.count_owners(tx, company) == 1:
        raise Conflict("the last owner can't leave or be demoted; promote another member to owner first")
