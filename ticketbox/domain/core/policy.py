"""Who may do what: the one rule (docs/use/tokens.md). Effective power = scopes ∩ role ∩ restriction."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.limits import DEFAULT_READS, DEFAULT_WRITES, SESSION_FACTOR, Budget
from ticketbox.domain.core.problems import Forbidden, InsufficientScope, Unauthorized
from ticketbox.domain.core.scopes import Access, Role, Scope


class Via(StrEnum):
    """The way a write came in, shown beside everything that was written."""

    WEB = "web"
    REST = "rest"
    MCP = "mcp"
    EXTENSION = "extension"
    CLI = "cli"


class Kind(StrEnum):
    """What carries a credential's secret."""

    API = "api"
    OAUTH = "oauth"
    SESSION = "session"


class Membership(msgspec.Struct, frozen=True, array_like=True):
    """An actor's place in one company, with the company's own limits (None: the defaults)."""

    company: int
    company_id: str
    company_name: str
    role: Role
    reads_per_minute: int | None
    writes_per_minute: int | None


class Actor(msgspec.Struct, frozen=True):
    """Who calls, resolved from the credential in the same transaction as the call itself.

    `user` and `credential` are internal keys (0: nobody, as for a public operation); `company` pins
    the credential to one company; `restricted` says that it is pinned to projects as well.
    """

    user: int
    user_id: str
    name: str
    email: str
    credential: int
    token_id: str | None
    token_label: str | None
    kind: Kind | None
    scopes: frozenset[Scope]
    company: int | None
    restricted: bool
    expires_at: int | None
    memberships: tuple[Membership, ...]
    via: Via

    @property
    def viewer(self) -> dict[str, int | None]:
        """The parameters of the store's visibility query."""
        return {
            "user": self.user,
            "credential": self.credential,
            "pinned": self.company,
            "restricted": self.restricted,
        }

    @property
    def within(self) -> tuple[Membership, ...]:
        """The memberships that the credential's restriction leaves."""
        return tuple(m for m in self.memberships if self.company is None or m.company == self.company)

    def membership(self, company: int) -> Membership | None:
        """The owner's membership in a company, whatever the credential's restriction."""
        return next((m for m in self.memberships if m.company == company), None)

    def per_minute(self, budget: Budget) -> int:
        """The calls a minute that this credential has.

        A company's figures hold for tokens pinned to it; an unpinned token gets the lowest of its
        companies' figures; a web session gets ten times the defaults.
        """
        reading = budget is Budget.READ
        default = DEFAULT_READS if reading else DEFAULT_WRITES
        if self.kind is Kind.SESSION:
            return default * SESSION_FACTOR
        figures = [m.reads_per_minute if reading else m.writes_per_minute for m in self.within]
        return min((default if figure is None else figure for figure in figures), default=default)


ANONYMOUS = Actor(0, "", "", "", 0, None, None, None, frozenset(), None, False, None, (), Via.WEB)


def require_access(actor: Actor, access: Scope | Access) -> None:
    """Refuse a caller who hasn't what the operation declares.

    Raises Unauthorized without a credential, InsufficientScope for a missing scope, Forbidden where
    only a web session will do.
    """
    if access is Access.PUBLIC or access is Access.OPERATOR:
        return
    if actor.kind is None:
        raise Unauthorized("this needs a credential: send Authorization: Bearer and an API token")
    if access is Access.SESSION:
        if actor.kind is not Kind.SESSION:
            raise Forbidden("this needs a signed-in web session; an API token can't do it, whatever its scopes")
    elif access is not Access.ANY and access not in actor.scopes:
        raise InsufficientScope(access.value)


def require_role(role: Role, least: Role) -> None:
    """Refuse a member whose role in the company is below `least`."""
    if role < least:
        raise Forbidden(f"this needs the role {least.label} in the company, and yours is {role.label}")
