"""Create, list, rename and delete passkeys (docs/use/accounts.md, "Passkeys")."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import passkeys
from ticketbox.domain.accounts.passkeys import Encoded, InvalidPasskey, NewPasskey
from ticketbox.domain.accounts.records import Passkey, User
from ticketbox.domain.accounts.security_events import NoticeKind, SecurityAction
from ticketbox.domain.core.access.policy import Actor, require_confirmation
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, NotFound, PasswordRequired
from ticketbox.operations.accounts.second_factor.enrolment import issue_recovery_codes
from ticketbox.operations.accounts.second_factor.passkey_checks import (
    Challenge,
    PasskeyOptions,
    Purpose,
    issue_challenge,
    take_challenge,
)
from ticketbox.operations.accounts.security_events import queue_notice, record_account_change
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Name, Nothing
from ticketbox.operations.core.lookups import PasskeyId
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, second_factors
from ticketbox.store.accounts import passkeys as stored_passkeys
from ticketbox.store.file.database import Read, Write

MAX_PASSKEYS = 20


async def get_public_url(services: Services, actor: Actor, args: msgspec.Struct, context: RequestContext) -> str:
    """Return the URL that browsers use: a passkey belongs to its host."""
    return services.public_url


@operation(
    "start_passkey", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/passkeys/options",
    refuses=(PasswordRequired,), prepare=get_public_url, without_factor=True,
)  # fmt: skip
def start_passkey(tx: Write, actor: Actor, args: Nothing, public_url: str) -> PasskeyOptions:
    """Return what the browser needs to create a passkey. `add_passkey` stores it.

    Requires that this session confirmed the password.
    """
    require_confirmation(actor.confirmed)
    user = User(actor.user_id, actor.name, actor.email)
    challenge = issue_challenge(tx, Purpose.CREATE, actor.user)
    existing = stored_passkeys.list_credential_ids(tx, actor.user)
    return PasskeyOptions(passkeys.build_creation_options(public_url, user, challenge, existing))


class AddPasskey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A name, and two parts of the `response` of what `navigator.credentials.create` returns."""

    name: Annotated[Name, Meta(description="What the person calls it.", examples=["Ann's phone"])]
    client_data: Annotated[Encoded, Meta(description="`response.clientDataJSON`.")]
    attestation: Annotated[Encoded, Meta(description="`response.attestationObject`.")]


class AddedPasskey(msgspec.Struct, frozen=True):
    """The new passkey. If the account had no recovery codes, new ones, which are shown only in this response."""

    passkey: Passkey
    recovery_codes: list[str] | None


async def check_new_passkey(services: Services, actor: Actor, args: AddPasskey, context: RequestContext) -> NewPasskey:
    """Check what the browser created. Raises Forbidden, and PasswordRequired."""
    require_confirmation(actor.confirmed)
    try:
        challenge = await take_challenge(services, args.client_data, Challenge(Purpose.CREATE), actor.user)
        return await asyncio.to_thread(
            passkeys.check_registration, services.public_url, challenge, args.client_data, args.attestation
        )
    except InvalidPasskey as refusal:
        raise Forbidden(str(refusal)) from None


@operation(
    "add_passkey", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /profile/passkeys", creates=True,
    refuses=(Conflict, PasswordRequired), prepare=check_new_passkey, without_factor=True,
    example={"name": "Ann's phone", "client_data": "eyJ0eXBlIjoi…", "attestation": "o2NmbXRkbm9u…"},
)  # fmt: skip
def add_passkey(tx: Write, actor: Actor, args: AddPasskey, new: NewPasskey) -> AddedPasskey:
    """Store a new passkey. It signs in without the password, and is a second factor next to it.

    With the first second factor of the account, all its other sessions end.
    """
    require_confirmation(actor.confirmed)
    if stored_passkeys.find_passkey(tx, new.credential_id) is not None:
        raise Conflict("this passkey was already added")
    if len(stored_passkeys.list_credential_ids(tx, actor.user)) >= MAX_PASSKEYS:
        raise Conflict(f"an account can have {MAX_PASSKEYS} passkeys; delete one first")
    if not second_factors.has_second_factor(tx, actor.user):
        credentials.revoke_sessions(tx, actor.user, but=actor.credential)
    passkey = stored_passkeys.insert_passkey(tx, actor.user, args.name.strip(), new)
    record_account_change(tx, actor, SecurityAction.PASSKEY_ADD, "account.passkey_added", passkey=passkey.name)
    queue_notice(tx, actor.user, NoticeKind.PASSKEY_ADDED, actor.email)
    has_codes = second_factors.count_recovery_codes(tx, actor.user) > 0
    return AddedPasskey(passkey, None if has_codes else issue_recovery_codes(tx, actor).recovery_codes)


@operation("list_passkeys", scope=Access.SESSION, budget=Budget.READ, rest="GET /profile/passkeys")
def list_passkeys(tx: Read, actor: Actor, args: Nothing) -> Page[Passkey]:
    """List the caller's passkeys, oldest first."""
    return Page(stored_passkeys.list_passkeys(tx, actor.user), None)


class RenamePasskey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's passkeys, and its new name."""

    passkey_id: PasskeyId
    name: Annotated[Name, Meta(description="What the person calls it.", examples=["Ann's phone"])]


@operation(
    "rename_passkey", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /profile/passkeys/{passkey_id}",
    refuses=(PasswordRequired,), example={"name": "Ann's phone"},
)  # fmt: skip
def rename_passkey(tx: Write, actor: Actor, args: RenamePasskey) -> None:
    """Rename a passkey. Requires that this session confirmed the password."""
    require_confirmation(actor.confirmed)
    if not stored_passkeys.rename_passkey(tx, actor.user, args.passkey_id, args.name.strip()):
        raise NotFound("passkey")


class DeletePasskey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's passkeys."""

    passkey_id: PasskeyId


@operation(
    "delete_passkey", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /profile/passkeys/{passkey_id}",
    refuses=(Conflict, PasswordRequired),
)  # fmt: skip
def delete_passkey(tx: Write, actor: Actor, args: DeletePasskey) -> None:
    """Delete a passkey. With the last second factor of the account, its recovery codes end.

    Requires that this session confirmed the password. Not possible for the last second factor if a company requires
    one.
    """
    require_confirmation(actor.confirmed)
    name = stored_passkeys.delete_passkey(tx, actor.user, args.passkey_id)
    if name is None:
        raise NotFound("passkey")
    has_factor = second_factors.has_second_factor(tx, actor.user)
    if not has_factor and second_factors.is_second_factor_required(tx, actor.user):
        raise Conflict("a company of yours requires a second factor; add another one first")
    second_factors.delete_unneeded_recovery_codes(tx, actor.user)
    record_account_change(tx, actor, SecurityAction.PASSKEY_DELETE, "account.passkey_deleted", passkey=name)
    queue_notice(tx, actor.user, NoticeKind.PASSKEY_DELETED, actor.email)
