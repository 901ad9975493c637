"""Somebody wants to know who has an account, from what the server answers and how long it takes."""

import itertools
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.operation_cases import draw_address
from tests.support.server import PASSWORD, Box, Person, World, eventually, ok
from ticketbox.cli.core.operations import run_operation

pytestmark = pytest.mark.long

TAKEN_A_DAY, TAKEN_TOGETHER, INVITED_A_DAY = 3, 10, 10  # docs/operate/security.md, "Passwords"
CHANGING = {"date", "x-request-id", "ratelimit", "set-cookie", "content-length", "retry-after", "retry_after"}


def describe(answer: httpx.Response, *varying: str) -> tuple[Any, ...]:
    """All that an answer shows, without what differs in any two answers and without these words."""
    text = answer.text
    for word in varying:
        text = re.sub(re.escape(word), "…", text, flags=re.IGNORECASE)
    text = re.sub(r"\b[a-z]+_[0-9a-z]{12,}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{5}\b", "…", text)
    text = re.sub(r'"remaining":\d+', "…", text)
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in CHANGING)
    return answer.status_code, text, headers, "set-cookie" in answer.headers


def spell_taken(victim: Person) -> list[str]:
    """The address of an account, as an attacker may write it."""
    return [victim.email, victim.email.upper(), victim.email.title()]


@pytest.mark.parametrize("spelling", [0, 1, 2])
def test_attack_by_asking_for_addresses_shows_the_same_for_all(mailed: Box, spelling: int) -> None:
    """In the answer, the profile, the security events, the companies' audit logs and the budgets."""
    victim = Person(mailed, "Vic")
    taken, free = spell_taken(victim)[spelling], spell_taken(victim)[spelling].replace("@", "x@")
    shown: list[list[Any]] = []
    for email in (taken, free):
        eve = World(mailed, "Eve")
        answers = [eve.owner.web.patch("/profile", json={"email": email})]
        paths = ("/profile", "/security-events", f"/companies/{eve.company}/audit", "/me", "/sessions")
        answers += [eve.owner.web.get(path) for path in paths]
        answers += [eve.owner.web.patch("/profile", json={"email": email}) for _ in range(6)]
        own = (email, eve.owner.email, eve.owner.web.headers["X-Forwarded-For"], eve.company, eve.owner.id)
        shown.append([describe(each, *own) for each in answers])
    assert shown[0] == shown[1]


def assert_takes_the_same_time(calls: dict[str, Callable[[int], httpx.Response]], turns: int) -> None:
    """Alternate the calls until the fastest answer of each takes less than twice as long as that of any other.

    What else the machine does makes an answer slower, but never faster. Fails if so many turns don't show it.
    """
    fastest = dict.fromkeys(calls, float("inf"))
    for turn in range(turns):
        for name, call in calls.items():
            begun = time.perf_counter()
            call(turn)
            fastest[name] = min(fastest[name], time.perf_counter() - begun)
        if turn >= 5 and max(fastest.values()) < 2 * min(fastest.values()):
            return
    raise AssertionError(f"seconds of the fastest answers: {fastest}")


def test_attack_by_asking_for_addresses_takes_the_same_time_for_all(mailed: Box) -> None:
    victims = [Person(mailed, "Vic") for _ in range(24)]
    people = {name: [Person(mailed, "Eve") for _ in victims] for name in ("taken", "free")}

    def ask(name: str, turn: int) -> httpx.Response:
        email = victims[turn].email if name == "taken" else victims[turn].email.replace("@", "x@")
        return people[name][turn].web.patch("/profile", json={"email": email})

    assert_takes_the_same_time({name: lambda turn, name=name: ask(name, turn) for name in people}, len(victims))


def ask_for_taken(person: Person, email: str) -> httpx.Response:
    """Change to an address that another account has; return the answer once the refusal is recorded."""

    def count() -> int:
        items = ok(person.web.get("/security-events"))["items"]
        return sum(each["count"] for each in items if (each["action"], each["outcome"]) == ("address_change", "failed"))

    before = count()
    answer = person.web.patch("/profile", json={"email": email})
    if answer.status_code == 409:
        eventually(lambda: count() > before)
    return answer


def test_attack_by_changing_to_taken_addresses_learns_three_a_day(world: World) -> None:
    """In any spelling, over several sessions; then free addresses are refused like taken ones."""
    eve, statuses = Person(world.box, "Eve"), []
    for _ in range(2):
        eve.begin_session()
        statuses += [ask_for_taken(eve, each).status_code for each in spell_taken(Person(world.box, "Vic"))]
    assert statuses == [409] * TAKEN_A_DAY + [429] * 3
    free = Person(world.box, "Vic").email.replace("@", "x@")
    assert eve.web.patch("/profile", json={"email": free}).status_code == 429


def test_attack_by_changing_to_many_taken_addresses_together_learns_ten(world: World) -> None:
    eve = Person(world.box, "Eve")
    victims = [Person(world.box, "Vic").email for _ in range(40)]
    with ThreadPoolExecutor(40) as pool:
        answers = pool.map(lambda email: eve.web.patch("/profile", json={"email": email}).status_code, victims)
    assert list(answers).count(409) <= TAKEN_TOGETHER


def accept(box: Box, secret: str, email: str, address: str) -> httpx.Response:
    """Accept an invitation as somebody without an account."""
    given = {"name": "Eve", "email": email, "password": PASSWORD}
    return box.client(**{"X-Forwarded-For": address}).post(f"/invitations/accept/{secret}", json=given)


