"""The caller's own account, and what the credential at hand can do."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain import passwords
from ticketbox.domain.clock import rfc3339
from ticketbox.domain.limits import Budget
from ticketbox.domain.policy import Actor, Kind
from ticketbox.domain.problems import Conflict, Forbidden, InvalidRequest
from ticketbox.domain.records import RoleName, Time, User
from ticketbox.domain.scopes import Access
from ticketbox.operations.inputs import Email, Name, Password, Secret
from ticketbox.operations.meter import Meter
from ticketbox.operations.registry import Tool, operation
from ticketbox.operations.services import Call, Services
from ticketbox.operations.sessions import Nothing
from ticketbox.store import credentials, users
from ticketbox.store.database import Read, Write


class Allowance(msgspec.Struct, frozen=True):
    """A bucket: calls a minute, and calls left now."""

    limit: int
    remaining: int


class Budgets(msgspec.Struct, frozen=True):
    """The credential's two buckets."""

    reads: Allowance
    writes: Allowance


class MyToken(msgspec.Struct, frozen=True):
    """The credential at hand."""

    id: str
    label: str
    kind: Kind
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    expires_at: Time | None


class MyCompany(msgspec.Struct, frozen=True):
    """A company that the credential reaches, with its owner's role there."""

    id: str
    name: str
    role: RoleName


class Me(msgspec.Struct, frozen=True):
    """Who calls, with what, and how much of it is left."""

    user: User
    token: MyToken
    companies: list[MyCompany]
    budgets: Budgets


@operation(
    "get_me",
    scope=Access.ANY,
    budget=Budget.READ,
    brief=True,
    rest="GET /me",
    tool=Tool(
        "Who am I",
        "Use this to learn whose token you carry, what it may do, and how many calls are left.",
        {},
        name="whoami",
    ),
)
def get_me(tx: Read, actor: Actor, args: Nothing, meter: Meter) -> Me:
    """Say who the caller is, what the token may do, and what its budgets hold."""
    reads, writes = meter.levels()
    pinned, projects = credentials.restriction(tx, actor.credential)
    return Me(
        user=User(actor.user_id, actor.name, actor.email),
        token=MyToken(
            id=actor.token_id or "",
            label=actor.token_label or "web session",
            kind=actor.kind or Kind.SESSION,
            scopes=sorted(actor.scopes),
            company_id=pinned,
            project_ids=projects if actor.restricted else None,
            expires_at=None if actor.expires_at is None else rfc3339(actor.expires_at),
        ),
        companies=[MyCompany(m.company_id, m.company_name, RoleName(m.role.label)) for m in actor.within],
        budgets=Budgets(Allowance(reads.limit, reads.remaining), Allowance(writes.limit, writes.remaining)),
    )


@operation("get_profile", scope=Access.SESSION, budget=Budget.READ, rest="GET /profile")
def get_profile(tx: Read, actor: Actor, args: Nothing) -> User:
    """The caller's account."""
    return User(actor.user_id, actor.name, actor.email)


class UpdateProfile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is left out stays as it is."""

    name: Name | UnsetType = UNSET
    email: Email | UnsetType = UNSET


@operation(
    "update_profile",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="PATCH /profile",
    example={"name": "Ann B."},
)
def update_profile(tx: Write, actor: Actor, args: UpdateProfile) -> User:
    """Change the caller's name or e-mail address."""
    if args.name is UNSET and args.email is UNSET:
        raise InvalidRequest("nothing to change: give name or email")
    name = None if args.name is UNSET else args.name.strip()
    email = None if args.email is UNSET else args.email.strip().lower()
    if email is not None:
        holder = users.by_email(tx, email)
        if holder is not None and holder.key != actor.user:
            raise Conflict("another account has this e-mail address")
    users.rename(tx, actor.user, name, email)
    return User(actor.user_id, name or actor.name, email or actor.email)


class ChangePassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The present password is asked for, so that an unattended screen isn't enough."""

    current_password: Secret
    new_password: Annotated[Password, Meta(description="10 characters at least.")]


class NewPassword(msgspec.Struct, frozen=True):
    """A change whose hashing was done outside the transaction."""

    fits: bool
    password_hash: str


async def hash_new(services: Services, actor: Actor, args: ChangePassword, call: Call) -> NewPassword:
    """Check the present password and hash the new one, at a bounded rate."""
    services.limit(actor.user, "password", 10, "too many attempts to change the password")
    account = await services.read(lambda tx: users.by_key(tx, actor.user))
    stored = None if account is None else account.password_hash
    fits = await services.work(passwords.verify_password, stored, args.current_password)
    return NewPassword(fits, await services.work(passwords.hash_password, args.new_password) if fits else "")


@operation(
    "change_password", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/password", prepare=hash_new,
    example={"current_password": "correct horse battery", "new_password": "a better one, longer"},
)  # fmt: skip
def change_password(tx: Write, actor: Actor, args: ChangePassword, new: NewPassword) -> None:
    """Change the caller's password; every other session of the account ends."""
    if not new.fits:
        raise Forbidden("the present password is wrong")
    users.set_password(tx, actor.user, new.password_hash)
    credentials.revoke_sessions(tx, actor.user, but=actor.credential)
