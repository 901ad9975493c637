"""Saved views: a project's filters, order and display under a name, for their owner or for everybody."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.views import (
    MAX_VIEWS,
    SavedView,
    ViewDefinition,
    ViewDensity,
    ViewField,
    ViewGroup,
    ViewLayout,
)
from ticketbox.domain.core.access.policy import Actor, require_role
from ticketbox.domain.core.access.scopes import Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, InvalidRequest
from ticketbox.domain.tickets.fields import ViewFilters
from ticketbox.domain.tickets.records import Priority, Sort
from ticketbox.operations.core.inputs import Label, Name, normalize_labels
from ticketbox.operations.core.lookups import CompanyId, Key, ProjectId, Reference, ViewId, find_writable
from ticketbox.operations.core.names import (
    explain_empty_list,
    resolve_company_id,
    resolve_project_id,
    resolve_user_id,
)
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.companies import views
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write

_EVERYBODY = ("me", "none")


class FiltersInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Filters of list_tickets; `me` is the person who opens the view."""

    assignee: Annotated[list[Reference], Meta(max_length=20, description="Members, `me`, or `none`.")] = []
    label: Annotated[list[Label], Meta(max_length=20, description="Labels.")] = []
    priority: Annotated[list[Priority], Meta(max_length=5, description="Priorities.")] = []
    has_labels: Annotated[bool, Meta(description="With labels, or without.")] | None = None
    resolved: Annotated[bool, Meta(description="Resolved, or unresolved.")] | None = None
    has_due_date: Annotated[bool, Meta(description="With a due date, or without.")] | None = None
    overdue: Annotated[bool, Meta(description="Only unresolved tickets past their due date.")] = False


ViewName = Annotated[Name, Meta(description="The view's name.")]
Shared = Annotated[bool, Meta(description="Whether everybody who sees the project sees the view.")]
Layout = Annotated[ViewLayout, Meta(description="Board or table.")]
ViewSort = Annotated[Sort, Meta(description="As in list_tickets. Null: the layout's usual order.")]
Group = Annotated[ViewGroup, Meta(description="The groups of a table; null for none.")]
Fields = Annotated[list[ViewField], Meta(max_length=20, description="What is shown; null: the usual.")]
Density = Annotated[ViewDensity, Meta(description="How much space tickets take.")]


class ListViews(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Lists shared views and the caller's own."""

    company_id: CompanyId | None = None
    project_id: ProjectId | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_views",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /views",
)
def list_views(tx: Read, actor: Actor, args: ListViews) -> Page[SavedView]:
    """List the saved views that the caller can see, oldest first."""
    (after,) = decode_cursor(actor, args) or (0,)
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    project = None if args.project_id is None else resolve_project_id(tx, actor, args.project_id)
    listed = views.list_views(tx, actor.viewer, company, project, after, args.limit + 1)
    page = build_page(actor, args, listed)
    if page.items or after:
        return page
    return msgspec.structs.replace(page, note=explain_empty_list(tx, actor, company=company, project=project))


