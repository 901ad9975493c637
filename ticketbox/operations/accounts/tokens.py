"""API tokens. Their secret is shown once, and they can't be changed (docs/use/tokens.md)."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import secrets
from ticketbox.domain.accounts.records import Token
from ticketbox.domain.accounts.security_events import SecurityAction
from ticketbox.domain.core.access.policy import Actor, Kind, require_confirmation, require_role
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.clock import DAY
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, InvalidField, NotFound
from ticketbox.operations.accounts.confirmation import (
    CONFIRMATION_PROBLEMS,
    ConfirmationCode,
    CurrentPassword,
    check_confirmation,
)
from ticketbox.operations.accounts.security_events import record_security_event
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import Id, TokenId
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.accounts import credentials
from ticketbox.store.accounts.credentials import NewCredential
from ticketbox.store.core.visibility import find_visible_row
from ticketbox.store.file.database import Read, Write


class ListTokens(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which of the caller's active tokens to return."""

    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_tokens", scope=Access.SESSION, budget=Budget.READ, rest="GET /tokens")
def list_tokens(tx: Read, actor: Actor, args: ListTokens) -> Page[Token]:
    """List the caller's API tokens, newest first."""
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, credentials.list_tokens(tx, actor.user, before, args.limit + 1))


Scopes = Annotated[
    list[Scope],
    Meta(
        min_length=1,
        max_length=4,
        description="What the token can do; see the scope matrix in docs/use/tokens.md.",
    ),
]


class TokenInput(msgspec.Struct, frozen=True):
    """The settings of a new token. They can't be changed later."""

    label: Annotated[Name, Meta(description="A name to recognize the token by.")]
    scopes: Scopes
    company_id: Annotated[Id, Meta(description="Restricts it to one company.")] | None = None
    project_ids: (
        Annotated[
            list[Id],
            Meta(min_length=1, max_length=100, description="Restricts it to projects of one company."),
        ]
        | None
    ) = None
    expires_days: Annotated[int, Meta(ge=1, le=3650, description="Days until it expires; never by default.")] | None = (
        None
    )


class CreateToken(TokenInput, forbid_unknown_fields=True, frozen=True):
    """The settings of a new token. They can't be changed later."""

    current_password: CurrentPassword | None = None
    code: ConfirmationCode | None = None


class CreatedToken(Token, frozen=True):
    """The new token. `secret` is shown only in this response."""

    secret: str


@operation(
    "create_token", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /tokens",
    refuses=(NotFound, *CONFIRMATION_PROBLEMS), creates=True, prepare=check_confirmation,
    example={"label": "my agent", "scopes": ["tickets:write"], "expires_days": 90},
)  # fmt: skip
def create_token(tx: Write, actor: Actor, args: CreateToken, confirmed: bool) -> CreatedToken:
    """Create an API token. Its secret is shown only in this response.

    Requires the password, in this session or in this call.
    """
    require_confirmation(confirmed)
    return create_api_token(tx, actor, args)


def create_api_token(tx: Write, actor: Actor, args: TokenInput) -> CreatedToken:
    """Insert a token of the actor's that can do no more than the actor.

    Raises NotFound for a company or project that the actor can't see, Forbidden for a viewer, and
    InvalidRequest for projects of several companies.
    """
    if len(set(args.scopes)) < len(args.scopes):
        raise InvalidField("scopes", "duplicate scope in the list")
    company, projects = resolve_restriction(tx, actor, args.company_id, args.project_ids)
    secret = secrets.generate_secret()
    key, public_id = credentials.insert_credential(
        tx,
        NewCredential(
            kind=Kind.API,
            user=actor.user,
            label=args.label.strip(),
            secret_hash=secrets.hash_secret(secret),
            shown=secret[: secrets.VISIBLE_LENGTH],
            scopes=tuple(args.scopes),
            company=company,
            projects=projects,
            expires_at=None if args.expires_days is None else tx.now + args.expires_days * DAY,
        ),
    )
    (_, token), *_ = credentials.list_tokens(tx, actor.user, NEWEST, 1, public_id)
    data: dict[str, Any] = {
        "token_id": token.id,
        "label": token.label,
        "scopes": token.scopes,
        "user_id": actor.user_id,
    }
    record_token_event(tx, actor, "token.created", key, company, data)
    return CreatedToken(**msgspec.structs.asdict(token), secret=secret)


def resolve_restriction(
    tx: Read, actor: Actor, company_id: str | None, project_ids: list[str] | None
) -> tuple[int | None, tuple[int, ...] | None]:
    """Return the keys of the company and of the projects that a new credential of the actor's is restricted to.

    Raises NotFound, Forbidden for a viewer, and InvalidRequest for projects of several companies.
    """
    projects = None if project_ids is None else _find_projects(tx, actor, project_ids)
    return _find_company(actor, company_id, projects), None if projects is None else tuple(projects)


def _find_projects(tx: Read, actor: Actor, project_ids: list[str]) -> dict[int, int]:
    """Return the keys of projects, each with its company's key. Raises NotFound and InvalidRequest."""
    rows = {project_id: find_visible_row(tx, actor.viewer, "project", project_id) for project_id in project_ids}
    if len(rows) < len(project_ids):
        raise InvalidField("project_ids", "duplicate project in the list")
    keys: dict[int, int] = {}
    for project in rows.values():
        if project is None:
            raise NotFound("project")
        keys[project.key] = project.company
    return keys


def _find_company(actor: Actor, company_id: str | None, projects: dict[int, int] | None) -> int | None:
    """Return the key of the company to restrict to. Projects without a company restrict to their company."""
    if company_id is None and projects is None:
        if all(membership.role < Role.MEMBER for membership in actor.memberships):
            raise Forbidden("creating tokens requires the role member in a company")
        return None
    owners = set((projects or {}).values())
    if company_id is not None:
        membership = next((m for m in actor.memberships if m.company_id == company_id), None)
        if membership is None:
            raise NotFound("company")
        owners.add(membership.company)
    if len(owners) > 1:
        raise InvalidField("project_ids", "all projects must belong to the same company")
    (company,) = owners
    membership = actor.find_membership(company)
    if membership is None:
        raise NotFound("company")
    require_role(membership.role, Role.MEMBER)
    return company


class RevokeToken(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's tokens."""

    token_id: TokenId


@operation("revoke_token", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /tokens/{token_id}")
def revoke_token(tx: Write, actor: Actor, args: RevokeToken) -> None:
    """Revoke a token. The next request that uses it is refused."""
    revoke_api_token(tx, actor, args.token_id)


def revoke_api_token(tx: Write, actor: Actor, token_id: str) -> None:
    """Revoke one of the actor's tokens. Raises NotFound."""
    revoked = credentials.revoke_credential(tx, actor.user, token_id, Kind.API)
    if revoked is None:
        raise NotFound("token")
    key, label, company = revoked
    data = {"token_id": token_id, "label": label, "user_id": actor.user_id}
    record_token_event(tx, actor, "token.revoked", key, company, data)


def record_token_event(
    tx: Write, actor: Actor, type_: str, credential: int, company: int | None, data: dict[str, Any]
) -> None:
    """Record the event for the account, and in the audit log of every company that the token can access."""
    action = SecurityAction.TOKEN_CREATE if type_ == "token.created" else SecurityAction.TOKEN_REVOKE
    record_security_event(tx, actor, action, **{name: data[name] for name in data if name != "user_id"})
    reached = [membership.company for membership in actor.memberships] if company is None else [company]
    for each in reached:
        record_company_event(tx, actor, type_, each, credential=credential, **data)
