"""Companies: the tenants of a ticketbox file."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.records import Company
from ticketbox.domain.core.access.policy import Actor, Membership
from ticketbox.domain.core.access.scopes import Access, Role, RoleName, Scope
from ticketbox.domain.core.fairness.ceilings import MAX_PER_MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidRequest
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import CompanyId, Key, find_membership
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.accounts import second_factors
from ticketbox.store.companies import companies, members
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write

PerMinute = Annotated[int, Meta(ge=1, le=MAX_PER_MINUTE, description="Calls per minute; null means the default.")]


class ListCompanies(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A token that is restricted to a company sees only that company."""

    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_companies",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /companies",
    tool=Tool("List companies", "Use this to see which companies you can access.", {}, tool_set="triage"),
)
def list_companies(tx: Read, actor: Actor, args: ListCompanies) -> Page[Company]:
    """List the caller's companies, with the caller's role in each."""
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, companies.list_companies(tx, actor.viewer, after, args.limit + 1))


class CreateCompany(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The caller becomes the company's first owner."""

    name: Annotated[Name, Meta(description="The company's name.")]
    idempotency_key: Key | None = None


@operation(
    "create_company", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /companies", creates=True,
    example={"name": "Acme"},
)  # fmt: skip
def create_company(tx: Write, actor: Actor, args: CreateCompany) -> Company:
    """Create a company, owned by the caller."""
    tx.ceilings.require_company(companies.count_companies(tx, actor.user))
    return insert_company(tx, actor, args.name.strip())


def insert_company(tx: Write, actor: Actor, name: str) -> Company:
    """Insert a company whose owner is the actor."""
    byline = bylines.ensure_byline(tx, actor)
    key = companies.insert_company(tx, name, byline)
    members.insert_member(tx, key, actor.user, Role.OWNER, None, byline)
    record_company_event(tx, actor, "member.joined", key, user_id=actor.user_id, role=RoleName.OWNER)
    return companies.load_company(tx, actor.viewer, key)


class NewLimits(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The company's rate limits. Both fields are required; null means the default."""

    reads_per_minute: PerMinute | None
    writes_per_minute: PerMinute | None


class UpdateCompany(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    company_id: CompanyId
    name: Annotated[Name, Meta(description="The company's name.")] | UnsetType = UNSET
    limits: NewLimits | UnsetType = UNSET
    second_factor_required: (
        Annotated[bool, Meta(description="Whether members need a second factor for the web app.")] | UnsetType
    ) = UNSET


@operation(
    "update_company", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /companies/{company_id}",
    refuses=(Conflict,),
    example={"company_id": "co_7h2k9m4p1r6t", "limits": {"reads_per_minute": 1200, "writes_per_minute": None}},
)  # fmt: skip
def update_company(tx: Write, actor: Actor, args: UpdateCompany) -> Company:
    """Change a company's name or limits, which requires the role admin, or whether members need a second factor.

    The latter requires the role owner, and to turn it on, the caller's own second factor.
    """
    if args.name is UNSET and args.limits is UNSET and args.second_factor_required is UNSET:
        raise InvalidRequest("nothing to change: send name, limits or second_factor_required")
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    if args.name is not UNSET:
        companies.rename_company(tx, key, args.name.strip())
        record_company_event(tx, actor, "company.changed", key, name=args.name.strip())
    if args.limits is not UNSET:
        tx.ceilings.require_rate_limit(Budget.READ, args.limits.reads_per_minute)
        tx.ceilings.require_rate_limit(Budget.WRITE, args.limits.writes_per_minute)
        companies.set_company_limits(tx, key, args.limits.reads_per_minute, args.limits.writes_per_minute)
        record_company_event(tx, actor, "company.changed", key, limits=args.limits)
    if args.second_factor_required is not UNSET:
        _require_second_factor(tx, actor, args.company_id, args.second_factor_required)
    return companies.load_company(tx, actor.viewer, key)


def _require_second_factor(tx: Write, actor: Actor, company_id: str, required: bool) -> None:
    key = find_membership(actor, company_id, Role.OWNER).company
    if required and not second_factors.has_second_factor(tx, actor.user):
        raise Conflict("turn on your own second factor first")
    companies.set_second_factor_required(tx, key, required)
    record_company_event(tx, actor, "company.changed", key, second_factor_required=required)


class DeleteCompany(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone. A client with a button for it should send `confirm_name`."""

    company_id: CompanyId
    confirm_name: (
        Annotated[str, Meta(max_length=100, description="Delete only if this is the company's name.")] | None
    ) = None


@operation("delete_company", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /companies/{company_id}")
def delete_company(tx: Write, actor: Actor, args: DeleteCompany) -> None:
    """Delete a company with all its projects, tickets and tokens. Requires the role owner."""
    membership: Membership = find_membership(actor, args.company_id, Role.OWNER)
    if args.confirm_name not in {None, membership.company_name}:
        raise InvalidRequest("confirm_name isn't the company's name; nothing was deleted")
    companies.delete_company(tx, membership.company)