@pytest.mark.parametrize("server", ["box", "mailed"])
@pytest.mark.parametrize("way", ["one invitation", "many invitations", "many companies"])
def test_attack_with_invitations_to_oneself_learns_few_addresses(
    request: pytest.FixtureRequest, server: str, way: str
) -> None:
    """Everybody with an account can create companies and invite to them, and try addresses with the links."""
    eve = World(request.getfixturevalue(server), "Eve")
    victims = [Person(eve.box, "Vic").email for _ in range(30)]
    secrets: list[str] = []
    for number in range(1 if way == "one invitation" else len(victims)):
        company = eve.company
        if way == "many companies":
            company = ok(eve.owner.web.post("/companies", json={"name": f"Company {number}"}))["id"]
        secrets.append(ok(eve.owner.web.post(f"/companies/{company}/invitations", json={}))["secret"])
    statuses = [
        accept(eve.box, secret, email, draw_address()).status_code
        for secret, email in zip(itertools.cycle(secrets), victims, strict=False)
    ]
    assert statuses == [409] * INVITED_A_DAY + [429] * (len(victims) - INVITED_A_DAY)
    free = accept(eve.box, secrets[-1], f"x{victims[0]}", draw_address())
    assert free.status_code == 429, "free addresses are refused like taken ones"
    events = ok(eve.owner.web.get("/security-events"))["items"]
    outcomes = [(each["action"], each["outcome"]) for each in events for _ in range(each["count"])]
    assert outcomes.count(("invitation_accept", "failed")) == INVITED_A_DAY
    person = Person(eve.box, "Bob")
    ok(person.web.post(f"/invitations/accept/{secrets[-1]}", json={}))


def test_attack_with_one_invitation_by_many_callers_learns_few_addresses(world: World) -> None:
    victims = [Person(world.box, "Vic").email for _ in range(30)]
    secret = ok(world.owner.web.post(f"/companies/{world.company}/invitations", json={}))["secret"]
    with ThreadPoolExecutor(30) as pool:
        answers = pool.map(lambda email: accept(world.box, secret, email, draw_address()).status_code, victims)
    assert list(answers).count(409) <= INVITED_A_DAY


def test_attack_with_an_invitation_for_one_address_learns_no_other(world: World) -> None:
    given = {"email": f"x{world.owner.email}"}
    secret = ok(world.owner.web.post(f"/companies/{world.company}/invitations", json=given))["secret"]
    answers = [
        accept(world.box, secret, email, draw_address()) for email in (world.owner.email, f"y{world.owner.email}")
    ]
    assert describe(answers[0]) == describe(answers[1])
    assert answers[0].status_code == 400


def test_attack_by_inviting_addresses_shows_the_same_for_all(mailed: Box) -> None:
    victim = Person(mailed, "Vic")
    shown: list[list[Any]] = []
    for email in (victim.email, victim.email.replace("@", "x@")):
        eve = World(mailed, "Eve")
        path = f"/companies/{eve.company}/invitations"
        answers = [eve.owner.web.post(path, json={"email": email})]
        secret = answers[0].json()["secret"]
        answers += [eve.owner.web.get(path), eve.box.client().get(f"/invitations/accept/{secret}")]
        own = (email, eve.owner.email, eve.owner.web.headers["X-Forwarded-For"], eve.company, eve.owner.id, secret)
        shown.append([describe(each, *own) for each in answers])
    assert shown[0] == shown[1]


def open_page(box: Box, email: str, address: str) -> httpx.Response:
    """Sign in on the page."""
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": box.url, "X-Forwarded-For": address}
    return httpx.post(
        f"{box.url}/signin", data={"email": email, "password": "a wrong guess"}, headers=headers, verify=False
    )


def call_api(box: Box, email: str, address: str) -> httpx.Response:
    """Sign in over REST."""
    given = {"email": email, "password": "a wrong guess"}
    return box.client(**{"X-Forwarded-For": address}).post("/session", json=given)


@pytest.fixture
def accounts(world: World) -> dict[str, str]:
    """The addresses of an account, of one that is disabled, and of none."""
    disabled = Person(world.box, "Vic")
    run_operation(world.box.db, "disable_user", {"user": disabled.email})
    return {"known": world.owner.email, "disabled": disabled.email, "unknown": f"x{world.owner.email}"}


@pytest.mark.parametrize("sign_in", [open_page, call_api])
def test_attack_by_signing_in_shows_the_same_for_all(
    world: World, accounts: dict[str, str], sign_in: Callable[[Box, str, str], httpx.Response]
) -> None:
    answers = [describe(sign_in(world.box, email, draw_address()), email) for email in accounts.values()]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("sign_in", [open_page, call_api])
@pytest.mark.parametrize(("addresses", "limit"), [(1, 10), (40, 20)])
def test_attack_by_exhausting_limits_shows_the_same_for_all(
    world: World,
    accounts: dict[str, str],
    sign_in: Callable[[Box, str, str], httpx.Response],
    addresses: int,
    limit: int,
) -> None:
    """Accounts that don't exist are slowed down as much."""
    networks = {name: itertools.cycle([draw_address() for _ in range(addresses)]) for name in accounts}
    statuses: dict[str, list[int]] = {}
    for name, email in accounts.items():
        statuses[name] = [sign_in(world.box, email, next(networks[name])).status_code for _ in range(limit + 3)]
    assert all(each == [401] * limit + [429] * 3 for each in statuses.values()), statuses


def test_attack_by_timing_a_disabled_account_learns_nothing(world: World, accounts: dict[str, str]) -> None:
    """A hash takes many times what all the rest does."""
    calls = {
        name: lambda _, email=email: call_api(world.box, email, draw_address()) for name, email in accounts.items()
    }
    assert_takes_the_same_time(calls, 20)
