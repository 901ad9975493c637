"""Tokens of any account, managed by the operator on the command line (`ticketbox token`)."""

import msgspec

from ticketbox.domain.accounts.records import Token, User
from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.accounts.oauth.grants import revoke_app_grant
from ticketbox.operations.accounts.tokens import CreatedToken, TokenInput, create_api_token, revoke_api_token
from ticketbox.operations.accounts.users import find_account
from ticketbox.operations.core.paging import NEWEST
from ticketbox.operations.core.registry import operation
from ticketbox.store.accounts import actors, credentials, users
from ticketbox.store.file.database import Read, Write


class IssueToken(TokenInput, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A new token for an account, which is named by its id or email address."""

    user: str


@operation("issue_token", scope=Access.OPERATOR, budget=Budget.NONE)
def issue_token(tx: Write, actor: Actor, args: IssueToken) -> CreatedToken:
    """Create an API token for an account. It can do no more than the account's owner."""
    return create_api_token(tx, _load_actor(tx, args.user), args)


class ListIssuedTokens(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An account, named by its id or email address; all accounts by default."""

    user: str | None = None


class OwnedToken(Token, frozen=True):
    """A token and its owner."""

    user: User


class Tokens(msgspec.Struct, frozen=True):
    """Tokens that aren't revoked."""

    items: list[OwnedToken]


@operation("list_issued_tokens", scope=Access.OPERATOR, budget=Budget.NONE)
def list_issued_tokens(tx: Read, actor: Actor, args: ListIssuedTokens) -> Tokens:
    """List the tokens of one account, or of all accounts."""
    owners = users.list_accounts(tx) if args.user is None else [find_account(tx, args.user)]
    return Tokens([
        OwnedToken(**msgspec.structs.asdict(token), user=owner.user)
        for owner in owners
        for _, token in credentials.list_tokens(tx, owner.key, NEWEST, 10_000)
    ])  # fmt: skip


class RevokeIssuedToken(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Any account's token, by its public id."""

    token_id: str


@operation("revoke_issued_token", scope=Access.OPERATOR, budget=Budget.NONE)
def revoke_issued_token(tx: Write, actor: Actor, args: RevokeIssuedToken) -> None:
    """Revoke a token of any account, or a grant to an app."""
    credential = credentials.find_credential(tx, args.token_id)
    if credential is None or credential[2] is Kind.SESSION:
        raise NotFound("token")
    owner = actors.load_user_as_actor(tx, credential[1], Via.CLI)
    if credential[2] is Kind.OAUTH:
        revoke_app_grant(tx, owner, args.token_id)
    else:
        revoke_api_token(tx, owner, args.token_id)


def _load_actor(tx: Read, text: str) -> Actor:
    return actors.load_user_as_actor(tx, find_account(tx, text).key, Via.CLI)
