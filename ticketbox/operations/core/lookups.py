"""Finding a row to read or write, by the rules of docs/use/tokens.md, "Restrictions".

Reading a row that the caller can't see is a 404, whatever the reason. Writing to a row that the token's owner can see
but the token's restriction excludes is a 403; writing to one that the owner can't see is a 404.
"""

from typing import Annotated

from msgspec import Meta

from ticketbox.domain.core.ids import parse_ticket_id
from ticketbox.domain.core.policy import Actor, Membership, require_role
from ticketbox.domain.core.problems import Forbidden, NotFound
from ticketbox.domain.core.scopes import Role
from ticketbox.store.core.visibility import VisibleRow, find_visible_row
from ticketbox.store.file.database import Read

TicketId = Annotated[
    str,
    Meta(
        max_length=500,
        description="A ticket's id (`t-` and 6 to 12 letters or digits, in any case), or its URL in the web app.",
        examples=["t-4k7m2q9x"],
    ),
]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
CompanyId = Annotated[Id, Meta(description="A company's id.")]
ProjectId = Annotated[Id, Meta(description="A project's id.")]
ColumnId = Annotated[Id, Meta(description="A column's id.")]
CaptureId = Annotated[Id, Meta(description="A capture's id.")]
AssetId = Annotated[Id, Meta(description="A stored file's id: a screenshot or an attachment.")]
CommentId = Annotated[Id, Meta(description="A comment's id.")]
AppId = Annotated[Id, Meta(description="A connected app's id.")]
DeliveryId = Annotated[Id, Meta(description="A delivery's id.")]
InvitationId = Annotated[Id, Meta(description="An invitation's id.")]
NotificationId = Annotated[Id, Meta(description="A notification's id.")]
SessionId = Annotated[Id, Meta(description="A web session's id.")]
TokenId = Annotated[Id, Meta(description="An API token's id.")]
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
    """Find a row that the caller may read. Raises NotFound."""
    row = find_visible_row(tx, actor.viewer, noun, public_id)
    if row is None or not row.within:
        raise NotFound(noun)
    return row


def find_writable(tx: Read, actor: Actor, noun: str, public_id: str, least: Role = Role.MEMBER) -> VisibleRow:
    """Find a row that the caller may write. Raises NotFound or Forbidden."""
    row = find_visible_row(tx, actor.viewer, noun, public_id)
    if row is None:
        raise NotFound(noun)
    if not row.within:
        raise Forbidden(f"this token's restriction doesn't include the {noun}")
    require_role(row.role, least)
    return row


def find_readable_ticket(tx: Read, actor: Actor, text: str) -> VisibleRow:
    """Find a ticket of any status that the caller may read. Raises NotFound."""
    return find_readable(tx, actor, "ticket", parse_ticket_id(text) or "")


def find_membership(actor: Actor, public_id: str, least: Role = Role.VIEWER) -> Membership:
    """Find the caller's membership in a company. Raises NotFound, or Forbidden if the role is below `least`."""
    for membership in actor.permitted_memberships:
        if membership.company_id == public_id:
            require_role(membership.role, least)
            return membership
    raise NotFound("company")
