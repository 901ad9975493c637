"""Companies that require a second factor, and owners who reset a lost one."""

import html
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.support.authenticator import OF_USER, PATH, Phone, compute_current_code, find_field
from tests.support.oauth_app import App, browser_of
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, Person, World, expect_error, ok, run_beside
from ticketbox.domain.core.access.scopes import Access
from ticketbox.operations.catalogue import load_registry

REQUIRE = "UPDATE company SET second_factor_required = 1 WHERE public_id = ?"
UNCONFIRM = f"UPDATE credential SET confirmed_at = 0 {OF_USER}"
SET_UP = {
    "get_sign_in_methods", "start_second_factor", "enable_second_factor", "confirm_password", "delete_session",
    "start_passkey", "add_passkey",
}  # fmt: skip


def require_factor(world: World) -> None:
    update_row(world.box.db, REQUIRE, world.company)


def reset_path(world: World, person: Person) -> str:
    return f"/companies/{world.company}/members/{person.id}/second-factor"


def test_session_without_a_required_factor_can_only_set_it_up(world: World) -> None:
    bob = world.join("Bob")
    agent = bob.client("tickets:write")
    browser = browser_of(bob)
    require_factor(world)
    refused = expect_error(bob.web.get("/me"), 401, "unauthorized")
    assert "requires a second factor" in refused["detail"]
    expect_error(bob.web.post("/tokens", json={"label": "x", "scopes": ["read"]}), 401, "unauthorized")
    assert browser.get("/inbox").headers["location"].startswith("/signin")
    ok(agent.get("/me"))
    form = {"email": bob.email, "password": PASSWORD, "next": "/inbox"}
    signed_in = browser.post("/signin", data=form)
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/second-factor?next=%2Finbox")
    assert "requires a second factor" in browser.get("/second-factor").text
    client = world.box.client()
    answer = ok(client.post("/session", json={"email": bob.email, "password": PASSWORD}))
    assert answer["second_factor_missing"] is True
    expect_error(client.get("/companies"), 401, "unauthorized")
    secret = ok(client.post(PATH, json={}))["secret"]
    ok(client.post(f"{PATH}/enable", json={"code": compute_current_code(secret)}))
    assert ok(client.get("/me"))["user"]["id"] == bob.id


@pytest.mark.long
def test_no_session_operation_works_without_the_required_factor(world: World) -> None:
    """What people need to set the factor up is a short list; everything else is refused before its input is read."""
    allowed = {each.name for each in load_registry() if each.without_factor}
    assert allowed == SET_UP
    bob = world.join("Bob")
    require_factor(world)
    tried = 0
    for operation in load_registry():
        if operation.scope is Access.PUBLIC or operation.name in SET_UP or operation.live:
            continue
        for route in operation.routes:
            path = route.path
            for name in route.parameters:
                path = path.replace(f"{{{name}}}", "t-00000000000")
            answer = bob.web.request(route.method, path)
            assert answer.status_code == 401, (operation.name, answer.text)
            tried += 1
    assert tried > 100


@pytest.mark.long
def test_required_set_up_returns_to_the_app_that_asked(world: World) -> None:
    bob = world.join("Bob")
    app, browser = App(world.box), browser_of(bob)
    require_factor(world)
    then = find_field(app.ask(browser), "next")
    assert then.startswith("/oauth/authorize?")
    signed_in = browser.post("/signin", data={"email": bob.email, "password": PASSWORD, "next": then})
    page = browser.get(signed_in.headers["location"])
    assert find_field(page, "next") == then
    shown = browser.post("/second-factor", data={"action": "start", "next": then})
    uri = find_field(shown, "uri")
    code = compute_current_code(uri.partition("secret=")[2].partition("&")[0])
    form = {"action": "enable", "uri": uri, "code": code, "next": find_field(shown, "next")}
    saved = re.search(r'class="button" href="([^"]+)"', browser.post("/second-factor", data=form).text)
    assert saved is not None
    assert 'name="handle"' in browser.get(html.unescape(saved[1])).text
    browser.cookies.clear()
    away = browser.get("/second-factor", params={"next": then}).headers["location"]
    assert parse_qsl(urlsplit(away).query) == [("next", f"/second-factor?{urlencode({'next': then})}")]
    foreign = browser_of(bob).get("/second-factor", params={"next": "//evil.example/"})
    assert "evil.example" not in foreign.text


