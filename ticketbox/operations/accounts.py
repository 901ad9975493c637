"""Setting a file up, and what the machine's own shell can do with accounts and tokens."""

import msgspec

from ticketbox.domain import passwords, secrets
from ticketbox.domain.account_records import Token, User
from ticketbox.domain.limits import Budget
from ticketbox.domain.policy import Actor, Kind, Via
from ticketbox.domain.problems import Conflict, NotFound
from ticketbox.domain.records import Bodies, CapturePolicy, Column, Company, Project
from ticketbox.domain.scopes import Access, RoleName
from ticketbox.operations.companies import founded
from ticketbox.operations.grants import ended
from ticketbox.operations.inputs import Email, Name, Password, Secret
from ticketbox.operations.lookups import Id
from ticketbox.operations.projects import started as started_project
from ticketbox.operations.recording import company_event
from ticketbox.operations.registry import operation
from ticketbox.operations.services import Call, Services
from ticketbox.operations.sessions import SignedIn, WithSession, started
from ticketbox.operations.tokens import NEWEST, CreatedToken, TokenInput, made, revoked
from ticketbox.store import bylines, columns, companies, credentials, members, projects, users
from ticketbox.store.database import Read, Write
from ticketbox.store.users import Account


class Hashed(msgspec.Struct, frozen=True):
    """A password's hash, made outside the transaction."""

    password_hash: str
    address: str
    user_agent: str


class SetUp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The owner's account, the first company and the first project."""

    email: Email
    name: Name
    password: Password
    company: Name
    project: Name


class FirstRecords(msgspec.Struct, frozen=True):
    """What a set-up made."""

    user_id: str
    company_id: str
    project_id: str
    columns: list["ColumnName"]


class ColumnName(msgspec.Struct, frozen=True):
    """A column of the first project."""

    id: str
    name: str


async def hash_owners(services: Services, actor: Actor, args: SetUp, call: Call) -> Hashed:
    """Hash the owner's password."""
    return Hashed(await services.work(passwords.hash_password, args.password), call.address, call.user_agent)


@operation("initialize", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_owners)
def initialize(tx: Write, actor: Actor, args: SetUp, hashed: Hashed) -> FirstRecords:
    """Set a new file up from the shell. Raises Conflict for one that is set up."""
    return _set_up(tx, args, hashed, Via.CLI)[1]


class SetUpWithKey(SetUp, forbid_unknown_fields=True, frozen=True):
    """The same, with the secret of the one-time set-up address."""

    secret: Secret


async def hash_if_key_holds(services: Services, actor: Actor, args: SetUpWithKey, call: Call) -> Hashed:
    """Hash the owner's password, for a set-up address that holds. Raises RateLimited and NotFound."""
    services.limit(call.address, "set-up", 20, "too many attempts to set up")
    await services.read(lambda tx: _check_key(tx, args.secret))
    return await hash_owners(services, actor, args, call)


@operation("set_up", scope=Access.PUBLIC, budget=Budget.NONE, prepare=hash_if_key_holds)
def set_up(tx: Write, actor: Actor, args: SetUpWithKey, hashed: Hashed) -> WithSession[SignedIn]:
    """Set a new file up through the one-time address that `ticketbox serve` printed, and sign in."""
    _check_key(tx, args.secret)
    account, _ = _set_up(tx, args, hashed, Via.WEB)
    users.drop_setup_key(tx)
    return started(tx, account, hashed.address, hashed.user_agent)


def _check_key(tx: Read, secret: str) -> None:
    if users.any_exist(tx) or not users.setup_key_holds(tx, secrets.digest(secret)):
        raise NotFound("set-up address")


def _set_up(tx: Write, args: SetUp, hashed: Hashed, via: Via) -> tuple[Account, FirstRecords]:
    if users.any_exist(tx):
        raise Conflict("this file is set up already")
    account = users.add(tx, args.email.strip().lower(), args.name.strip(), hashed.password_hash)
    company: Company = founded(tx, credentials.as_user(tx, account.key, via), args.company.strip())
    owner = credentials.as_user(tx, account.key, via)
    (key,) = [membership.company for membership in owner.memberships]
    project: Project = started_project(tx, owner, key, args.project.strip(), [], CapturePolicy(Bodies.OFF, []))
    project_key = projects.key_in(tx, project.id, key)
    assert project_key is not None
    made: list[Column] = [column for _, column in columns.of_project(tx, project_key)]
    names = [ColumnName(column.id, column.name) for column in made]
    return account, FirstRecords(account.user.id, company.id, project.id, names)


class SetUpState(msgspec.Struct, frozen=True):
    """Whether the file has an owner."""

    done: bool


class Nothing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """No input."""


