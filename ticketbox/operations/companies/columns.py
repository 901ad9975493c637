"""Columns of a project's board."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.records import Column
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import Conflict, InvalidField, InvalidRequest
from ticketbox.domain.core.scopes import Access, Role, Scope
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import ColumnId, Id, Key, ProjectId, find_readable, find_writable
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import positions, tickets

MAX_COLUMNS = 50
Position = Annotated[int, Meta(ge=0, lt=MAX_COLUMNS, description="The column's place, counted from 0 at the left.")]


class ListColumns(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All columns are on one page, because a board has at most 50."""

    project_id: ProjectId


@operation(
    "list_columns",
    scope=Scope.READ,
    budget=Budget.READ,
    brief=True,
    rest="GET /projects/{project_id}/columns",
    tool=Tool(
        "List columns",
        "Use this to get the ids of columns before you move tickets.",
        {"project_id": "proj_9w4k2m7x0c3n"},
    ),
)
def list_columns(tx: Read, actor: Actor, args: ListColumns) -> Page[Column]:
    """List a project's columns from left to right."""
    row = find_readable(tx, actor, "project", args.project_id)
    return Page([column for _, column in columns.list_columns(tx, row.project)], None)


class CreateColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """By default, the column is added at the right end."""

    project_id: ProjectId
    name: Annotated[Name, Meta(description="The column's name.")]
    position: Position | None = None
    idempotency_key: Key | None = None


@operation(
    "create_column", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /projects/{project_id}/columns",
    refuses=(Conflict,), creates=True, example={"project_id": "proj_9w4k2m7x0c3n", "name": "Review", "position": 2},
)  # fmt: skip
def create_column(tx: Write, actor: Actor, args: CreateColumn) -> Column:
    """Add a column to a board. Requires the role admin."""
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    if len(columns.list_columns(tx, row.key)) >= MAX_COLUMNS:
        raise Conflict(f"a board has at most {MAX_COLUMNS} columns")
    column = columns.load_column(tx, columns.insert_column(tx, row.key, args.name.strip(), args.position))
    record_company_event(tx, actor, "column.created", row.company, row.project, column_id=column.id, name=column.name)
    return column


class UpdateColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    column_id: ColumnId
    name: Annotated[Name, Meta(description="The column's name.")] | UnsetType = UNSET
    position: Position | UnsetType = UNSET


@operation(
    "update_column", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /columns/{column_id}",
    example={"column_id": "col_5d8x1v6b2g7h", "position": 0},
)  # fmt: skip
def update_column(tx: Write, actor: Actor, args: UpdateColumn) -> Column:
    """Rename or move a column. Requires the role admin."""
    if args.name is UNSET and args.position is UNSET:
        raise InvalidRequest("nothing to change: send name or position")
    row = find_writable(tx, actor, "column", args.column_id, Role.ADMIN)
    name = None if args.name is UNSET else args.name.strip()
    position = None if args.position is UNSET else args.position
    columns.update_column(tx, row.key, row.project, name, position)
    column = columns.load_column(tx, row.key)
    record_company_event(
        tx, actor, "column.changed", row.company, row.project,
        column_id=column.id, name=column.name, position=column.position,
    )  # fmt: skip
    return column


class DeleteColumn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`move_to` is required for a column that has tickets."""

    column_id: ColumnId
    move_to: Annotated[Id, Meta(description="The column of the same project that the tickets are moved to.")] | None = (
        None
    )


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
    columns.delete_column(tx, row.key, row.project)
    record_company_event(tx, actor, "column.removed", row.company, row.project, column_id=args.column_id)


def _move_tickets(tx: Write, actor: Actor, column: VisibleRow, keys: list[int], move_to: str) -> None:
    target = find_writable(tx, actor, "column", move_to, Role.ADMIN)
    if target.project != column.project or target.key == column.key:
        raise InvalidField("move_to", "must be another column of the same project")
    byline = bylines.ensure_byline(tx, actor)
    origin = columns.load_column_id(tx, column.key)
    for key in keys:
        positions.place_ticket(tx, key, target.project, target.key, positions.find_end_position(tx, target.key))
        tickets.mark_updated(tx, key, byline)
        at = VisibleRow(key, target.project, target.company, target.role, within=True)
        data = {"from": {"column_id": origin}, "to": {"column_id": move_to}}
        record_ticket_event(tx, actor, at, "ticket.moved", **data)
