"""The checks of passkeys, without a server."""

from typing import Any

import pytest

from tests.support.passkey_device import PRESENT, PasskeyDevice
from ticketbox.domain.accounts import passkeys
from ticketbox.domain.accounts.passkeys import InvalidPasskey, PasskeySignature

URL = "https://tickets.example.org/under/a/path"
ORIGIN = "https://tickets.example.org"
OPTIONS = {"challenge": "Y2hhbGxlbmdlIG9mIDMyIGJ5dGVzIGV4YWN0bHkgISE"}


def check(device: PasskeyDevice, *, stored: int = 0, challenge: str = OPTIONS["challenge"], **more: Any) -> int:
    given = PasskeySignature(**device.sign(OPTIONS, **more)["passkey"])
    credential = device.attested_credential
    return passkeys.check_signature(URL, challenge, credential, stored, given, verified=True)


def test_counter_must_grow_unless_the_authenticator_has_none() -> None:
    device = PasskeyDevice(ORIGIN)
    assert check(device) == 1
    device.count = 6
    with pytest.raises(InvalidPasskey, match="counter went back"):
        check(device, stored=7)
    assert check(device, stored=7) == 8
    device.count = -1  # zero means that it doesn't count
    assert check(device) == 0
    device.count = -1
    with pytest.raises(InvalidPasskey, match="counter went back"):
        check(device, stored=1)


@pytest.mark.parametrize("origin", [f"{ORIGIN}:8443", "http://tickets.example.org", "https://a.tickets.example.org"])
def test_only_the_exact_origin_is_accepted(origin: str) -> None:
    device = PasskeyDevice(ORIGIN)
    device.origin = origin
    with pytest.raises(InvalidPasskey, match="origin"):
        check(device)


def test_challenge_user_verification_and_kind_are_checked() -> None:
    device = PasskeyDevice(ORIGIN)
    with pytest.raises(InvalidPasskey, match="challenge"):
        check(device, challenge="QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE")
    with pytest.raises(InvalidPasskey, match="erif"):
        check(device, flags=PRESENT)
    with pytest.raises(InvalidPasskey, match="type"):
        check(device, type="webauthn.create")
    created = device.create(OPTIONS)
    with pytest.raises(InvalidPasskey, match="origin"):
        passkeys.check_registration(
            "http://localhost", OPTIONS["challenge"], created["client_data"], created["attestation"]
        )


@pytest.mark.parametrize(
    "text", ["", "!", "AAAA", passkeys.encode_base64url(b"[]"), passkeys.encode_base64url(b"[" * 9999)]
)
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(InvalidPasskey):
        passkeys.read_challenge(text)
    with pytest.raises(InvalidPasskey):
        passkeys.check_registration(URL, OPTIONS["challenge"], text, text)
    given = PasskeySignature(text, text, text, text)
    with pytest.raises(InvalidPasskey):
        passkeys.check_signature(
            URL, OPTIONS["challenge"], PasskeyDevice(ORIGIN).attested_credential, 0, given, verified=True
        )
