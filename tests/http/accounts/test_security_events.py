"""Security events: recorded for the account, in the log, in the audit log; and devices that stay known."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.docs.pages import ROOT, blocks
from tests.support.server import PASSWORD, Person, World, eventually, expect_error, ok, ticketbox
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.core.problems import NotFound

MONITORING = ROOT / "docs" / "operate" / "monitoring.md"
NEW = "a better one, longer"


def sign_in(client: httpx.Client, email: str, password: str = PASSWORD) -> httpx.Response:
    return client.post("/session", json={"email": email, "password": password})


def list_actions(person: Person) -> list[tuple[str, str]]:
    """What happened to a person's account, oldest first, without the sign-in of `Person`."""
    items = ok(person.web.get("/security-events", params={"limit": 100}))["items"]
    return [(each["action"], each["outcome"]) for each in reversed(items)][1:]


def test_security_events_list_what_happened_to_the_account(world: World) -> None:
    bob = Person(world.box, "Bob")
    browser = world.box.client(**{"User-Agent": "Elsewhere/1.0"})
    for _ in range(2):
        expect_error(sign_in(browser, bob.email, "wrong password"), 401, "unauthorized")
    eventually(lambda: ok(bob.web.get("/security-events"))["items"][0]["count"] == 2)
    session = ok(sign_in(browser, bob.email))["session_id"]
    ok(bob.web.delete(f"/sessions/{session}"))
    given = {"label": "CI", "scopes": ["read"]}
    invited = ok(world.owner.web.post(f"/companies/{world.company}/invitations", json={}))["secret"]
    ok(bob.web.post(f"/invitations/accept/{invited}", json={}))
    token = ok(bob.web.post("/tokens", json=given))["id"]
    ok(bob.web.delete(f"/tokens/{token}"))
    ok(bob.web.post("/profile/password", json={"current_password": PASSWORD, "new_password": NEW}))
    ok(bob.web.patch("/profile", json={"email": f"x{bob.email}", "name": "Robert"}))
    assert list_actions(bob) == [
        ("sign_in", "failed"), ("sign_in", "done"), ("sign_out", "done"),
        ("token_create", "done"), ("token_revoke", "done"), ("password_change", "done"), ("address_change", "done"),
    ]  # fmt: skip
    items = ok(bob.web.get("/security-events"))["items"]
    changed, _, revoked, created, *_ = items
    assert changed["data"] == {"from": bob.email, "to": f"x{bob.email}"}
    assert (created["data"]["token_id"], created["data"]["label"]) == (token, "CI")
    assert revoked["address"] == bob.web.headers["x-forwarded-for"]
    refused, entered = items[-2], items[-3]
    assert (refused["count"], refused["via"], refused["user_agent"]) == (2, "web", "Elsewhere/1.0")
    assert refused["address"] == entered["address"] == browser.headers["x-forwarded-for"]
    assert entered["data"] == {"session_id": session, "new_device": True}
    # Pages continue, and nobody else's events are among them.
    first = ok(bob.web.get("/security-events", params={"limit": 3}))
    rest = ok(bob.web.get("/security-events", params={"limit": 100, "cursor": first["next_cursor"]}))
    assert first["items"] + rest["items"] == items
    assert ("sign_in", "failed") not in list_actions(world.owner)
    assert "tok_" not in str(items)


def test_audit_log_shows_admins_changes_of_members_accounts(world: World) -> None:
    bob = world.join("Bob")
    ok(bob.web.post("/profile/password", json={"current_password": PASSWORD, "new_password": NEW}))
    ok(bob.web.patch("/profile", json={"email": f"x{bob.email}"}))
    listed = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"][:2]
    assert [each["type"] for each in listed] == ["account.address_changed", "account.password_changed"]
    assert {each["data"]["user_id"] for each in listed} == {bob.id}
    assert bob.web.headers["x-forwarded-for"] not in str(listed)
    expect_error(bob.web.get(f"/companies/{world.company}/audit"), 403, "forbidden")
    assert not [each for each in ok(world.api.get("/events"))["items"] if each["type"].startswith("account.")]


def test_operator_reads_security_events_and_leaves_them(world: World) -> None:
    run_operation(world.box.db, "set_password", {"user": world.owner.email, "password": NEW})
    run_operation(world.box.db, "disable_user", {"user": world.owner.email})
    run_operation(world.box.db, "disable_user", {"user": world.owner.email, "enable": True})
    shown = ticketbox("user", "events", world.owner.email, db=world.box.db)
    assert [line.split()[1:] for line in shown.stdout.splitlines()[:3]] == [
        ["account_enable", "done", "-", "cli"], ["account_disable", "done", "-", "cli"],
        ["password_change", "done", "-", "cli"],
    ]  # fmt: skip
    with pytest.raises(NotFound):
        run_operation(world.box.db, "list_account_events", {"user": "nobody@example.org"})


