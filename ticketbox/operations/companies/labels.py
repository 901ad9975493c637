"""Labels of a company. Tickets have their names; a label that a ticket names is created with it."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies.labels import Label, LabelColor
from ticketbox.domain.core.access.policy import Actor, require_company_role
from ticketbox.domain.core.access.scopes import Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, InvalidField, InvalidRequest, NotFound
from ticketbox.operations.core.inputs import Label as LabelName
from ticketbox.operations.core.inputs import LabelDescription
from ticketbox.operations.core.lookups import CompanyId, Key, LabelId, find_membership, find_writable_company
from ticketbox.operations.core.names import resolve_label_id
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.companies import labels
from ticketbox.store.companies.labels import LabelRow
from ticketbox.store.file.database import Read, Write

Color = Annotated[LabelColor, Meta(description="The color of its dot.")]


class ListLabels(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Every member of the company sees all of its labels."""

    company_id: CompanyId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_labels",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /companies/{company_id}/labels",
    tool=Tool(
        "List labels",
        "Use this to choose labels that exist and to see what they are for.",
        {"company_id": "Example Ltd"},
        tool_set="triage",
    ),
)
def list_labels(tx: Read, actor: Actor, args: ListLabels) -> Page[Label]:
    """List a company's labels, in the order of their creation."""
    company = find_membership(actor, args.company_id).company
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, labels.list_labels(tx, company, after, args.limit + 1))


class CreateLabel(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without a color, the label gets one that its neighbors don't have."""

    company_id: CompanyId
    name: LabelName
    color: Color | None = None
    description: LabelDescription = ""
    idempotency_key: Key | None = None


@operation(
    "create_label",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /companies/{company_id}/labels",
    refuses=(Conflict,),
    creates=True,
    tool=Tool(
        "Create a label",
        "Use this to describe a label before tickets have it; create_ticket and update_ticket create labels too.",
        {"company_id": "Example Ltd", "name": "checkout", "color": "green"},
        tool_set="admin",
    ),
)
def create_label(tx: Write, actor: Actor, args: CreateLabel) -> Label:
    """Create a label in a company. Requires the role member."""
    membership = find_writable_company(actor, args.company_id)
    name = args.name.strip()
    _check_name(tx, membership.company, None, name)
    public_id = labels.insert_label(tx, membership.company, name, args.color, args.description.strip())
    label = _load_label(tx, public_id)
    record_company_event(
        tx, actor, "label.created", membership.company, label_id=label.id, name=label.name, color=label.color
    )
    return label


class UpdateLabel(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    label_id: LabelId
    name: LabelName | UnsetType = UNSET
    color: Color | UnsetType = UNSET
    description: LabelDescription | UnsetType = UNSET


@operation(
    "update_label",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PATCH /labels/{label_id}",
    refuses=(Conflict,),
    tool=Tool(
        "Update a label",
        "Use this to correct a label.",
        {"label_id": "chekout", "name": "checkout"},
        idempotent=True,
        tool_set="admin",
    ),
)
def update_label(tx: Write, actor: Actor, args: UpdateLabel) -> Label:
    """Rename a label on all tickets of the company, or change its color or description. Requires the role admin."""
    if args.name is UNSET and args.color is UNSET and args.description is UNSET:
        raise InvalidRequest("nothing to change: send name, color or description")
    row = _find_label(tx, actor, args.label_id)
    _require_admin(actor, row)
    name = UNSET if args.name is UNSET else args.name.strip()
    if name is not UNSET:
        _check_name(tx, row.company, row.id, name)
    description = UNSET if args.description is UNSET else args.description.strip()
    count = labels.update_label(tx, row, name=name, color=args.color, description=description)
    label = _load_label(tx, row.id)
    before = row.build_label()
    changes = {
        field: {"from": getattr(before, field), "to": getattr(label, field)}
        for field in ("name", "color", "description")
        if getattr(before, field) != getattr(label, field)
    }
    if changes:
        record_company_event(
            tx, actor, "label.changed", row.company,
            label_id=label.id, name=label.name, changes=changes, tickets=count,
        )  # fmt: skip
    return label


class MergeLabels(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The merged label no longer exists."""

    label_id: Annotated[LabelId, Meta(description="The id or name of the label that is replaced.")]
    into: Annotated[LabelId, Meta(description="The id or name of the label that replaces it, of the same company.")]


@operation(
    "merge_labels",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /labels/{label_id}/merge",
    tool=Tool(
        "Merge labels",
        "Use this when two labels mean the same.",
        {"label_id": "buy", "into": "checkout"},
        destructive=True,
        tool_set="admin",
    ),
)
def merge_labels(tx: Write, actor: Actor, args: MergeLabels) -> Label:
    """Replace a label by another one on all tickets of the company. Requires the role admin."""
    row = _find_label(tx, actor, args.label_id)
    into = _find_label(tx, actor, args.into, row.company, "into")
    _require_admin(actor, row, into)
    if into.company != row.company or into.key == row.key:
        raise InvalidField("into", "must be another label of the same company")
    count = labels.merge_label(tx, row, into)
    record_company_event(
        tx, actor, "label.merged", row.company,
        label_id=row.id, name=row.name, into={"label_id": into.id, "name": into.name}, tickets=count,
    )  # fmt: skip
    return into.build_label()


class DeleteLabel(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone. A ticket that names the label later creates it again."""

    label_id: LabelId


@operation(
    "delete_label",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /labels/{label_id}",
    tool=Tool(
        "Delete a label",
        "Use this for a label that no ticket should have.",
        {"label_id": "chekout"},
        destructive=True,
        tool_set="admin",
    ),
)
def delete_label(tx: Write, actor: Actor, args: DeleteLabel) -> None:
    """Delete a label, and remove it from all tickets of the company. Requires the role admin."""
    row = _find_label(tx, actor, args.label_id)
    _require_admin(actor, row)
    count = labels.delete_label(tx, row)
    record_company_event(tx, actor, "label.removed", row.company, label_id=row.id, name=row.name, tickets=count)


def _find_label(tx: Read, actor: Actor, text: str, company: int | None = None, field: str = "label_id") -> LabelRow:
    """Find a label of a company that the owner of the credential is in. Raises NotFound, InvalidRequest for a name."""
    row = labels.find_label(tx, resolve_label_id(tx, actor, text, company, field))
    if row is None or actor.find_membership(row.company) is None:
        raise NotFound("label")
    return row


def _require_admin(actor: Actor, *rows: LabelRow) -> None:
    """Refuse who can't change the tickets of all projects: a label belongs to the whole company."""
    for row in rows:
        membership = actor.find_membership(row.company)
        if actor.restricted or membership is None or membership not in actor.permitted_memberships:
            raise Forbidden("this token's restriction doesn't include all tickets with the label")
        require_company_role(membership, Role.ADMIN)


def _check_name(tx: Read, company: int, label: str | None, name: str) -> None:
    """Raise Conflict if another label of the company has a name."""
    known = labels.find_label_by_name(tx, company, name)
    if known is not None and known.id != label:
        raise Conflict(f"the company has a label {known.name!r}; to replace one by the other, merge them")


def _load_label(tx: Read, public_id: str) -> Label:
    row = labels.find_label(tx, public_id)
    assert row is not None
    return row.build_label()
