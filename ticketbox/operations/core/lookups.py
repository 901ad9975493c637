"""Finding a row to read or write, by the rules of docs/use/tokens.md, "Restrictions".

Reading a row that the caller can't see is a 404, whatever the reason. Writing to a row that the token's owner can see
but the token's restriction excludes is a 403; writing to one that the owner can't see is a 404.
"""

import re
from typing import Annotated

from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor, Membership, require_company_role, require_role
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.ids import TicketKey, is_foreign_address, parse_ticket_reference
from ticketbox.domain.core.problems import FieldError, Forbidden, InvalidField, InvalidRequest, NotFound
from ticketbox.operations.core.names import resolve_column_id, resolve_company_id, resolve_project_id
from ticketbox.store.core.visibility import VisibleRow, find_visible_row
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import ticket_keys
from ticketbox.store.tickets.ticket_keys import Candidate

TicketId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="A ticket's id (`t-4k7m2q9x`), key (`WEB-42`) or URL in the web app.",
        examples=["t-4k7m2q9x", "WEB-42"],
    ),
]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
Reference = Annotated[str, Meta(min_length=1, max_length=254)]  # an id, or a name
CompanyId = Annotated[Reference, Meta(description="A company's id or name.")]
ProjectId = Annotated[Reference, Meta(description="A project's id, name or key.")]
ColumnId = Annotated[Reference, Meta(description="A column's id or name.")]
UserId = Annotated[
    Reference,
    Meta(
        description="A member's id, email address or name, or `me`.", examples=["usr_3f6h9k2m5p8r", "ann@example.org"]
    ),
]
CaptureId = Annotated[Id, Meta(description="A capture's id.")]
AssetId = Annotated[Id, Meta(description="A stored file's id: a screenshot or an attachment.")]
SourceMapId = Annotated[Id, Meta(description="A source map's id.")]
CriterionId = Annotated[Id, Meta(description="A criterion's id.")]
VerificationId = Annotated[Id, Meta(description="A verification's id.")]
ExpectationId = Annotated[Id, Meta(description="An expectation's id.")]
CommentId = Annotated[Id, Meta(description="A comment's id.")]
AppId = Annotated[Id, Meta(description="A connected app's id.")]
LabelId = Annotated[Reference, Meta(description="A label's id or name.")]
DeliveryId = Annotated[Id, Meta(description="A delivery's id.")]
InvitationId = Annotated[Id, Meta(description="An invitation's id.")]
NotificationId = Annotated[Id, Meta(description="A notification's id.")]
PasskeyId = Annotated[Id, Meta(description="A passkey's id.")]
QuestionId = Annotated[Id, Meta(description="The id of a question of a work session.")]
WorkSessionId = Annotated[Id, Meta(description="A work session's id.")]
SessionId = Annotated[Id, Meta(description="A web session's id.")]
TokenId = Annotated[Id, Meta(description="An API token's id.")]
GitHookId = Annotated[Id, Meta(description="A git hook's id.")]
ReportKeyId = Annotated[Id, Meta(description="A report key's id.")]
ViewId = Annotated[Id, Meta(description="A saved view's id.")]
WebhookId = Annotated[Id, Meta(description="A webhook's id.")]
MemberId = Annotated[Id, Meta(description="A member's user id.")]
Version = Annotated[
    int,
    Meta(ge=1, le=2**53, description="Fail with version_conflict unless the ticket has this version."),
]
Key = Annotated[
    str,
    Meta(min_length=1, max_length=200, description="Repeating the key within 24 hours returns the first answer."),
]


def find_readable(tx: Read, actor: Actor, noun: str, public_id: str) -> VisibleRow:
    """Find a row that the caller may read: a project or column also by its name. Raises NotFound and InvalidRequest."""
    row = find_visible_row(tx, actor.viewer, noun, _resolve_name(tx, actor, noun, public_id))
    if row is None or not row.within:
        raise NotFound(noun)
    return row