def test_only_owners_see_who_lacks_a_second_factor(world: World) -> None:
    bob, carl = Phone(world.join("Bob")).person, world.join("Carl", "admin")
    members = f"/companies/{world.company}/members"

    def list_lacking(person: Person) -> list[bool | None]:
        return [each["second_factor_missing"] for each in ok(person.web.get(members))["items"]]

    assert list_lacking(world.owner) == [True, False, True]
    assert list_lacking(carl) == list_lacking(bob) == [None, None, None]
    change = {"role": "viewer"}
    assert ok(carl.web.patch(f"{members}/{bob.id}", json=change))["second_factor_missing"] is None
    assert ok(world.owner.web.patch(f"{members}/{bob.id}", json=change))["second_factor_missing"] is False


@pytest.mark.long
def test_owner_with_a_factor_requires_it_and_nobody_turns_it_off_then(world: World) -> None:
    company = f"/companies/{world.company}"
    refused = expect_error(world.owner.web.patch(company, json={"second_factor_required": True}), 409, "conflict")
    assert "your own second factor" in refused["detail"]
    phone = Phone(world.owner)
    admin = world.join("Carl", "admin")
    expect_error(admin.web.patch(company, json={"second_factor_required": True}), 403, "forbidden")
    assert ok(phone.web.patch(company, json={"second_factor_required": True}))["second_factor_required"] is True
    expect_error(admin.web.get("/me"), 401, "unauthorized")
    ok(phone.web.get("/me"))
    expect_error(phone.web.post(f"{PATH}/disable", json={"code": phone.recovery_codes[0]}), 409, "conflict")
    ok(phone.web.patch(company, json={"second_factor_required": False}))
    ok(admin.web.get("/me"))
    ok(phone.web.post(f"{PATH}/disable", json={"code": phone.recovery_codes[1]}))
    changes = [each["data"] for each in ok(phone.web.get(f"{company}/audit"))["items"]]
    assert {"second_factor_required": False} in changes


@pytest.mark.long
def test_factor_is_reset_only_by_an_owner_of_all_companies(world: World) -> None:
    phone = Phone(world.join("Bob"))
    owner, path = world.owner.web, reset_path(world, phone.person)
    update_row(world.box.db, UNCONFIRM, world.owner.id)
    expect_error(owner.delete(path), 403, "password_required")
    ok(owner.post("/session/confirmation", json={"current_password": PASSWORD}))
    expect_error(world.join("Carl", "admin").web.delete(path), 403, "forbidden")
    expect_error(World(world.box).owner.web.delete(path), 404, "not_found")
    expect_error(owner.delete(reset_path(world, world.owner)), 403, "forbidden")
    expect_error(owner.delete(reset_path(world, world.join("Dan"))), 404, "not_found")
    elsewhere = ok(phone.web.post("/companies", json={"name": "Bob's own"}))["id"]
    refused = expect_error(owner.delete(path), 403, "forbidden")
    assert "that you don't own" in refused["detail"]
    ok(phone.web.delete(f"/companies/{elsewhere}"))
    ok(owner.delete(path))
    expect_error(phone.web.get("/me"), 401, "unauthorized")
    ok(phone.sign_in())
    (event,) = [
        each for each in ok(owner.get(f"/companies/{world.company}/audit"))["items"]
        if each["type"] == "account.second_factor_disabled"
    ]  # fmt: skip
    assert event["data"]["user_id"] == phone.person.id
    count = "SELECT count(*) FROM recovery_code WHERE user_id = (SELECT id FROM user WHERE public_id = ?)"
    assert run_beside(world.box.db, lambda tx: tx.fetch_value(count, (phone.person.id,))) == 0
