"""Challenges for passkeys, and the check of a passkey's answer. Each challenge is for one purpose, and used once."""

import asyncio
import secrets as random
from enum import StrEnum
from functools import partial
from typing import Any

import msgspec

from ticketbox.domain.accounts import passkeys, secrets
from ticketbox.domain.accounts.passkeys import InvalidPasskey, PasskeySignature
from ticketbox.domain.accounts.security_events import Outcome, SecurityAction
from ticketbox.domain.core.access.policy import Via
from ticketbox.operations.accounts.security_events import log_security_event
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import passkeys as stored_passkeys
from ticketbox.store.accounts import provider_requests, security_events, users
from ticketbox.store.accounts.passkeys import StoredPasskey
from ticketbox.store.file.database import Read, Write

PER_MINUTE = 30
TOO_MANY = "too many passkeys from this address"
EXPIRED = "this request for a passkey has expired, or was already used; try again"
UNKNOWN = "this passkey isn't one of the account's"


class PasskeyOptions(msgspec.Struct, frozen=True):
    """What the browser needs to create or use a passkey, within 5 minutes.

    `options` is a PublicKeyCredentialCreationOptionsJSON or PublicKeyCredentialRequestOptionsJSON (WebAuthn, Level 3).
    """

    options: dict[str, Any]


class Purpose(StrEnum):
    """What a challenge is for."""

    CREATE = "create"
    SIGN_IN = "sign_in"
    SECOND_STEP = "second_step"
    CONFIRM = "confirm"


class Challenge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A challenge that waits. `step` is the hash of the secret of a sign-in's second step."""

    purpose: Purpose
    step: str = ""


def issue_challenge(tx: Write, purpose: Purpose, user: int | None = None, step: str = "") -> str:
    """Store a challenge for a purpose, and for a signed-in user if there is one; return it as base64url."""
    challenge = random.token_urlsafe(32)
    provider_requests.insert_provider_request(
        tx, secrets.hash_secret(challenge), Challenge(purpose, step), user=user, lifetime=passkeys.LIFETIME
    )
    return challenge


async def take_challenge(services: Services, client_data: str, expected: Challenge, user: int) -> str:
    """Use up the challenge in a browser's answer; return it. Raises InvalidPasskey if it isn't the expected one."""
    challenge = passkeys.read_challenge(client_data)
    hashed = secrets.hash_secret(challenge)
    found = await services.database.write(
        lambda tx: provider_requests.take_provider_request(tx, hashed, None, user, Challenge)
    )
    if found != expected:
        raise InvalidPasskey(EXPIRED)
    return challenge


async def use_passkey(
    services: Services,
    context: RequestContext,
    given: PasskeySignature,
    expected: Challenge,
    user: int,
    owner: int | None,
) -> StoredPasskey:
    """Check a passkey's answer, record the use, and return the passkey. Raises InvalidPasskey.

    `user` is who is signed in, or 0; `owner` is whose passkey it must be. Only the second step after a password
    does without user verification. It has its own transactions, so that the challenge is used up in any case.
    """
    challenge = await take_challenge(services, given.client_data, expected, user)
    found = await services.read(lambda tx: _find(tx, given), (0, context.network))
    if found is None or (owner is not None and found[0].user != owner):
        raise InvalidPasskey(UNKNOWN)
    passkey, user_id = found
    try:
        if given.user_handle is not None and passkeys.decode_base64url(given.user_handle) != user_id.encode():
            raise InvalidPasskey(UNKNOWN)
        count = await asyncio.to_thread(
            passkeys.check_signature, services.public_url, challenge, passkey.credential, passkey.sign_count, given,
            verified=expected.purpose is not Purpose.SECOND_STEP,
        )  # fmt: skip
    except (InvalidPasskey, ValueError) as refusal:
        await services.database.write(lambda tx: _record(tx, services, context, passkey, user_id, Outcome.FAILED))
        raise InvalidPasskey(str(refusal)) from None

    def record_use(tx: Write) -> bool:
        used = stored_passkeys.record_passkey_use(tx, passkey, count)
        _record(tx, services, context, passkey, user_id, Outcome.DONE if used else Outcome.FAILED)
        return used

    if not await services.database.write(record_use):
        raise InvalidPasskey("this passkey was used or deleted meanwhile; try again")
    return passkey


def _find(tx: Read, given: PasskeySignature) -> tuple[StoredPasskey, str] | None:
    """Find a passkey, and the public id of its account."""
    try:
        passkey = stored_passkeys.find_passkey(tx, passkeys.decode_base64url(given.credential_id))
    except ValueError:
        return None
    account = None if passkey is None else users.find_account_by_key(tx, passkey.user)
    return None if passkey is None or account is None else (passkey, account.user.id)


def _record(
    tx: Write, services: Services, context: RequestContext, passkey: StoredPasskey, user_id: str, outcome: Outcome
) -> None:
    tx.origin = services.describe_origin(context)
    action, data = SecurityAction.PASSKEY_CHECK, {"passkey": passkey.name}
    security_events.insert_security_event(tx, passkey.user, action, outcome, Via.WEB, data)
    tx.after_commit.append(partial(log_security_event, action, outcome, tx.origin.address, user_id, Via.WEB, {}))
