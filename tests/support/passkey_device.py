"""An authenticator with one passkey, in software: what a browser and a security key return together."""

import hashlib
import json
import secrets
from typing import Any
from urllib.parse import urlsplit

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256

from tests.support.server import Person, ok
from ticketbox.domain.accounts.passkeys import encode_base64url

PATH = "/profile/passkeys"
VERIFIED, PRESENT = 0x05, 0x01  # with and without a PIN or biometrics


class PasskeyDevice:
    """Holds one passkey, and counts its signatures. `origin` is the page that asks it, `host` the RP ID."""

    def __init__(self, origin: str) -> None:
        self.origin, self.host = origin, urlsplit(origin).hostname or ""
        self.credential_id = secrets.token_bytes(16)
        self.count = 0
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def attested_credential(self) -> bytes:
        """The attested credential data (WebAuthn, 6.5.1)."""
        public = cbor.encode(ES256.from_cryptography_key(self._key.public_key()))
        return bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + public

    def create(self, options: dict[str, Any], name: str = "Phone", flags: int = VERIFIED) -> dict[str, str]:
        """The body of `add_passkey`."""
        data = self._describe(flags | 0x40) + self.attested_credential
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = encode_base64url(self._describe_client("webauthn.create", options["challenge"]))
        return {"name": name, "client_data": client_data, "attestation": encode_base64url(attestation)}

    def sign(self, options: dict[str, Any], flags: int = VERIFIED, **more: Any) -> dict[str, dict[str, str]]:
        """The body of what signs in or confirms."""
        self.count += 1
        client_data = self._describe_client("webauthn.get", options["challenge"], **more)
        data = self._describe(flags)
        signature = self._key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
        parts = {
            "credential_id": self.credential_id, "client_data": client_data, "authenticator_data": data,
            "signature": signature,
        }  # fmt: skip
        return {"passkey": {name: encode_base64url(part) for name, part in parts.items()}}

    def _describe(self, flags: int) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _describe_client(self, kind: str, challenge: str, **more: Any) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False, **more}
        return json.dumps(said).encode()


class Holder:
    """Somebody with a passkey."""

    def __init__(self, person: Person, name: str = "Phone") -> None:
        self.person, self.web = person, person.web
        self.device = PasskeyDevice(person.box.url)
        added = ok(self.web.post(PATH, json=self.device.create(self.ask(f"{PATH}/options"), name)))
        self.passkey_id: str = added["passkey"]["id"]
        self.recovery_codes: list[str] | None = added["recovery_codes"]

    def ask(self, path: str, client: httpx.Client | None = None, **body: str) -> dict[str, Any]:
        """The options of a new challenge."""
        return ok((client or self.web).post(path, json=body))["options"]

    def sign_in(self, client: httpx.Client, **body: str) -> httpx.Response:
        """Sign in with the passkey, after the password with `handle`."""
        options = self.ask("/session/passkey/options", client, **body)
        return client.post("/session/passkey", json={**self.device.sign(options), **body})

    def confirm(self) -> httpx.Response:
        """Confirm with the passkey."""
        options = self.ask("/session/confirmation/passkey/options")
        return self.web.post("/session/confirmation/passkey", json=self.device.sign(options))