@operation("get_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def get_set_up(tx: Read, actor: Actor, args: Nothing) -> SetUpState:
    """Whether the file is set up."""
    return SetUpState(users.any_exist(tx))


class CheckSetUp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The secret of a set-up address."""

    secret: str


@operation("check_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def check_set_up(tx: Read, actor: Actor, args: CheckSetUp) -> SetUpState:
    """Whether a set-up address still holds (`done`: it does)."""
    return SetUpState(users.setup_key_holds(tx, secrets.digest(args.secret)))


class SetUpAddress(msgspec.Struct, frozen=True):
    """The secret of a fresh one-time set-up address."""

    secret: str


SETUP_MINUTES = 30


@operation("open_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def open_set_up(tx: Write, actor: Actor, args: Nothing) -> SetUpAddress:
    """Make the one-time set-up address of a new file, valid for 30 minutes; an earlier one ends."""
    secret = secrets.new_secret()
    users.set_setup_key(tx, secrets.digest(secret), tx.now + SETUP_MINUTES * 60_000)
    return SetUpAddress(secret)


class AddUser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A new account; with a company it is a member there at once."""

    email: Email
    name: Name
    password: Password
    company_id: Id | None = None
    role: RoleName = RoleName.MEMBER


async def hash_users(services: Services, actor: Actor, args: "AddUser | SetPassword", call: Call) -> Hashed:
    """Hash an account's password."""
    return Hashed(await services.work(passwords.hash_password, args.password), "", "")


@operation("add_user", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_users)
def add_user(tx: Write, actor: Actor, args: AddUser, hashed: Hashed) -> User:
    """Make an account from the shell."""
    email = args.email.strip().lower()
    if users.by_email(tx, email) is not None:
        raise Conflict(f"there is an account with the address {email}")
    account = users.add(tx, email, args.name.strip(), hashed.password_hash)
    if args.company_id is not None:
        company = companies.key_of(tx, args.company_id)
        if company is None:
            raise NotFound("company")
        new = credentials.as_user(tx, account.key, Via.CLI)
        members.add(tx, company, account.key, args.role.role, None, bylines.of(tx, new))
        company_event(tx, new, "member.joined", company, user_id=account.user.id, role=args.role)
    return account.user


class ListedUser(User, frozen=True):
    """An account and whether it is disabled."""

    disabled: bool


class Users(msgspec.Struct, frozen=True):
    """All accounts of the file."""

    items: list[ListedUser]


@operation("list_users", scope=Access.OPERATOR, budget=Budget.NONE)
def list_users(tx: Read, actor: Actor, args: Nothing) -> Users:
    """List all accounts, oldest first."""
    return Users([
        ListedUser(**msgspec.structs.asdict(account.user), disabled=account.disabled)
        for account in users.everyone(tx)
    ])  # fmt: skip


class SetPassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account by its id or e-mail address, and its new password."""

    user: str
    password: Password


@operation("set_password", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_users)
def set_password(tx: Write, actor: Actor, args: SetPassword, hashed: Hashed) -> User:
    """Give an account a new password; its sessions end."""
    account = _account(tx, args.user)
    users.set_password(tx, account.key, hashed.password_hash)
    credentials.revoke_sessions(tx, account.key)
    return account.user


class DisableUser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account by its id or e-mail address."""

    user: str
    enable: bool = False


@operation("disable_user", scope=Access.OPERATOR, budget=Budget.NONE)
def disable_user(tx: Write, actor: Actor, args: DisableUser) -> User:
    """Disable an account: its sessions end and its tokens stop, until it is enabled again."""
    account = _account(tx, args.user)
    users.set_disabled(tx, account.key, not args.enable)
    if not args.enable:
        credentials.revoke_sessions(tx, account.key)
    return account.user


class IssueToken(TokenInput, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A token for an account, by its id or e-mail address."""

    user: str


@operation("issue_token", scope=Access.OPERATOR, budget=Budget.NONE)
def issue_token(tx: Write, actor: Actor, args: IssueToken) -> CreatedToken:
    """Make an API token for an account, within what its owner may do."""
    return made(tx, _as_user(tx, args.user), args)


class UserTokens(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account by its id or e-mail address; left out: all accounts."""

    user: str | None = None


class OwnedToken(Token, frozen=True):
    """A token and whose it is."""

    user: User


class Tokens(msgspec.Struct, frozen=True):
    """Tokens that aren't revoked."""

    items: list[OwnedToken]


@operation("list_issued_tokens", scope=Access.OPERATOR, budget=Budget.NONE)
def list_issued_tokens(tx: Read, actor: Actor, args: UserTokens) -> Tokens:
    """List the tokens of an account, or of all."""
    owners = users.everyone(tx) if args.user is None else [_account(tx, args.user)]
    return Tokens([
        OwnedToken(**msgspec.structs.asdict(token), user=owner.user)
        for owner in owners
        for _, token in credentials.tokens(tx, owner.key, NEWEST, 10_000)
    ])  # fmt: skip


class RevokeIssued(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Any account's token, by its public id."""

    token_id: str


@operation("revoke_issued_token", scope=Access.OPERATOR, budget=Budget.NONE)
def revoke_issued_token(tx: Write, actor: Actor, args: RevokeIssued) -> None:
    """Revoke any account's token, or what it granted to an app."""
    found = credentials.find(tx, args.token_id)
    if found is None or found[2] is Kind.SESSION:
        raise NotFound("token")
    owner = credentials.as_user(tx, found[1], Via.CLI)
    if found[2] is Kind.OAUTH:
        ended(tx, owner, args.token_id)
    else:
        revoked(tx, owner, args.token_id)


def _account(tx: Read, text: str) -> Account:
    account = users.by_id(tx, text) or users.by_email(tx, text.strip().lower())
    if account is None:
        raise NotFound("user")
    return account


def _as_user(tx: Read, text: str) -> Actor:
    return credentials.as_user(tx, _account(tx, text).key, Via.CLI)