class CreateView(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """By default, a view is a board of all tickets that only its creator sees."""

    project_id: ProjectId
    name: ViewName
    shared: Shared = False
    layout: Layout = ViewLayout.BOARD
    filters: FiltersInput = FiltersInput()
    sort: ViewSort | None = None
    group: Group | None = None
    fields: Fields | None = None
    density: Density = ViewDensity.COMFORTABLE
    idempotency_key: Key | None = None


@operation(
    "create_view",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /projects/{project_id}/views",
    refuses=(Conflict,),
    creates=True,
    example={"project_id": "Webshop", "name": "Checkout bugs", "filters": {"label": ["checkout"]}},
)
def create_view(tx: Write, actor: Actor, args: CreateView) -> SavedView:
    """Save a view of a project's tickets. Requires the role member."""
    row = find_writable(tx, actor, "project", args.project_id)
    if views.count_views(tx, row.key) >= MAX_VIEWS:
        raise Conflict(f"a project has at most {MAX_VIEWS} views")
    definition = ViewDefinition(
        layout=args.layout,
        filters=_build_filters(tx, actor, row, args.filters),
        sort=args.sort,
        group=args.group,
        fields=_unique(args.fields),
        density=args.density,
    )
    byline = bylines.ensure_byline(tx, actor)
    name = args.name.strip()
    key = views.insert_view(tx, row.key, actor.user, byline, name, definition, shared=args.shared)
    view = views.load_view(tx, actor.viewer, key)
    _record(tx, actor, "view.created", row, view)
    return view


class UpdateView(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change. `filters` are replaced as a whole."""

    view_id: ViewId
    name: ViewName | UnsetType = UNSET
    shared: Shared | UnsetType = UNSET
    layout: Layout | UnsetType = UNSET
    filters: FiltersInput | UnsetType = UNSET
    sort: ViewSort | UnsetType | None = UNSET
    group: Group | UnsetType | None = UNSET
    fields: Fields | UnsetType | None = UNSET
    density: Density | UnsetType = UNSET


@operation(
    "update_view",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PATCH /views/{view_id}",
    example={"view_id": "view_4k7m2q9x1b3c", "shared": True},
)
def update_view(tx: Write, actor: Actor, args: UpdateView) -> SavedView:
    """Change a saved view: the caller's own, or as an admin a shared one."""
    given = {name: value for name, value in msgspec.structs.asdict(args).items() if value is not UNSET}
    if len(given) == 1:
        raise InvalidRequest("nothing to change: send name, shared, layout, filters, sort, group, fields or density")
    row = _find_view(tx, actor, args.view_id)
    if args.shared is False and not views.is_owner(tx, row.key, actor.user):
        raise Forbidden("only its creator can stop sharing this view")
    before = views.load_view(tx, actor.viewer, row.key)
    changes = {name: given[name] for name in ("layout", "sort", "group", "density") if name in given}
    if not isinstance(args.filters, UnsetType):
        changes["filters"] = _build_filters(tx, actor, row, args.filters)
    if not isinstance(args.fields, UnsetType):
        changes["fields"] = _unique(args.fields)
    kept = {name: getattr(before, name) for name in ViewDefinition.__struct_fields__}
    name = args.name if isinstance(args.name, UnsetType) else args.name.strip()
    views.update_view(tx, row.key, name=name, shared=args.shared, definition=ViewDefinition(**{**kept, **changes}))
    view = views.load_view(tx, actor.viewer, row.key)
    if view != before:
        _record(tx, actor, "view.changed", row, view, is_told=before.shared)
    return view


class DeleteView(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Its tickets stay."""

    view_id: ViewId


@operation(
    "delete_view",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /views/{view_id}",
)
def delete_view(tx: Write, actor: Actor, args: DeleteView) -> None:
    """Delete a saved view: the caller's own, or as an admin a shared one."""
    row = _find_view(tx, actor, args.view_id)
    view = views.load_view(tx, actor.viewer, row.key)
    views.delete_view(tx, row.key)
    _record(tx, actor, "view.removed", row, view)


def _find_view(tx: Read, actor: Actor, view_id: str) -> VisibleRow:
    """Find a view to change: that of somebody else as an admin. Raises NotFound or Forbidden."""
    row = find_writable(tx, actor, "view", view_id)
    if not views.is_owner(tx, row.key, actor.user):
        require_role(row.role, Role.ADMIN)
    return row


def _build_filters(tx: Read, actor: Actor, row: VisibleRow, given: FiltersInput) -> ViewFilters:
    people = [
        each if each in _EVERYBODY else resolve_user_id(tx, actor, each, row.project, "filters.assignee")
        for each in given.assignee
    ]
    normalized: dict[str, Any] = {
        "assignee": list(dict.fromkeys(people)),
        "label": normalize_labels(given.label),
        "priority": list(dict.fromkeys(given.priority)),
    }
    return ViewFilters(**{**msgspec.structs.asdict(given), **normalized})


def _unique(fields: list[ViewField] | None) -> list[ViewField] | None:
    return None if fields is None else list(dict.fromkeys(fields))


def _record(tx: Write, actor: Actor, type_: str, row: VisibleRow, view: SavedView, *, is_told: bool = False) -> None:
    """Record a change of a view that others see or saw. What people keep for themselves is no event."""
    if view.shared or is_told:
        record_company_event(tx, actor, type_, row.company, row.project, view_id=view.id, name=view.name)
