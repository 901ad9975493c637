"""Scopes and roles: what a credential and its owner may do (docs/use/tokens.md, the scope matrix)."""

from enum import Enum, IntEnum, StrEnum


class Scope(StrEnum):
    """A permission of a token."""

    READ = "read"
    COMMENTS = "comments"
    TICKETS_WRITE = "tickets:write"
    TICKETS_ASSIGN = "tickets:assign"

    @property
    def included_scopes(self) -> frozenset["Scope"]:
        """This scope and all that it includes."""
        return _INCLUDED_SCOPES[self]

    @property
    def description(self) -> tuple[str, str]:
        """What it grants, and what it does not."""
        return _DESCRIPTIONS[self]


_INCLUDED_SCOPES = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.COMMENTS: frozenset({Scope.READ, Scope.COMMENTS}),
    Scope.TICKETS_WRITE: frozenset({Scope.READ, Scope.COMMENTS, Scope.TICKETS_WRITE}),
    Scope.TICKETS_ASSIGN: frozenset({Scope.READ, Scope.TICKETS_ASSIGN}),
}
_DESCRIPTIONS = {
    Scope.READ: (
        "Read companies, projects, columns, tickets, comments, members, captures, annotations, and search.",
        "Writes of any kind.",
    ),
    Scope.COMMENTS: (
        "Post comments on tickets. Includes read.",
        "Ticket edits, assignments, archiving.",
    ),
    Scope.TICKETS_WRITE: (
        "Create, update, archive, restore and move tickets, and record the worked-on git branch. "
        "Includes read and comments.",
        "Assignment changes.",
    ),
    Scope.TICKETS_ASSIGN: (
        "Assign and unassign people on tickets, singly or in bulk. Includes read.",
        "Ticket edits, comments.",
    ),
}

ALL_SCOPES = frozenset(Scope)


class Access(Enum):
    """Who may call an operation that requires no scope."""

    ANY = "any valid credential"
    SESSION = "a signed-in web session"
    PUBLIC = "anybody"
    OPERATOR = "the shell of the machine"


class Role(IntEnum):
    """A member's role in a company; each role includes the lower ones."""

    VIEWER = 0
    MEMBER = 1
    ADMIN = 2
    OWNER = 3

    @property
    def label(self) -> str:
        """The name that the API shows."""
        return self.name.lower()


class RoleName(StrEnum):
    """A role as input and output spell it."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"

    @property
    def role(self) -> Role:
        """The role with this name."""
        return Role[self.name]


def expand_scopes(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Expand a set of scopes to all that they include."""
    return frozenset(each for scope in scopes for each in scope.included_scopes)
