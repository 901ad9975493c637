"""The password again: for tokens, owners and the address, in a session that entered it too long ago."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.authenticator import Phone
from tests.support.oauth_app import App, browser_of
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, World, eventually, expect_error, ok

EXPIRE = """
UPDATE credential SET confirmed_at = confirmed_at - 960000 WHERE user_id = (SELECT id FROM user WHERE public_id = ?)
"""
Call = Callable[[World, dict[str, str]], httpx.Response]


def expire_confirmation(world: World) -> None:
    """Let the owner's password be entered sixteen minutes ago."""
    update_row(world.box.db, EXPIRE, world.owner.id)


def create_token(world: World, more: dict[str, str]) -> httpx.Response:
    return world.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"], **more})


def change_address(world: World, more: dict[str, str]) -> httpx.Response:
    return world.owner.web.patch("/profile", json={"email": f"x{world.owner.email}", **more})


def invite_owner(world: World, more: dict[str, str]) -> httpx.Response:
    return world.owner.web.post(f"/companies/{world.company}/invitations", json={"role": "owner", **more})


def invite_admin(world: World, more: dict[str, str]) -> httpx.Response:
    return world.owner.web.post(f"/companies/{world.company}/invitations", json={"role": "admin", **more})


def promote_member(world: World, more: dict[str, str]) -> httpx.Response:
    members = f"/companies/{world.company}/members"
    (bob,) = [each["id"] for each in ok(world.owner.web.get(members))["items"] if each["name"] == "Bob"]
    return world.owner.web.patch(f"{members}/{bob}", json={"role": "admin", **more})


@pytest.mark.parametrize("call", [create_token, change_address, invite_owner, invite_admin, promote_member])
def test_password_is_required_again_for_what_gives_access(world: World, call: Call) -> None:
    world.join("Bob")
    expire_confirmation(world)
    audit = f"/companies/{world.company}/audit"
    before = ok(world.owner.web.get(audit))["items"]
    refused = expect_error(call(world, {}), 403, "password_required")
    assert "/session/confirmation" in refused["detail"]
    expect_error(call(world, {"current_password": "wrong password"}), 403, "forbidden")
    assert ok(world.owner.web.get(audit))["items"] == before
    ok(call(world, {"current_password": PASSWORD}))


def test_confirmed_password_counts_for_fifteen_minutes_in_one_session(world: World) -> None:
    expire_confirmation(world)
    other = world.box.client()
    ok(other.post("/session", json={"email": world.owner.email, "password": PASSWORD}))
    path = "/session/confirmation"
    expect_error(create_token(world, {}), 403, "password_required")
    expect_error(world.owner.web.post(path, json={"current_password": "wrong"}), 403, "forbidden")
    expect_error(create_token(world, {}), 403, "password_required")
    assert ok(world.owner.web.post(path, json={"current_password": PASSWORD}))["confirmed_until"]
    ok(create_token(world, {}))
    expire_confirmation(world)
    expect_error(create_token(world, {}), 403, "password_required")
    expect_error(other.post("/tokens", json={"label": "x", "scopes": ["read"]}), 403, "password_required")
    events: list[Any] = []

    def is_recorded() -> bool:
        events[:] = ok(world.owner.web.get("/security-events"))["items"]
        return ["password_check", "failed"] in [[each["action"], each["outcome"]] for each in events]

    eventually(is_recorded)
    assert ["password_check", "done"] in [[each["action"], each["outcome"]] for each in events]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/session/confirmation", {}),
        pytest.param("/profile/password", {"new_password": "a better one, longer"}, marks=pytest.mark.long),
        pytest.param("/tokens", {"label": "x", "scopes": ["read"]}, marks=pytest.mark.long),
    ],
)
def test_second_factor_is_required_with_the_password(world: World, path: str, body: dict[str, Any]) -> None:
    phone = Phone(world.owner)
    other = Phone(world.join("Bob"))
    expire_confirmation(world)

    def call(**more: str) -> httpx.Response:
        return world.owner.web.post(path, json={**body, **more})

    first = phone.recovery_codes[0]
    expect_error(call(current_password="wrong password", code=first), 403, "forbidden")
    expect_error(call(current_password=PASSWORD), 403, "second_factor_required")
    for wrong in "000000", other.recovery_codes[0]:
        expect_error(call(current_password=PASSWORD, code=wrong), 403, "wrong_code")
    expect_error(create_token(world, {}), 403, "password_required")
    code = phone.show_code()
    ok(call(current_password=PASSWORD, code=code))
    expect_error(call(current_password=body.get("new_password", PASSWORD), code=code), 403, "wrong_code")
    ok(call(current_password=body.get("new_password", PASSWORD), code=first))


@pytest.mark.long
def test_codes_for_a_confirmation_are_limited(exact_world: World) -> None:
    phone = Phone(exact_world.owner)
    expire_confirmation(exact_world)
    path = "/session/confirmation"
    wrong = {"current_password": PASSWORD, "code": "000000"}
    for _ in range(5):
        expect_error(exact_world.owner.web.post(path, json=wrong), 403, "wrong_code")
    body = {"current_password": PASSWORD, "code": phone.show_code()}
    refused = expect_error(exact_world.owner.web.post(path, json=body), 429, "rate_limited")
    assert refused["retry_after"] >= 1
    expect_error(create_token(exact_world, {}), 403, "password_required")


