"""Somebody has a session without its password, or found it unattended, and wants the account."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.http.accounts.test_confirmation import expire_confirmation
from tests.http.events.test_email import find_address_link
from tests.support.mail_server import MailServer
from tests.support.mcp_client import modern
from tests.support.oauth_app import App
from tests.support.server import PASSWORD, Box, Person, World, expect_error, ok, ticketbox

pytestmark = pytest.mark.long

NEW = "a better one, longer"


@pytest.fixture(params=[False, True], ids=["without email", "with email"])
def victim(request: pytest.FixtureRequest) -> World:
    """Somebody whose session was stolen sixteen minutes after the password was entered."""
    world = World(request.getfixturevalue("mailed" if request.param else "box"), "Kass")
    expire_confirmation(world)
    return world


def read_addresses(person: Person) -> tuple[str, str | None]:
    """The address of an account, and the one that waits for its link."""
    profile = ok(person.web.get("/profile"))
    return profile["email"], profile["pending_email"]


def can_sign_in(box: Box, email: str, password: str = PASSWORD) -> bool:
    """Whether somebody with this address and password gets a session."""
    return box.client().post("/session", json={"email": email, "password": password}).status_code == 201


def test_attack_on_the_address_needs_the_password(victim: World) -> None:
    web, email = victim.owner.web, victim.owner.email
    new = f"eve-{email}"
    for more in ({}, {"current_password": None}, {"name": "Kass"}, {"mail": False}, {"code": "000000"}):
        expect_error(web.patch("/profile", json={"email": new, **more}), 403, "password_required")
    expect_error(web.patch("/profile", json={"email": new, "current_password": f"{PASSWORD} "}), 403, "forbidden")
    expect_error(web.patch("/profile", json={"email": new, "current_password": ""}), 400, "invalid_request")
    twice = f'{{"email": "{email}", "email": "{new}"}}'
    assert web.patch("/profile", content=twice, headers={"Content-Type": "application/json"}).status_code in {400, 403}
    assert read_addresses(victim.owner) == (email, None)


@pytest.mark.parametrize(
    ("letter", "lookalike"),
    [
        ("k", "\u212a"),
        ("s", "\u017f"),
        ("s", "\uff53"),
        (".", "\uff0e"),
        ("e", "e\u0301"),
        ("-", "\u00ad-"),
        ("a", "\u0430"),
    ],
)
def test_attack_with_another_spelling_of_the_address_needs_the_password(
    victim: World, letter: str, lookalike: str
) -> None:
    """The cases of an address are the same address; an address that only looks or folds alike is somebody else's."""
    spelling = victim.owner.email.replace(letter, lookalike, 1)
    for given in (spelling, spelling.upper(), spelling.title()):
        victim.owner.web.patch("/profile", json={"email": given})
        email, pending = read_addresses(victim.owner)
        assert (email.lower(), pending) == (victim.owner.email, None)
        assert email.isascii()


