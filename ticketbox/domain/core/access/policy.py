"""Authorization (docs/use/tokens.md). Effective permissions = scopes ∩ role ∩ restriction."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.fairness.limits import DEFAULT_READS, DEFAULT_WRITES, SESSION_FACTOR, Budget
from ticketbox.domain.core.problems import Forbidden, InsufficientScope, PasswordRequired, Unauthorized


class Via(StrEnum):
    """The channel of a write, shown with everything that was written."""

    WEB = "web"
    REST = "rest"
    MCP = "mcp"
    EXTENSION = "extension"
    CLI = "cli"


class Kind(StrEnum):
    """What kind of credential it is."""

    API = "api"
    OAUTH = "oauth"
    SESSION = "session"


class Membership(msgspec.Struct, frozen=True, array_like=True):
    """An actor's membership of a company, with the company's limits (None: the defaults).

    Without `all_projects`, the member is restricted to some projects.
    """

    company: int
    company_id: str
    company_name: str
    role: Role
    reads_per_minute: int | None
    writes_per_minute: int | None
    all_projects: bool


class Actor(msgspec.Struct, frozen=True):
    """The caller, resolved from the credential in the same transaction as the operation.

    `user` and `credential` are internal keys (0: nobody, as for a public operation); `company` restricts the
    credential to one company, `restricted` to some of its projects as well. `confirmed` says that the password was
    entered in this session a short time ago. `used_at` is when the credential was last used, as far as it is stored.
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
    confirmed: bool = False
    used_at: int = 0
    lacks_factor: bool = False

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
    def fair_share(self) -> tuple[int, int]:
        """Whose turn it is in a queue: the company, the oldest if there are several, and the credential."""
        return min([m.company for m in self.permitted_memberships], default=0), self.credential

    @property
    def is_agent(self) -> bool:
        """Whether a token calls: an agent or a script, not a person in the web app."""
        return self.kind in {Kind.API, Kind.OAUTH}

    @property
    def permitted_memberships(self) -> tuple[Membership, ...]:
        """The memberships that the credential's restriction includes."""
        if self.company is None:
            return self.memberships
        return tuple([m for m in self.memberships if m.company == self.company])  # faster than a generator

    def find_membership(self, company: int) -> Membership | None:
        """Find the owner's membership in a company, regardless of the credential's restriction."""
        return next((m for m in self.memberships if m.company == company), None)

    def get_rate_limit(self, budget: Budget, most: int) -> int:
        """Return the credential's limit of calls per minute.

        A token for one company has that company's limit; a token for all has the lowest limit of its companies; both
        have `most` calls at most. A web session has ten times the default.
        """
        reading = budget is Budget.READ
        default = DEFAULT_READS if reading else DEFAULT_WRITES
        if self.kind is Kind.SESSION:
            return default * SESSION_FACTOR
        figures = [m.reads_per_minute if reading else m.writes_per_minute for m in self.permitted_memberships]
        return min(most, min([default if figure is None else figure for figure in figures], default=default))


ANONYMOUS = Actor(0, "", "", "", 0, None, None, None, frozenset(), None, False, None, (), Via.WEB)


def require_access(actor: Actor, access: Scope | Access) -> None:
    """Refuse a caller who lacks the access that the operation declares.

    Raises Unauthorized without a credential, InsufficientScope for a missing scope, Forbidden if
    the operation requires a web session.
    """
    if access is Access.PUBLIC or access is Access.OPERATOR:
        return
    if actor.kind is None:
        raise Unauthorized("this requires a credential: send Authorization: Bearer and an API token")
    if access is Access.SESSION:
        if actor.kind is not Kind.SESSION:
            raise Forbidden("this requires a signed-in web session; an API token can't do it, whatever its scopes")
    elif access is not Access.ANY and access not in actor.scopes:
        raise InsufficientScope(access.value)


def require_confirmation(confirmed: bool) -> None:
    """Refuse what changes who can use the account or the company, unless the password was entered for it."""
    if not confirmed:
        raise PasswordRequired


def require_role(role: Role, least: Role) -> None:
    """Refuse a member whose role in the company is below `least`."""
    if role < least:
        raise Forbidden(f"this requires the role {least.label} in the company, and yours is {role.label}")


def require_company_role(membership: Membership, least: Role) -> None:
    """Refuse a member whose role is below `least`, or an admin of some projects who acts on the whole company.

    An owner isn't refused: a company must have somebody who can lift a restriction.
    """
    require_role(membership.role, least)
    if least >= Role.ADMIN and membership.role is not Role.OWNER and not membership.all_projects:
        raise Forbidden("this requires access to all projects of the company, and you are restricted to some")
