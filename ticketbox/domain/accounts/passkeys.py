"""Passkeys: what browsers need to create and use them, and the checks of what they return (WebAuthn, Level 2, 7).

The library takes 0.2 s to load, so it loads with the first check: run checks on a worker thread.
"""

import base64
import json
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts.records import User
from ticketbox.domain.core.clock import MINUTE

LIFETIME = 5 * MINUTE
ALGORITHMS = (-8, -7, -257)  # EdDSA, ES256, RS256 (WebAuthn, 5.4, recommends these three)


class InvalidPasskey(Exception):
    """What the browser returned doesn't pass a check; the text says which."""


class NewPasskey(msgspec.Struct, frozen=True):
    """A passkey that was just created. `credential` is its attested credential data: the id and the public key."""

    credential_id: bytes
    credential: bytes
    sign_count: int


Encoded = Annotated[str, Meta(min_length=1, max_length=16_000, description="Base64url without padding.")]


class PasskeySignature(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A passkey's answer to a challenge: `id` and `response` of what `navigator.credentials.get` returns."""

    credential_id: Annotated[Encoded, Meta(description="`id`.")]
    client_data: Annotated[Encoded, Meta(description="`response.clientDataJSON`.")]
    authenticator_data: Annotated[Encoded, Meta(description="`response.authenticatorData`.")]
    signature: Annotated[Encoded, Meta(description="`response.signature`.")]
    user_handle: Annotated[Encoded, Meta(description="`response.userHandle`.")] | None = None


def build_creation_options(public_url: str, user: User, challenge: str, existing: list[bytes]) -> dict[str, Any]:
    """Build what `navigator.credentials.create` needs (PublicKeyCredentialCreationOptionsJSON).

    Requires a discoverable credential and user verification, so that the passkey alone can sign in.
    """
    return {
        "rp": {"id": _find_host(public_url), "name": "ticketbox"},
        "user": {"id": encode_base64url(user.id.encode()), "name": user.email, "displayName": user.name},
        "challenge": challenge,
        "pubKeyCredParams": [{"type": "public-key", "alg": each} for each in ALGORITHMS],
        "timeout": LIFETIME,
        "excludeCredentials": _describe(existing),
        "authenticatorSelection": {
            "residentKey": "required", "requireResidentKey": True, "userVerification": "required",
        },
        "attestation": "none",
    }  # fmt: skip


def build_request_options(public_url: str, challenge: str, allowed: list[bytes], *, verified: bool) -> dict[str, Any]:
    """Build what `navigator.credentials.get` needs (PublicKeyCredentialRequestOptionsJSON).

    Without `allowed` credentials, the person chooses one of the device.
    """
    return {
        "challenge": challenge,
        "rpId": _find_host(public_url),
        "allowCredentials": _describe(allowed),
        "userVerification": "required" if verified else "preferred",
        "timeout": LIFETIME,
    }


def read_challenge(client_data: str) -> str:
    """Read the challenge from the client data, before anything is checked. Raises InvalidPasskey."""
    try:
        challenge = json.loads(decode_base64url(client_data))["challenge"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidPasskey("the client data has no challenge") from None
    if not isinstance(challenge, str):
        raise InvalidPasskey("the client data has no challenge")
    return challenge


def check_registration(public_url: str, challenge: str, client_data: str, attestation: str) -> NewPasskey:
    """Check a new passkey (WebAuthn, 7.1): origin, RP ID, challenge, user verification. Raises InvalidPasskey.

    The authenticator's maker isn't checked: any authenticator may hold a passkey.
    """
    response = {"clientDataJSON": client_data, "attestationObject": attestation}
    try:
        _refuse_frames(client_data)
        # The id is that of the attestation; the library doesn't compare the one beside it.
        answer = {"rawId": "", "type": "public-key", "response": response, "clientExtensionResults": {}}
        data = _load_server(public_url).register_complete(_build_state(challenge, verified=True), answer)
        created = data.credential_data
        if created is None or created.public_key[3] not in ALGORITHMS:
            raise InvalidPasskey("the algorithm of the passkey isn't supported")
        return NewPasskey(bytes(created.credential_id), bytes(created), data.counter)
    except InvalidPasskey:
        raise
    except Exception as error:  # the library's parsers raise many kinds
        raise InvalidPasskey(f"the passkey can't be used: {error}") from None


def check_signature(
    public_url: str, challenge: str, credential: bytes, sign_count: int, given: PasskeySignature, *, verified: bool
) -> int:
    """Check a passkey's signature (WebAuthn, 7.2); return its new count of signatures. Raises InvalidPasskey.

    With `verified`, the authenticator must have verified the person, by a PIN or biometrics.
    """
    response = {
        "clientDataJSON": given.client_data,
        "authenticatorData": given.authenticator_data,
        "signature": given.signature,
    }
    answer = {"rawId": given.credential_id, "type": "public-key", "response": response, "clientExtensionResults": {}}
    try:
        from fido2.webauthn import AttestedCredentialData, AuthenticatorData

        _refuse_frames(given.client_data)
        _load_server(public_url).authenticate_complete(
            _build_state(challenge, verified=verified), [AttestedCredentialData(credential)], answer
        )
        count = AuthenticatorData(decode_base64url(given.authenticator_data)).counter
    except InvalidPasskey:
        raise
    except Exception as error:  # the library's parsers raise many kinds
        raise InvalidPasskey(f"the passkey was refused: {error}") from None
    if (count or sign_count) and count <= sign_count:
        raise InvalidPasskey("the passkey was refused: its counter went back, so somebody may have copied it")
    return count


def decode_base64url(text: str) -> bytes:
    """Decode base64url without padding. Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def encode_base64url(data: bytes) -> str:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _load_server(public_url: str) -> Any:
    """Load the library's checks, for one origin; it declares no types for what it returns."""
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    parts = urlsplit(public_url)
    origin = f"{parts.scheme}://{parts.netloc}"
    party = PublicKeyCredentialRpEntity(name="ticketbox", id=parts.hostname)
    return Fido2Server(party, verify_origin=lambda given: given == origin)


def _find_host(public_url: str) -> str:
    """Return the RP ID: the host that the passkeys belong to."""
    return urlsplit(public_url).hostname or ""


def _build_state(challenge: str, *, verified: bool) -> dict[str, str]:
    return {"challenge": challenge, "user_verification": "required" if verified else "preferred"}


def _describe(credentials: list[bytes]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": encode_base64url(each)} for each in credentials]


def _refuse_frames(client_data: str) -> None:
    """Refuse what another site's page asked for, with this one in a frame. Raises InvalidPasskey."""
    from fido2.webauthn import CollectedClientData

    if CollectedClientData(decode_base64url(client_data)).cross_origin:
        raise InvalidPasskey("the passkey was used in a frame of another site")