def test_owner_is_removed_only_by_a_session_that_confirmed_the_password(world: World) -> None:
    carl = world.join("Carl", "owner")
    path = f"/companies/{world.company}/members/{carl.id}"
    expire_confirmation(world)
    expect_error(world.owner.web.delete(path), 403, "password_required")
    expect_error(world.owner.web.patch(path, json={"role": "member"}), 403, "password_required")
    ok(world.owner.web.post("/session/confirmation", json={"current_password": PASSWORD}))
    assert world.owner.web.delete(path).status_code == 204


def test_everything_else_needs_no_password_again(world: World) -> None:
    bob = world.join("Bob")
    token = ok(create_token(world, {}))["id"]
    company = f"/companies/{world.company}"
    admin = ok(world.owner.web.post(f"{company}/invitations", json={"role": "admin"}))["id"]
    expire_confirmation(world)
    ok(world.owner.web.patch("/profile", json={"name": "Anna", "email": world.owner.email.upper()}))
    ok(world.owner.web.patch(f"{company}/members/{bob.id}", json={"role": "viewer"}))
    member = ok(world.owner.web.post(f"{company}/invitations", json={"role": "member"}))["id"]
    for invitation in (admin, member):
        ok(world.owner.web.delete(f"/invitations/{invitation}"))
    ok(world.owner.web.delete(f"/tokens/{token}"))
    ok(world.owner.web.delete(f"{company}/members/{bob.id}"))


def test_renewed_session_is_no_more_confirmed_than_the_one_before(world: World) -> None:
    """Accepting an invitation replaces the session, without a password: fourteen minutes stay fourteen minutes."""
    path = f"/companies/{world.company}/invitations"
    bob = world.join("Bob")
    update_row(world.box.db, EXPIRE.replace("960000", "840000"), bob.id)
    ok(world.owner.web.delete(f"/companies/{world.company}/members/{bob.id}"))
    secret = ok(world.owner.web.post(path, json={}))["secret"]
    ok(bob.web.post(f"/invitations/accept/{secret}", json={}))
    ok(bob.web.post("/tokens", json={"label": "x", "scopes": ["read"]}))
    update_row(world.box.db, EXPIRE.replace("960000", "120000"), bob.id)
    expect_error(bob.web.post("/tokens", json={"label": "x", "scopes": ["read"]}), 403, "password_required")


def test_app_is_connected_only_after_the_password_is_entered_again(world: World) -> None:
    app = App(world.box)
    expire_confirmation(world)
    page = app.ask(browser_of(world.owner))
    assert "<h1>Sign in</h1>" in page.text
    assert world.owner.email in page.text
    assert 'name="handle"' not in page.text


def test_password_is_required_again_for_what_keeps_sending_or_accepting_data(world: World) -> None:
    """Addresses that events go to, secrets that deliveries and identities are signed with, and gates turned off."""
    web, project = world.owner.web, f"/projects/{world.project}"
    webhooks, keys = f"/companies/{world.company}/webhooks", f"{project}/report-keys"
    origins = ["https://shop.example"]
    shop, other = "https://hooks.example/a", "https://hooks.example/b"
    webhook = ok(web.post(webhooks, json={"url": shop, "name": "Build"}))["webhook"]["id"]
    hook = ok(web.post(f"{project}/git-hooks", json={"name": "shop/web"}))["git_hook"]["id"]
    key = ok(web.post(keys, json={"kind": "script", "name": "Shop", "origins": origins}))["id"]
    off = ok(web.post(keys, json={"kind": "link", "name": "Form"}))["id"]
    ok(web.patch(f"/report-keys/{off}", json={"enabled": False}))
    ok(web.patch(project, json={"verification": True, "plan_approval": True}))
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", webhooks, {"url": shop, "name": "Second"}),
        ("PATCH", f"/webhooks/{webhook}", {"url": other}),
        ("POST", f"/webhooks/{webhook}/rotate", {}),
        ("POST", f"{project}/git-hooks", {"name": "shop/api"}),
        ("POST", f"/git-hooks/{hook}/rotate", {}),
        ("POST", keys, {"kind": "link", "name": "Page"}),
        ("PATCH", f"/report-keys/{key}", {"origins": ["https://evil.example"]}),
        ("PATCH", f"/report-keys/{off}", {"enabled": True}),
        ("POST", f"/report-keys/{key}/rotate", {}),
        ("POST", f"/report-keys/{key}/identity-secret", {}),
        ("PATCH", project, {"verification": False}),
        ("PATCH", project, {"name": "New name", "plan_approval": False}),
    ]
    expire_confirmation(world)
    for method, path, body in calls:
        expect_error(web.request(method, path, json=body), 403, "password_required")
    # what changes none of these needs no password
    ok(web.patch(f"/webhooks/{webhook}", json={"url": shop, "name": "Renamed"}))
    ok(web.patch(f"/report-keys/{key}", json={"name": "Renamed", "origins": origins, "enabled": True}))
    ok(web.patch(project, json={"name": "Renamed", "verification": True, "done_approval": True}))
    ok(web.post("/session/confirmation", json={"current_password": PASSWORD}))
    for method, path, body in calls:
        ok(web.request(method, path, json=body))
