"""Passkeys over REST: created, used to sign in and to confirm, renamed, deleted; and what is refused."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.authenticator import OF_USER, Phone, find_field
from tests.support.authenticator import PATH as FACTOR
from tests.support.operation_cases import update_row
from tests.support.passkey_device import PATH, PRESENT, Holder, PasskeyDevice
from tests.support.server import PASSWORD, World, expect_error, ok, run_beside, ticketbox

pytestmark = pytest.mark.long

UNCONFIRM = f"UPDATE credential SET confirmed_at = 0 {OF_USER}"
REQUIRE = "UPDATE company SET second_factor_required = 1 WHERE public_id = ?"
EXPIRE = "UPDATE provider_request SET expires_at = expires_at - 300000 WHERE data LIKE '%\"purpose\"%' AND ? = ?"
SIGN_IN = "/session/passkey"
CONFIRM = "/session/confirmation/passkey"


def list_events(web: httpx.Client) -> list[tuple[str, str]]:
    return [(each["action"], each["outcome"]) for each in ok(web.get("/security-events"))["items"]]


def open_second_step(holder: Holder, browser: httpx.Client) -> str:
    """Enter the password on the page; return the secret of the second step."""
    form = {"email": holder.person.email, "password": PASSWORD, "next": "/inbox"}
    return find_field(browser.post("/signin", data=form), "handle")


def open_browser(world: World) -> httpx.Client:
    browser = world.box.client(**{"Sec-Fetch-Site": "same-origin"})
    browser.base_url = httpx.URL(world.box.url)
    browser.event_hooks = {}
    return browser


def test_passkey_signs_in_without_a_password_and_counts_as_both_factors(world: World) -> None:
    holder = Holder(world.join("Bob"))
    expect_error(world.box.client().post("/session", json={"email": holder.person.email, "password": PASSWORD}),
                 403, "second_factor_required")  # fmt: skip
    client = world.box.client()
    answer = ok(holder.sign_in(client))
    assert answer["user"]["id"] == holder.person.id
    assert answer["second_factor_missing"] is False
    ok(client.post("/tokens", json={"label": "x", "scopes": ["read"]}))  # the sign-in confirmed the account
    (event,) = [each for each in ok(client.get("/security-events"))["items"] if each["data"].get("session_id")][:1]
    assert (event["action"], event["data"]["passkey"]) == ("sign_in", "Phone")
    (passkey,) = ok(client.get(PATH))["items"]
    assert passkey["name"] == "Phone"
    assert passkey["last_used_at"] is not None
    assert ok(client.get("/profile/sign-in"))["second_factor"]["passkeys"] == 1


def test_passkey_or_recovery_code_is_the_second_step_after_the_password(world: World) -> None:
    holder = Holder(world.join("Bob"))
    assert holder.recovery_codes is not None
    handle = open_second_step(holder, open_browser(world))
    client = world.box.client()
    options = holder.ask(f"{SIGN_IN}/options", client, handle=handle)
    assert len(options["allowCredentials"]) == 1
    body = {**holder.device.sign(options, PRESENT), "handle": handle}  # the password was the other factor
    expect_error(client.post(SIGN_IN, json=holder.device.sign(options, PRESENT)), 401, "unauthorized")
    expect_error(client.post(SIGN_IN, json=body), 401, "unauthorized")  # that used up the challenge
    options = holder.ask(f"{SIGN_IN}/options", client, handle=handle)
    ok(client.post(SIGN_IN, json={**holder.device.sign(options, PRESENT), "handle": handle}))
    expect_error(client.post(f"{SIGN_IN}/options", json={"handle": handle}), 404, "not_found")
    body = {"email": holder.person.email, "password": PASSWORD, "code": holder.recovery_codes[0]}
    ok(world.box.client().post("/session", json=body))


Change = Callable[[PasskeyDevice], None]


def move_elsewhere(device: PasskeyDevice) -> None:
    device.origin = "https://evil.example"


def move_to_another_port(device: PasskeyDevice) -> None:
    device.origin = re.sub(r":\d+$", ":1", device.origin)


def use_another_host(device: PasskeyDevice) -> None:
    device.host = "evil.example"


def go_back(device: PasskeyDevice) -> None:
    device.count -= 1


def forge_key(device: PasskeyDevice) -> None:
    device._key = PasskeyDevice(device.origin)._key


def forget(device: PasskeyDevice) -> None:
    device.credential_id = b"0123456789abcdef"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (move_elsewhere, "origin"), (move_to_another_port, "origin"), (use_another_host, "RP ID"),
        (go_back, "counter went back"), (forge_key, "signature"), (forget, "isn't one of the account's"),
    ],
)  # fmt: skip
def test_signature_is_refused(world: World, change: Change, words: str) -> None:
    holder = Holder(world.join("Bob"))
    ok(holder.sign_in(world.box.client()))
    change(holder.device)
    refused = expect_error(holder.sign_in(world.box.client()), 401, "unauthorized")
    assert words in refused["detail"]
    if change is not forget:
        assert list_events(holder.web)[0] == ("passkey_check", "failed")


def test_signature_without_user_verification_or_in_a_frame_is_refused(world: World) -> None:
    holder = Holder(world.join("Bob"))
    client = world.box.client()
    options = holder.ask(f"{SIGN_IN}/options", client)
    refused = expect_error(client.post(SIGN_IN, json=holder.device.sign(options, PRESENT)), 401, "unauthorized")
    assert "verification" in refused["detail"]
    options = holder.ask(f"{SIGN_IN}/options", client)
    framed = holder.device.sign(options, crossOrigin=True)
    refused = expect_error(client.post(SIGN_IN, json=framed), 401, "unauthorized")
    assert "frame" in refused["detail"]
    options = holder.ask(f"{SIGN_IN}/options", client)
    body = holder.device.sign(options)
    body["passkey"]["user_handle"] = "AAAA"
    expect_error(client.post(SIGN_IN, json=body), 401, "unauthorized")


def test_challenge_works_once_for_one_purpose_and_expires(world: World) -> None:
    holder = Holder(world.join("Bob"))
    client = world.box.client()
    body = holder.device.sign(holder.ask(f"{SIGN_IN}/options", client))
    ok(client.post(SIGN_IN, json=body))
    refused = expect_error(world.box.client().post(SIGN_IN, json=body), 401, "unauthorized")
    assert "already used" in refused["detail"]
    options = holder.ask(f"{SIGN_IN}/options", client)
    expect_error(holder.web.post(CONFIRM, json=holder.device.sign(options)), 403, "forbidden")
    options = holder.ask(f"{CONFIRM}/options")
    expect_error(client.post(SIGN_IN, json=holder.device.sign(options)), 401, "unauthorized")
    options = holder.ask(f"{SIGN_IN}/options", client)
    update_row(world.box.db, EXPIRE, 1, 1)
    refused = expect_error(client.post(SIGN_IN, json=holder.device.sign(options)), 401, "unauthorized")
    assert "expired" in refused["detail"]
    expect_error(client.post(SIGN_IN, json=holder.device.sign({"challenge": "AAAA"})), 401, "unauthorized")


def test_one_signature_signs_in_only_one_of_many_callers(world: World) -> None:
    holder = Holder(world.join("Bob"))
    body = holder.device.sign(holder.ask(f"{SIGN_IN}/options"))
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(lambda _: world.box.client().post(SIGN_IN, json=body).status_code, range(6)))
    assert sorted(statuses) == [201, 401, 401, 401, 401, 401]


def test_passkey_of_another_account_is_refused(world: World) -> None:
    bob, eve = Holder(world.join("Bob")), Holder(world.join("Eve"))
    handle = open_second_step(bob, open_browser(world))
    client = world.box.client()
    options = bob.ask(f"{SIGN_IN}/options", client, handle=handle)
    refused = client.post(SIGN_IN, json={**eve.device.sign(options), "handle": handle})
    expect_error(refused, 401, "unauthorized")
    options = bob.ask(f"{CONFIRM}/options")
    expect_error(bob.web.post(CONFIRM, json=eve.device.sign(options)), 403, "forbidden")
    options = bob.ask(f"{CONFIRM}/options")
    expect_error(eve.web.post(CONFIRM, json=eve.device.sign(options)), 403, "forbidden")
    options = bob.ask(f"{PATH}/options")
    expect_error(eve.web.post(PATH, json=PasskeyDevice(world.box.url).create(options)), 403, "forbidden")
    expect_error(eve.web.patch(f"{PATH}/{bob.passkey_id}", json={"name": "Mine"}), 404, "not_found")
    expect_error(eve.web.delete(f"{PATH}/{bob.passkey_id}"), 404, "not_found")


def test_passkey_confirms_the_account(world: World) -> None:
    holder = Holder(world.join("Bob"))
    update_row(world.box.db, UNCONFIRM, holder.person.id)
    token = {"label": "x", "scopes": ["read"]}
    new_password = {"current_password": PASSWORD, "new_password": "a better one, longer"}
    expect_error(holder.web.post("/tokens", json=token), 403, "password_required")
    expect_error(holder.web.post("/profile/password", json=new_password), 403, "second_factor_required")
    expect_error(holder.web.post(f"{FACTOR}/recovery-codes", json={}), 403, "password_required")
    options = holder.ask(f"{CONFIRM}/options")
    unverified = holder.device.sign(options, PRESENT)
    expect_error(holder.web.post(CONFIRM, json=unverified), 403, "forbidden")
    expect_error(holder.web.post("/tokens", json=token), 403, "password_required")
    assert ok(holder.confirm())["confirmed_until"]
    ok(holder.web.post("/tokens", json=token))
    codes = ok(holder.web.post(f"{FACTOR}/recovery-codes", json={}))["recovery_codes"]
    assert holder.recovery_codes is not None
    assert not set(codes) & set(holder.recovery_codes)
    assert holder.web.post("/profile/password", json=new_password).status_code == 204


@pytest.mark.parametrize("method", ["start", "add", "rename", "delete"])
def test_managing_passkeys_requires_confirmation(world: World, method: str) -> None:
    holder = Holder(world.join("Bob"))
    body = PasskeyDevice(world.box.url).create(holder.ask(f"{PATH}/options"))
    update_row(world.box.db, UNCONFIRM, holder.person.id)
    calls: dict[str, Callable[[], httpx.Response]] = {
        "start": lambda: holder.web.post(f"{PATH}/options", json={}),
        "add": lambda: holder.web.post(PATH, json=body),
        "rename": lambda: holder.web.patch(f"{PATH}/{holder.passkey_id}", json={"name": "Key"}),
        "delete": lambda: holder.web.delete(f"{PATH}/{holder.passkey_id}"),
    }
    expect_error(calls[method](), 403, "password_required")
    ok(holder.confirm())
    assert calls[method]().is_success


def test_new_passkey_is_refused(world: World) -> None:
    bob = world.join("Bob")

    def ask() -> dict[str, Any]:
        return ok(bob.web.post(f"{PATH}/options", json={}))["options"]

    def refuse(body: dict[str, str]) -> str:
        return expect_error(bob.web.post(PATH, json=body), 403, "forbidden")["detail"]

    assert "origin" in refuse(PasskeyDevice("https://evil.example").create(ask()))
    device = PasskeyDevice(world.box.url)
    assert "verif" in refuse(device.create(ask(), flags=PRESENT))
    assert "expired" in refuse(device.create({"challenge": "AAAA"}))
    assert "can't be used" in refuse({**device.create(ask()), "attestation": "AAAA"})
    options = ask()
    update_row(world.box.db, EXPIRE, 1, 1)
    assert "expired" in refuse(device.create(options))
    ok(bob.web.post(PATH, json=device.create(ask())))
    expect_error(bob.web.post(PATH, json=device.create(ask())), 409, "conflict")


def test_first_passkey_ends_other_sessions_and_the_last_one_the_recovery_codes(world: World) -> None:
    bob = world.join("Bob")
    other = world.box.client()
    ok(other.post("/session", json={"email": bob.email, "password": PASSWORD}))
    first = Holder(bob)
    expect_error(other.get("/me"), 401, "unauthorized")
    ok(first.sign_in(other))
    second = Holder(bob, "Key")
    assert second.recovery_codes is None
    ok(other.get("/me"))
    assert bob.web.patch(f"{PATH}/{second.passkey_id}", json={"name": "Blue key"}).status_code == 204
    assert [each["name"] for each in ok(bob.web.get(PATH))["items"]] == ["Phone", "Blue key"]
    assert bob.web.delete(f"{PATH}/{first.passkey_id}").status_code == 204
    expect_error(first.sign_in(world.box.client()), 401, "unauthorized")
    ok(second.sign_in(world.box.client()))
    assert ok(bob.web.get("/profile/sign-in"))["second_factor"]["recovery_codes"] == 10
    assert bob.web.delete(f"{PATH}/{second.passkey_id}").status_code == 204
    assert ok(bob.web.get("/profile/sign-in"))["second_factor"] is None
    ok(world.box.client().post("/session", json={"email": bob.email, "password": PASSWORD}))
    count = "SELECT count(*) FROM recovery_code WHERE user_id = (SELECT id FROM user WHERE public_id = ?)"
    assert run_beside(world.box.db, lambda tx: tx.fetch_value(count, (bob.id,))) == 0
    events = list_events(bob.web)
    assert events.count(("passkey_add", "done")) == events.count(("passkey_delete", "done")) == 2
    audit = [each["type"] for each in ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]]
    assert audit.count("account.passkey_added") == audit.count("account.passkey_deleted") == 2


def test_passkey_is_the_factor_that_a_company_requires(world: World) -> None:
    bob = world.join("Bob")
    update_row(world.box.db, REQUIRE, world.company)
    expect_error(bob.web.get("/me"), 401, "unauthorized")
    holder = Holder(bob)  # a session without the factor can only set it up
    ok(bob.web.get("/me"))
    expect_error(bob.web.delete(f"{PATH}/{holder.passkey_id}"), 409, "conflict")
    ok(holder.sign_in(world.box.client()))  # still there
    ok(Holder(world.owner).web.get("/me"))
    members = ok(world.owner.web.get(f"/companies/{world.company}/members"))["items"]
    assert [each["second_factor_missing"] for each in members] == [False, False]


def test_app_and_passkey_are_independent(world: World) -> None:
    bob = world.join("Bob")
    holder, phone = Holder(bob), Phone(bob)
    ok(phone.sign_in(code=phone.show_code()))
    update_row(world.box.db, REQUIRE, world.company)
    assert bob.web.post(f"{FACTOR}/disable", json={"code": phone.recovery_codes[0]}).status_code == 204
    factor = ok(bob.web.get("/profile/sign-in"))["second_factor"]
    assert (factor["app"], factor["passkeys"], factor["recovery_codes"]) == (False, 1, 9)
    expect_error(bob.web.post(f"{FACTOR}/disable", json={"code": phone.recovery_codes[1]}), 404, "not_found")
    ok(holder.sign_in(world.box.client()))


def test_reset_of_the_second_factor_deletes_passkeys(world: World) -> None:
    bob, carl = Holder(world.join("Bob")), Holder(world.join("Carl"))
    ok(world.owner.web.delete(f"/companies/{world.company}/members/{bob.person.id}/second-factor"))
    listed = ticketbox("user", "list", db=world.box.db).stdout.splitlines()
    lacking = [any(each.person.email in line and "no second factor" in line for line in listed) for each in (bob, carl)]
    assert lacking == [True, False]
    result = ticketbox("user", "reset-second-factor", carl.person.email, db=world.box.db)
    assert result.returncode == 0, result.stderr
    for each in bob, carl:
        expect_error(each.sign_in(world.box.client()), 401, "unauthorized")
        expect_error(each.web.get("/me"), 401, "unauthorized")
        ok(world.box.client().post("/session", json={"email": each.person.email, "password": PASSWORD}))


def test_disabled_account_has_no_way_in(world: World) -> None:
    holder = Holder(world.join("Bob"))
    update_row(world.box.db, "UPDATE user SET disabled_at = 1 WHERE public_id = ?", holder.person.id)
    expect_error(holder.sign_in(world.box.client()), 401, "unauthorized")