def test_attack_with_tokens_of_agents_and_apps_reaches_no_account(world: World) -> None:
    """Neither alone, nor beside a stolen session that lacks the password."""
    app = App(world.box).connect(world.owner, "read", "comments", "tickets:write", "tickets:assign")
    agent = world.owner.token("tickets:write", "tickets:assign")
    expire_confirmation(world)
    cookie = "; ".join(f"{each.name}={each.value}" for each in world.owner.web.cookies.jar)
    tries: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", "/profile", {"email": f"eve-{world.owner.email}", "current_password": PASSWORD}),
        ("PATCH", "/profile", {"name": "Eve"}),
        ("POST", "/profile/password", {"current_password": PASSWORD, "new_password": NEW}),
        ("POST", "/session/confirmation", {"current_password": PASSWORD}),
        ("POST", "/tokens", {"label": "x", "scopes": ["read"], "current_password": PASSWORD}),
        ("GET", "/profile", {}),
        ("GET", "/security-events", {}),
    ]
    for secret in (agent, app["access_token"]):
        for method, path, body in tries:
            for headers in ({}, {"Cookie": cookie}):
                answer = world.box.client(secret, **headers).request(method, path, json=body or None)
                assert answer.status_code in {400, 401, 403}, (method, path, answer.text)
    for name in ("update_profile", "change_password", "confirm_password", "create_token", "create_session"):
        answer = modern(world, "tools/call", {"name": name, "arguments": {}}, Authorization=f"Bearer {agent}")
        assert "error" in answer.json(), answer.text
    expect_error(world.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"]}), 403, "password_required")
    assert read_addresses(world.owner) == (world.owner.email, None)
    assert can_sign_in(world.box, world.owner.email)


def ask_for_new_address(person: Person, mail_server: MailServer) -> tuple[str, str]:
    """What somebody does at an unattended screen: ask for an address of theirs. Return it and the link."""
    new = f"eve-{person.email}"
    ok(person.web.patch("/profile", json={"email": new}))
    return new, find_address_link(mail_server, new)


def test_attack_that_waits_for_its_link_changes_nothing_meanwhile(mailed: Box, mail_server: MailServer) -> None:
    vic = Person(mailed, "Vic")
    new, link = ask_for_new_address(vic, mail_server)
    assert not can_sign_in(mailed, new)
    assert can_sign_in(mailed, vic.email)
    for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"):
        httpx.request(method, link)
    key = link.rpartition("/")[2]
    for wrong in (f"{link}x", link[:-1], link.swapcase(), link.replace("/address/", "/mail/"), f"{link}/{key}"):
        httpx.post(wrong, data={"wanted": "yes"})
    assert read_addresses(vic) == (vic.email, new)
    assert httpx.post(link).status_code == 200
    assert read_addresses(vic) == (new, None)
    assert can_sign_in(mailed, new)
    assert not can_sign_in(mailed, vic.email)


def change_password(vic: Person) -> None:
    """The owner takes the account back, in another session."""
    vic.begin_session()
    ok(vic.web.post("/profile/password", json={"current_password": PASSWORD, "new_password": NEW}))


def let_operator_set_password(vic: Person) -> None:
    """The owner lost the session as well, and asks the operator."""
    done = ticketbox("user", "set-password", vic.email, "--password-stdin", db=vic.box.db, stdin=NEW)
    assert done.returncode == 0, done.stderr
    ok(vic.web.post("/session", json={"email": vic.email, "password": NEW}))


def save_present_address(vic: Person) -> None:
    """The owner sees the address that waits, and saves the right one."""
    ok(vic.web.patch("/profile", json={"email": vic.email}))


@pytest.mark.parametrize("take_back", [change_password, let_operator_set_password, save_present_address])
def test_attack_that_waits_for_its_link_ends_when_the_owner_takes_the_account_back(
    mailed: Box, mail_server: MailServer, take_back: Any
) -> None:
    vic = Person(mailed, "Vic")
    _, link = ask_for_new_address(vic, mail_server)
    take_back(vic)
    assert httpx.get(link).status_code == httpx.post(link).status_code == 404
    assert read_addresses(vic) == (vic.email, None)


def test_attack_with_two_links_for_one_address_gets_it_once(mailed: Box, mail_server: MailServer) -> None:
    """Two accounts ask for one address, in two cases, and open both links together."""
    people = [Person(mailed, "Eve"), Person(mailed, "Vic")]
    new = f"new-{people[0].email}"
    links: list[str] = []
    for number, spelling in enumerate((new, new.upper())):
        ok(people[number].web.patch("/profile", json={"email": spelling}))
        links.append(find_address_link(mail_server, new, number + 1))
    with ThreadPoolExecutor(8) as pool:
        statuses = [each.status_code for each in pool.map(httpx.post, links * 4)]
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 404, 409}
    assert [read_addresses(person)[0].lower() for person in people].count(new) == 1
