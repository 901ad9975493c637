"""Set up a new file: create the owner's account, the first company and the first project."""

import msgspec

from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.companies.records import Column, Company, Project
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, NotFound
from ticketbox.operations.accounts.sessions import SignedIn, start_session
from ticketbox.operations.companies.companies import insert_company
from ticketbox.operations.companies.projects import NEW_POLICY, insert_project
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Name, Nothing, Password, Secret
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors, users
from ticketbox.store.accounts.users import Account
from ticketbox.store.companies import columns, projects
from ticketbox.store.file.database import Read, Write


class PreparedOwner(msgspec.Struct, frozen=True):
    """The hash of the owner's password, computed outside the transaction."""

    password_hash: str


class SetUp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The owner's account, the first company and the first project."""

    email: Email
    name: Name
    password: Password
    company: Name
    project: Name


class FirstRecords(msgspec.Struct, frozen=True):
    """The records that the set-up created."""

    user_id: str
    company_id: str
    project_id: str
    columns: list["ColumnName"]


class ColumnName(msgspec.Struct, frozen=True):
    """A column of the first project."""

    id: str
    name: str


async def hash_owner_password(services: Services, actor: Actor, args: SetUp, context: RequestContext) -> PreparedOwner:
    """Hash the owner's password."""
    return PreparedOwner(await services.passwords.run((context.network,), passwords.hash_password, args.password))


@operation("initialize", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_owner_password)
def initialize(tx: Write, actor: Actor, args: SetUp, hashed: PreparedOwner) -> FirstRecords:
    """Set up a new file from the command line. Raises Conflict if it is already set up."""
    return _create_first_records(tx, args, hashed, Via.CLI)[1]


class SetUpWithKey(SetUp, forbid_unknown_fields=True, frozen=True):
    """The same, and the secret of the one-time set-up address."""

    secret: Secret


async def check_key_and_hash_password(
    services: Services, actor: Actor, args: SetUpWithKey, context: RequestContext
) -> PreparedOwner:
    """Hash the owner's password if the set-up address is valid. Raises RateLimited and NotFound."""
    services.limit(context.network, "set-up", 20, "too many attempts to set up")
    await services.read(lambda tx: _require_valid_key(tx, args.secret), (0, context.network))
    return await hash_owner_password(services, actor, args, context)


@operation("set_up", scope=Access.PUBLIC, budget=Budget.NONE, prepare=check_key_and_hash_password)
def set_up(tx: Write, actor: Actor, args: SetUpWithKey, hashed: PreparedOwner) -> WithSession[SignedIn]:
    """Set up a new file with the one-time address that `ticketbox serve` printed, and sign in."""
    _require_valid_key(tx, args.secret)
    account, _ = _create_first_records(tx, args, hashed, Via.WEB)
    users.delete_setup_key(tx)
    return start_session(tx, account)


def _require_valid_key(tx: Read, secret: str) -> None:
    if users.has_accounts(tx) or not users.is_setup_key_valid(tx, secrets.hash_secret(secret)):
        raise NotFound("set-up address")


def _create_first_records(tx: Write, args: SetUp, hashed: PreparedOwner, via: Via) -> tuple[Account, FirstRecords]:
    if users.has_accounts(tx):
        raise Conflict("this file is already set up")
    account = users.insert_account(tx, fold_address(args.email), args.name.strip(), hashed.password_hash)
    company: Company = insert_company(tx, actors.load_user_as_actor(tx, account.key, via), args.company.strip())
    owner = actors.load_user_as_actor(tx, account.key, via)
    (key,) = [membership.company for membership in owner.memberships]
    project: Project = insert_project(tx, owner, key, args.project.strip(), [], NEW_POLICY)
    project_key = projects.find_project_key(tx, project.id, key)
    assert project_key is not None
    created: list[Column] = [column for _, column in columns.list_columns(tx, project_key)]
    names = [ColumnName(column.id, column.name) for column in created]
    return account, FirstRecords(account.user.id, company.id, project.id, names)


class SetUpState(msgspec.Struct, frozen=True):
    """Whether the file is set up."""

    done: bool


@operation("get_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def get_set_up(tx: Read, actor: Actor, args: Nothing) -> SetUpState:
    """Whether the file is set up."""
    return SetUpState(users.has_accounts(tx))


class CheckSetUp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The secret of a set-up address."""

    secret: str


@operation("check_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def check_set_up(tx: Read, actor: Actor, args: CheckSetUp) -> SetUpState:
    """Whether a set-up address is still valid (`done` is true then)."""
    return SetUpState(users.is_setup_key_valid(tx, secrets.hash_secret(args.secret)))


class SetUpAddress(msgspec.Struct, frozen=True):
    """The secret of a new one-time set-up address."""

    secret: str


SETUP_MINUTES = 30


@operation("open_set_up", scope=Access.OPERATOR, budget=Budget.NONE)
def open_set_up(tx: Write, actor: Actor, args: Nothing) -> SetUpAddress:
    """Create the one-time set-up address of a new file. It is valid for 30 minutes and replaces an earlier one."""
    secret = secrets.generate_secret()
    users.replace_setup_key(tx, secrets.hash_secret(secret), tx.now + SETUP_MINUTES * 60_000)
    return SetUpAddress(secret)