def find_writable(tx: Read, actor: Actor, noun: str, public_id: str, least: Role = Role.MEMBER) -> VisibleRow:
    """Find a row that the caller may write: a project or column also by its name.

    Raises NotFound, Forbidden, and InvalidRequest for a name.
    """
    row = find_visible_row(tx, actor.viewer, noun, _resolve_name(tx, actor, noun, public_id))
    if row is None:
        raise NotFound(noun)
    if not row.within:
        raise Forbidden(f"this token's restriction doesn't include the {noun}")
    require_role(row.role, least)
    return row


def find_writable_column(
    tx: Read, actor: Actor, text: str, project: int | None = None, field: str = "column_id"
) -> VisibleRow:
    """Find a column that the caller may write, by its id or its name: in a project, if one is given.

    Raises NotFound, Forbidden, and InvalidRequest for a name, or a column of another project.
    """
    row = find_writable(tx, actor, "column", resolve_column_id(tx, actor, text, project, field))
    if project is not None and row.project != project:
        raise InvalidField(field, "the column belongs to another project")
    return row


def _resolve_name(tx: Read, actor: Actor, noun: str, text: str) -> str:
    match noun:
        case "project":
            return resolve_project_id(tx, actor, text)
        case "column":
            return resolve_column_id(tx, actor, text)
        case _:
            return text


def find_readable_ticket(tx: Read, actor: Actor, text: str) -> VisibleRow:
    """Find a ticket of any status that the caller may read. Raises NotFound."""
    return find_readable(tx, actor, "ticket", resolve_ticket_id(tx, actor, text))


def resolve_ticket_id(tx: Read, actor: Actor, text: str) -> str:
    """Return the id of the ticket that a text names by id, key or URL; "" if it names none that the owner can see.

    The caller of this function checks access, as for any id. Raises InvalidRequest for a key that several companies
    have, for the address of another server, and for a number without a key.
    """
    reference = parse_ticket_reference(text)
    if is_foreign_address(text, tx.public_url):
        raise InvalidField("ticket_id", f"this is the address of another server; this one is {tx.public_url}")
    if reference is None and re.fullmatch(r"#?[0-9]{1,9}", text.strip()):
        raise InvalidField(
            "ticket_id", f"a number needs the key of its project, such as WEB-{text.strip().lstrip('#')}"
        )
    if reference is None or isinstance(reference, str):
        return reference or ""
    candidates = list_ticket_candidates(tx, actor, reference)
    if len(candidates) > 1:
        detail = f"several of your companies have a ticket {reference.project}-{reference.number}; send its id"
        valid = [candidate.id for candidate in candidates]
        raise InvalidRequest(detail, FieldError("ticket_id", detail), valid=valid)
    return candidates[0].id if candidates else ""


def list_ticket_candidates(tx: Read, actor: Actor, key: TicketKey) -> list[Candidate]:
    """List the tickets with a key that the caller can access; without any, one that only the owner can see."""
    candidates = ticket_keys.find_by_key(tx, actor.viewer, key.project, key.number)
    return [candidate for candidate in candidates if candidate.within] or candidates[:1]


def find_writable_company(actor: Actor, text: str, least: Role = Role.MEMBER) -> Membership:
    """Find the caller's membership in a company to write to, by its id or name.

    Raises NotFound, InvalidRequest for a name, or Forbidden if the token's restriction doesn't include the company or
    the role is below `least`.
    """
    company_id = resolve_company_id(actor, text)
    excluded = set(actor.memberships) - set(actor.permitted_memberships)
    if any(each.company_id == company_id for each in excluded):
        raise Forbidden("this token's restriction doesn't include the company")
    return find_membership(actor, company_id, least)


def find_membership(actor: Actor, public_id: str, least: Role = Role.VIEWER) -> Membership:
    """Find the caller's membership in a company, by its id or name.

    Raises NotFound, InvalidRequest for a name, or Forbidden if the role is below `least`.
    """
    company_id = resolve_company_id(actor, public_id)
    for membership in actor.permitted_memberships:
        if membership.company_id == company_id:
            require_company_role(membership, least)
            return membership
    raise NotFound("company")
