"""Columns of a project's board."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.records import Column, ColumnKind, derive_column_kind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidField, InvalidRequest
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import ColumnId, Key, ProjectId, find_readable, find_writable
from ticketbox.operations.core.names import resolve_column_id
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.placement.placing import place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import positions, tickets

MAX_COLUMNS = 50
Kind = Annotated[
    ColumnKind,
    Meta(description="Tickets in a column of kind `done` are resolved; `todo` is what nobody works on yet."),
]
Position = Annotated[int, Meta(ge=0, lt=MAX_COLUMNS, description="The column's place, counted from 0 at the left.")]


class ListColumns(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All columns are on one page, because a board has at most 50."""

    project_id: ProjectId


@operation(
    "list_columns",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /projects/{project_id}/columns",
    tool=Tool(
        "List columns",
        "Use this to see a board's columns before you move tickets.",
        {"project_id": "Webshop"},
        tool_set="core",
    ),
)
def list_columns(tx: Read, actor: Actor, args: ListColumns) -> Page[Column]:
    """List a project's columns from left to right."""
    row = find_readable(tx, actor, "project", args.project_id)
    return Page([column for _, column in columns.list_columns(tx, row.project)], None)


class CreateColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """By default, the column is added at the right end; its kind is `done` if that is its name, else `doing`."""

    project_id: ProjectId
    name: Annotated[Name, Meta(description="The column's name.")]
    position: Position | None = None
    kind: Kind | None = None
    idempotency_key: Key | None = None


@operation(
    "create_column", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /projects/{project_id}/columns",
    refuses=(Conflict,), creates=True,
    example={"project_id": "proj_9w4k2m7x0c3n", "name": "Review", "position": 2, "kind": "doing"},
)  # fmt: skip
def create_column(tx: Write, actor: Actor, args: CreateColumn) -> Column:
    """Add a column to a board. Requires the role admin."""
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    if len(columns.list_columns(tx, row.key)) >= MAX_COLUMNS:
        raise Conflict(f"a board has at most {MAX_COLUMNS} columns")
    name = args.name.strip()
    key = columns.insert_column(tx, row.key, name, args.kind or derive_column_kind(name), args.position)
    column = columns.load_column(tx, key)
    record_company_event(
        tx, actor, "column.created", row.company, row.project,
        column_id=column.id, name=column.name, kind=column.kind,
    )  # fmt: skip
    return column


class UpdateColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    column_id: ColumnId
    name: Annotated[Name, Meta(description="The column's name.")] | UnsetType = UNSET
    position: Position | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET


@operation(
    "update_column", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /columns/{column_id}",
    example={"column_id": "col_5d8x1v6b2g7h", "position": 0},
)  # fmt: skip
def update_column(tx: Write, actor: Actor, args: UpdateColumn) -> Column:
    """Rename or move a column, or change its kind. Requires the role admin.

    The tickets of a column that becomes `done` are resolved, those of one that was `done` are reopened.
    """
    if args.name is UNSET and args.position is UNSET and args.kind is UNSET:
        raise InvalidRequest("nothing to change: send name, position or kind")
    row = find_writable(tx, actor, "column", args.column_id, Role.ADMIN)
    name = None if args.name is UNSET else args.name.strip()
    position = None if args.position is UNSET else args.position
    kind = None if args.kind is UNSET else args.kind
    before = columns.load_kind(tx, row.key)
    columns.update_column(tx, row.key, row.project, name=name, kind=kind, position=position)
    column = columns.load_column(tx, row.key)
    record_company_event(
        tx, actor, "column.changed", row.company, row.project,
        column_id=column.id, name=column.name, position=column.position, kind=column.kind,
    )  # fmt: skip
    if (before is ColumnKind.DONE) != (column.kind is ColumnKind.DONE):
        _resolve_tickets(tx, actor, row, resolved=column.kind is ColumnKind.DONE)
    return column


def _resolve_tickets(tx: Write, actor: Actor, column: VisibleRow, *, resolved: bool) -> None:
    """Resolve or reopen all tickets of a column, archived ones too."""
    byline = bylines.ensure_byline(tx, actor)
    changes = {"resolved": {"from": not resolved, "to": resolved}}
    for key in tickets.resolve_column(tx, column.key, resolved=resolved):
        tickets.mark_updated(tx, key, byline)
        at = VisibleRow(key, column.project, column.company, column.role, within=True)
        record_ticket_event(tx, actor, at, "ticket.updated", fields=["resolved"], changes=changes)


class DeleteColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`move_to` is required for a column that has tickets."""

    column_id: ColumnId
    move_to: (
        Annotated[ColumnId, Meta(description="The column of the same project that the tickets are moved to.")] | None
    ) = None


@operation(
    "delete_column", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /columns/{column_id}", refuses=(Conflict,)
)
def delete_column(tx: Write, actor: Actor, args: DeleteColumn) -> None:
    """Delete a column. Requires the role admin. A board must have at least one column."""
    row = find_writable(tx, actor, "column", args.column_id, Role.ADMIN)
    if len(columns.list_columns(tx, row.project)) == 1:
        raise Conflict("a board must have at least one column")
    keys = columns.list_active_tickets(tx, row.key)
    if keys and args.move_to is None:
        raise Conflict(f"the column has {len(keys)} tickets; send move_to, the column to move them to")
    if args.move_to is not None:
        _move_tickets(tx, actor, row, keys, args.move_to)
    column_id = columns.load_column_id(tx, row.key)
    columns.delete_column(tx, row.key, row.project)
    record_company_event(tx, actor, "column.removed", row.company, row.project, column_id=column_id)


def _move_tickets(tx: Write, actor: Actor, column: VisibleRow, keys: list[int], move_to: str) -> None:
    target_id = resolve_column_id(tx, actor, move_to, column.project, "move_to")
    target = find_writable(tx, actor, "column", target_id, Role.ADMIN)
    if target.project != column.project or target.key == column.key:
        raise InvalidField("move_to", "must be another column of the same project")
    byline = bylines.ensure_byline(tx, actor)
    for key in keys:
        tickets.mark_updated(tx, key, byline)
        place_ticket(tx, actor, tickets.load_state(tx, key), target, positions.find_end_position(tx, target.key))