@pytest.mark.long
def test_documented_filter_finds_refused_sign_ins_only(world: World, tmp_path: Path) -> None:
    filter_, mark = tmp_path / "ticketbox.conf", world.box.log_size()
    filter_.write_text(blocks(MONITORING, "ini")[0])
    guesser, owner, forger = world.box.client(), world.box.client(), world.box.client()
    address = guesser.headers["x-forwarded-for"]
    ok(sign_in(owner, world.owner.email))
    expect_error(sign_in(guesser, world.owner.email, "wrong password"), 401, "unauthorized")
    expect_error(sign_in(guesser, "nobody@example.org", "wrong password"), 401, "unauthorized")
    victim = owner.headers["x-forwarded-for"]
    forged = f"info security action=sign_in outcome=failed address={victim} "
    forger.get(f"/{forged}")
    forger.get(f"/x%0A2026-01-01T00:00:00.000Z {forged}")
    sign_in(forger, f"x\n2026-01-01T00:00:00.000Z {forged}@x", forged)
    world.box.client(**{"User-Agent": forged.strip()}).get("/me")
    forger.get("/me")
    eventually(lambda: world.box.log_after(mark).count("path=/api/v1/me ") == 2)
    lines = world.box.log_after(mark)
    found = find_addresses(filter_.read_text(), lines)
    assert found == [address, address]
    assert f"user={world.owner.id}" in lines
    assert "nobody@example.org" not in lines
    journal = "".join(f"{line[:24]} host ticketbox[7]: {line}\n" for line in lines.splitlines())
    assert find_addresses(filter_.read_text(), journal) == [address, address]
    if shutil.which("fail2ban-regex") is None:
        assert "CI" not in os.environ, "fail2ban isn't installed"
        pytest.skip("fail2ban isn't installed: its expression was tried, but not the program")
    (tmp_path / "log").write_bytes(lines.encode("utf-8"))
    asked = ["fail2ban-regex", "--out", "ip", str(tmp_path / "log"), str(filter_)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [address, address], done.stdout + done.stderr


def find_addresses(filter_: str, lines: str) -> list[str]:
    """The addresses that the filter finds, as fail2ban does: the time is cut out before the expression is applied."""
    parsed = configparser.RawConfigParser()
    parsed.read_string(filter_)
    expression = re.compile(parsed["Definition"]["failregex"].replace("<ADDR>", r"(?P<address>[0-9a-fA-F.:]+)"))
    rests = [re.sub(r"^\d{4}-\d\d-\d\dT[\d:.]+Z", "", line) for line in lines.splitlines()]
    rests = [re.sub(r"(?<=\]: )\d{4}-\d\d-\d\dT[\d:.]+Z ", "", rest) for rest in rests]
    return [match["address"] for rest in rests if (match := expression.match(rest))]


def exhaust_attempts(world: World, email: str, headers: dict[str, str]) -> None:
    """Guess until the right password would be refused too."""
    guesser = world.box.client(**headers)
    while sign_in(guesser, email, "wrong password").status_code == 401:
        pass
    expect_error(sign_in(guesser, email), 429, "rate_limited")


def test_known_device_signs_in_whatever_others_guess(exact_world: World) -> None:
    """From the device's own network, and from others; the cookie outlasts the session."""
    browser, email = exact_world.box.client(), exact_world.owner.email
    ok(sign_in(browser, email))
    ok(browser.delete("/session"))
    home = {"X-Forwarded-For": browser.headers["x-forwarded-for"]}
    exhaust_attempts(exact_world, email, home)
    ok(sign_in(browser, email))
    elsewhere = exact_world.box.client(Cookie=device_cookie(exact_world, browser))
    ok(sign_in(elsewhere, email))


def device_cookie(world: World, browser: httpx.Client) -> str:
    """The cookie by which a browser is known after signing out."""
    name = f"{world.box.cookie}-device"
    return f"{name}={browser.cookies[name]}"


@pytest.mark.long
def test_device_helps_only_its_own_account_with_its_newest_secret(exact_world: World) -> None:
    eve, browser, email = Person(exact_world.box, "Eve"), exact_world.box.client(), exact_world.owner.email
    ok(sign_in(browser, email))
    first = browser.cookies[f"{exact_world.box.cookie}-device"]
    ok(sign_in(browser, email))
    planted = exact_world.box.client()
    ok(sign_in(planted, eve.email))
    network = {"X-Forwarded-For": planted.headers["x-forwarded-for"]}
    exhaust_attempts(exact_world, email, network)
    for secret in (first, planted.cookies[f"{exact_world.box.cookie}-device"], "tok_nonsense", "x"):
        refused = exact_world.box.client(**network, Cookie=f"{exact_world.box.cookie}-device={secret}")
        expect_error(sign_in(refused, email), 429, "rate_limited")
    known = exact_world.box.client(**network, Cookie=device_cookie(exact_world, browser))
    ok(sign_in(known, email))


@pytest.mark.long
def test_new_password_makes_other_devices_unknown(exact_world: World) -> None:
    other, email = exact_world.box.client(), exact_world.owner.email
    ok(sign_in(other, email))
    here = exact_world.box.client()
    ok(sign_in(here, email))
    ok(here.post("/profile/password", json={"current_password": PASSWORD, "new_password": NEW}))
    network = {"X-Forwarded-For": "203.0.113.9"}
    exhaust_attempts(exact_world, email, network)
    stale = exact_world.box.client(**network, Cookie=device_cookie(exact_world, other))
    expect_error(sign_in(stale, email, NEW), 429, "rate_limited")
    known = exact_world.box.client(**network, Cookie=device_cookie(exact_world, here))
    ok(sign_in(known, email, NEW))


def test_device_cookie_is_protected_from_scripts(world: World) -> None:
    _, cookie = sign_in(world.box.client(), world.owner.email).headers.get_list("set-cookie")
    assert cookie.startswith(f"{world.box.cookie}-device=tok_")
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=31536000"} <= set(cookie.split("; "))
