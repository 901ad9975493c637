"""Links between tickets: their kinds, and how each reads from the other ticket (docs/use/tickets.md, "Links")."""

from enum import StrEnum

import msgspec


class LinkKind(StrEnum):
    """What a ticket is to another: it blocks or duplicates it, relates to it, or has it as its parent."""

    BLOCKS = "blocks"
    DUPLICATES = "duplicates"
    RELATES = "relates"
    PARENT = "parent"


class LinkRole(StrEnum):
    """A link as one of its tickets shows it."""

    PARENT = "parent"
    CHILD = "child"
    BLOCKED_BY = "blocked_by"
    BLOCKS = "blocks"
    DUPLICATES = "duplicates"
    DUPLICATED_BY = "duplicated_by"
    RELATES = "relates"


INVERSE = {
    LinkKind.BLOCKS: LinkRole.BLOCKED_BY,
    LinkKind.DUPLICATES: LinkRole.DUPLICATED_BY,
    LinkKind.RELATES: LinkRole.RELATES,
    LinkKind.PARENT: LinkRole.CHILD,
}
_ROLES = {
    **{inverse: (kind, True) for kind, inverse in INVERSE.items()},
    **{LinkRole(kind.value): (kind, False) for kind in LinkKind},
}


def read_role(role: LinkRole) -> tuple[LinkKind, bool]:
    """Return the kind of a link, and whether the role is that of its other ticket."""
    return _ROLES[role]


class LinkedTicket(msgspec.Struct, frozen=True):
    """The other ticket of a link."""

    id: str
    key: str
    title: str
    status: str
    resolved: bool
    url: str


class TicketLink(msgspec.Struct, frozen=True):
    """A link of a ticket: what the ticket is to the other one."""

    kind: LinkRole
    ticket: LinkedTicket
