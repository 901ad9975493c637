"""Accounts, managed by the operator on the command line (`ticketbox user`)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passwords, secrets
from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.domain.accounts.records import User
from ticketbox.domain.accounts.security_events import SecurityAction, SecurityEvent
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access, RoleName
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, NotFound
from ticketbox.operations.accounts.security_events import record_account_change
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Email, Name, Nothing, Password
from ticketbox.operations.core.lookups import Id
from ticketbox.operations.core.paging import NEWEST
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import (
    account_links,
    actors,
    credentials,
    devices,
    identities,
    second_factors,
    security_events,
    sign_in_links,
    users,
)
from ticketbox.store.accounts.users import Account
from ticketbox.store.companies import companies, members
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write


class PasswordHash(msgspec.Struct, frozen=True):
    """The hash of a password, computed outside the transaction."""

    value: str


class AddUser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A new account, which also becomes a member of the company, if one is named."""

    email: Email
    name: Name
    password: Password
    company_id: Id | None = None
    role: RoleName = RoleName.MEMBER


async def hash_new_password(
    services: Services, actor: Actor, args: "AddUser | SetPassword", context: RequestContext
) -> PasswordHash:
    """Hash an account's password."""
    return PasswordHash(await services.passwords.run((context.network,), passwords.hash_password, args.password))


@operation("add_user", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_new_password)
def add_user(tx: Write, actor: Actor, args: AddUser, hash_: PasswordHash) -> User:
    """Create an account."""
    email = fold_address(args.email)
    if users.find_account_by_email(tx, email) is not None:
        raise Conflict(f"an account with the address {email} already exists")
    account = users.insert_account(tx, email, args.name.strip(), hash_.value)
    if args.company_id is not None:
        company = companies.find_company_key(tx, args.company_id)
        if company is None:
            raise NotFound("company")
        new = actors.load_user_as_actor(tx, account.key, Via.CLI)
        members.insert_member(tx, company, account.key, args.role.role, None, bylines.ensure_byline(tx, new))
        record_company_event(tx, new, "member.joined", company, user_id=account.user.id, role=args.role)
    return account.user


class ListedUser(User, frozen=True):
    """An account, whether it is disabled, and whether it signs in without a second factor."""

    disabled: bool
    second_factor_missing: bool


class Users(msgspec.Struct, frozen=True):
    """All accounts of the file."""

    items: list[ListedUser]


@operation("list_users", scope=Access.OPERATOR, budget=Budget.NONE)
def list_users(tx: Read, actor: Actor, args: Nothing) -> Users:
    """List all accounts, oldest first."""
    protected = second_factors.list_users_with_factor(tx)
    return Users([
        ListedUser(
            **msgspec.structs.asdict(account.user), disabled=account.disabled,
            second_factor_missing=account.key not in protected,
        )
        for account in users.list_accounts(tx)
    ])  # fmt: skip


class SetPassword(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address, and its new password."""

    user: str
    password: Password


@operation("set_password", scope=Access.OPERATOR, budget=Budget.NONE, prepare=hash_new_password)
def set_password(tx: Write, actor: Actor, args: SetPassword, hash_: PasswordHash) -> User:
    """Set an account's password, and end its sessions and its request for another address."""
    account = find_account(tx, args.user)
    users.set_password(tx, account.key, hash_.value)
    credentials.revoke_sessions(tx, account.key)
    devices.forget_devices(tx, account.key)
    account_links.end_account_links(tx, account.key)
    person = actors.load_user_as_actor(tx, account.key, Via.CLI)
    record_account_change(tx, person, SecurityAction.PASSWORD_CHANGE, "account.password_changed")
    return account.user


class DisableUser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address."""

    user: str
    enable: bool = False


@operation("disable_user", scope=Access.OPERATOR, budget=Budget.NONE)
def disable_user(tx: Write, actor: Actor, args: DisableUser) -> User:
    """Disable an account: its sessions end, and its tokens don't work until it is enabled again."""
    account = find_account(tx, args.user)
    users.set_disabled(tx, account.key, not args.enable)
    person = actors.load_user_as_actor(tx, account.key, Via.CLI)
    if args.enable:
        record_account_change(tx, person, SecurityAction.ACCOUNT_ENABLE, "account.enabled")
    else:
        record_account_change(tx, person, SecurityAction.ACCOUNT_DISABLE, "account.disabled")
    if not args.enable:
        credentials.revoke_sessions(tx, account.key)
        account_links.end_account_links(tx, account.key)
    return account.user


class CreateSignInLink(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address."""

    user: str


class SignInLink(msgspec.Struct, frozen=True):
    """The account, and the path of its link."""

    user: User
    path: str


LINK_MINUTES = 15


@operation("create_sign_in_link", scope=Access.OPERATOR, budget=Budget.NONE)
def create_sign_in_link(tx: Write, actor: Actor, args: CreateSignInLink) -> SignInLink:
    """Create a link that signs an account in once, within 15 minutes, whatever else works. Earlier ones end."""
    account = find_account(tx, args.user)
    if account.disabled:
        raise Conflict("this account is disabled; enable it first")
    secret = secrets.generate_secret()
    sign_in_links.insert_sign_in_link(tx, account.key, secrets.hash_secret(secret), tx.now + LINK_MINUTES * MINUTE)
    person = actors.load_user_as_actor(tx, account.key, Via.CLI)
    record_account_change(tx, person, SecurityAction.SIGN_IN_LINK, "account.sign_in_link_created")
    return SignInLink(account.user, f"/signin/once/{secret}")


class UnlinkUser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address."""

    user: str


@operation("unlink_user", scope=Access.OPERATOR, budget=Budget.NONE)
def unlink_user(tx: Write, actor: Actor, args: UnlinkUser) -> User:
    """Unlink an account from the identity provider, and end its sessions."""
    account = find_account(tx, args.user)
    if not identities.delete_identities(tx, account.key):
        raise NotFound("provider", "this account isn't linked to an identity provider")
    credentials.revoke_sessions(tx, account.key)
    person = actors.load_user_as_actor(tx, account.key, Via.CLI)
    record_account_change(tx, person, SecurityAction.PROVIDER_UNLINK, "account.provider_unlinked")
    return account.user


class ListAccountEvents(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address, and how many of its newest events to list."""

    user: str
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 50


class AccountEvents(msgspec.Struct, frozen=True):
    """An account's security events, newest first."""

    items: list[SecurityEvent]


@operation("list_account_events", scope=Access.OPERATOR, budget=Budget.NONE)
def list_account_events(tx: Read, actor: Actor, args: ListAccountEvents) -> AccountEvents:
    """List the security events of an account."""
    account = find_account(tx, args.user)
    listed = security_events.list_security_events(tx, account.key, NEWEST, args.limit)
    return AccountEvents([event for _, event in listed])


def find_account(tx: Read, text: str) -> Account:
    """Find an account by its id or email address. Raises NotFound."""
    account = users.find_account_by_id(tx, text) or users.find_account_by_email(tx, fold_address(text))
    if account is None:
        raise NotFound("user")
    return account
