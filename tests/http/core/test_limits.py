"""Budgets: a bucket for reads and one for writes for each token, and what slows guessing down (docs/use/limits.md)."""

import math
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.operation_cases import WRITING, Stage, draw_address
from tests.support.server import PASSWORD, Person, World, eventually, expect_error, ok, run_server
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.core.fairness.limits import MAX_WAIT_SECONDS, MAX_WAITING, BucketState, RateLimiter


def set_limits(world: World, reads: int | None = None, writes: int | None = None) -> None:
    """The company's own figures; small ones, so that a test soon gets there."""
    limits = {"reads_per_minute": reads, "writes_per_minute": writes}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))


def read_retry_after(answer: httpx.Response) -> int:
    """The seconds that a 429 says to wait: in both headers and in the body."""
    problem = expect_error(answer, 429, "rate_limited")
    assert problem["title"] == "rate limited"
    seconds = problem["retry_after"]
    assert answer.headers["retry_after"] == answer.headers["retry-after"] == str(seconds)
    assert isinstance(seconds, int)
    assert seconds >= 1
    return seconds


def state(answer: httpx.Response) -> dict[str, str]:
    """The RateLimit and RateLimit-Policy fields, taken apart."""
    policy, level = (answer.headers[name].split(";") for name in ("ratelimit-policy", "ratelimit"))
    assert policy[0] == level[0]
    return {"name": policy[0].strip('"'), **dict(part.split("=") for part in [*policy[1:], *level[1:]])}


def test_exhausted_reads_return_retry_after(world: World) -> None:
    set_limits(world, reads=5)
    client = world.owner.client("read")
    for left in (4, 3, 2, 1, 0):
        limit_state = state(client.get("/tickets"))
        assert (limit_state["name"], limit_state["q"], limit_state["w"]) == ("reads", "5", "60")
        assert limit_state["r"] == str(left)
    answer = client.get("/tickets")
    assert read_retry_after(answer) <= 12  # one call every 60 / 5 s
    assert state(answer)["r"] == "0"
    assert "5 reads per minute" in answer.json()["detail"]


def test_writes_have_a_separate_bucket(world: World) -> None:
    set_limits(world, reads=100, writes=3)
    client = world.owner.client(*WRITING)
    given = {"project_id": world.project, "title": "x"}
    for left in (2, 1, 0):
        limit_state = state(client.post("/tickets", json=given))
        assert (limit_state["name"], limit_state["r"]) == ("writes", str(left))
    assert 1 <= read_retry_after(client.post("/tickets", json=given)) <= 20
    answer = client.get("/tickets")
    assert len(ok(answer)["items"]) == 3
    assert state(answer)["name"] == "reads"


def test_budgets_of_others_are_unaffected(world: World) -> None:
    set_limits(world, reads=2)
    spent, fresh = world.owner.client("read"), world.owner.client("read")
    ok(spent.get("/tickets"))
    ok(spent.get("/tickets"))
    read_retry_after(spent.get("/tickets"))
    ok(fresh.get("/tickets"))
    ok(world.owner.web.get("/tickets"))


def test_failed_call_costs_one_but_missing_scope_is_free(world: World) -> None:
    set_limits(world, writes=3)
    client, reader = world.owner.client(*WRITING), world.owner.client("read")
    ticket = world.ticket()["id"]
    assert state(client.patch(f"/tickets/{ticket}", json={"title": ""}))["r"] == "2"
    assert (
        state(client.patch(f"/tickets/{ticket}", content=b"{", headers={"content-type": "application/json"}))["r"]
        == "1"
    )
    assert state(client.patch("/tickets/t-00000000", json={"title": "x"}))["r"] == "0"
    read_retry_after(client.patch(f"/tickets/{ticket}", json={"title": ""}))
    for _ in range(5):
        expect_error(reader.patch(f"/tickets/{ticket}", json={"title": "x"}), 403, "insufficient_scope")


def test_me_shows_budgets(world: World) -> None:
    set_limits(world, reads=10, writes=7)
    client = world.owner.client(*WRITING)
    ok(client.post("/tickets", json={"project_id": world.project, "title": "x"}))
    assert ok(client.get("/me"))["budgets"] == {
        "reads": {"limit": 10, "remaining": 9},
        "writes": {"limit": 7, "remaining": 6},
    }


def test_bulk_call_costs_one_write_per_ticket(world: World) -> None:
    tickets = [world.ticket(str(number))["id"] for number in range(5)]
    set_limits(world, writes=12)  # one comes back in 5 s
    client = world.owner.client(*WRITING)
    for path, given in (
        ("/tickets/bulk-move", {"column_id": world.columns[1]}),
        ("/tickets/bulk-assign", {"user_ids": ["me"]}),
    ):
        before = ok(client.get("/me"))["budgets"]["writes"]["remaining"]
        answer = client.post(path, json={**given, "ticket_ids": tickets})
        assert all(result["ok"] for result in ok(answer)["results"])
        assert before - int(state(answer)["r"]) in {4, 5}  # one may have come back meanwhile


def test_bulk_call_keeps_its_work_when_the_budget_runs_out(world: World) -> None:
    tickets = [world.ticket(str(number))["id"] for number in range(6)]
    set_limits(world, writes=4)
    client = world.owner.client(*WRITING)
    given = {"ticket_ids": tickets, "column_id": world.columns[2]}
    results = ok(client.post("/tickets/bulk-move", json=given))["results"]
    assert [each["ticket_id"] for each in results] == tickets
    assert [each["ok"] for each in results] == [True] * 4 + [False] * 2
    for each in results[4:]:
        assert (each["error"]["code"], each["error"]["status"]) == ("rate_limited", 429)
        assert each["error"]["retry_after"] >= 1
    places = {each["id"]: each["column_id"] for each in ok(world.owner.web.get("/tickets"))["items"]}
    assert [places[each] for each in tickets] == [world.columns[2]] * 4 + [world.columns[0]] * 2
    read_retry_after(client.post("/tickets/bulk-move", json=given))


def test_each_row_of_a_bulk_call_says_when_it_would_succeed(world: World) -> None:
    """At 20 writes per minute, the next one is available in 3 s, and each further one 3 s later."""
    made = [world.ticket(str(number))["id"] for number in range(30)]
    set_limits(world, writes=20)
    client = world.owner.client(*WRITING)
    given = {"ticket_ids": made, "column_id": world.columns[2]}
    results = ok(client.post("/tickets/bulk-move", json=given))["results"]
    waits = [each["error"]["retry_after"] for each in results if not each["ok"]]
    assert len(waits) >= 8
    for number, wait in enumerate(waits):
        assert 3 * number < wait <= 3 * (number + 1)
    assert f"try again in {waits[-1]} s" in results[-1]["error"]["detail"]


def test_bad_calls_from_an_address_never_hide_that_a_token_was_revoked(world: World) -> None:
    made = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    app = world.owner.client("read")
    ok(world.owner.web.delete(f"/tokens/{made['id']}"))
    address = app.headers["X-Forwarded-For"]
    revoked = world.box.client(made["secret"], **{"X-Forwarded-For": address})
    for _ in range(70):
        expect_error(revoked.get("/me"), 401, "unauthorized")
    guessing = world.box.client(generate_secret(), **{"X-Forwarded-For": address})
    until_slowed(lambda _: guessing.get("/me"), 401, 60)
    expect_error(revoked.get("/me"), 401, "unauthorized")
    ok(app.get("/me"))


def test_bucket_refills(world: World) -> None:
    """600 a minute are 10 a second: after Retry-After, the budget is available."""
    set_limits(world, reads=600)
    client = world.owner.client("read")
    for _ in range(600):
        if client.get("/me").status_code == 429:
            break
    answers = [client.get("/me") for _ in range(40)]
    waits = [read_retry_after(answer) for answer in answers if answer.status_code == 429]
    assert set(waits) <= {1}


def sign_in(client: httpx.Client, email: str, password: str) -> httpx.Response:
    return client.post("/session", json={"email": email, "password": password})


def until_slowed(attempt: Callable[[int], httpx.Response], status: int, after: int) -> int:
    """Try until it is slowed down: not before so many attempts, and not long after (a bucket refills meanwhile).

    Returns how many were answered.
    """
    for number in range(after * 10):
        answer = attempt(number)
        if answer.status_code == 429:
            read_retry_after(answer)
            assert number >= after
            return number
        assert answer.status_code == status, answer.text
    raise AssertionError(f"{after * 10} attempts weren't slowed down")


def expect_slowed(attempt: Callable[[], httpx.Response], status: int) -> None:
    """Expect that an empty bucket slows an attempt down; one in each second may still be answered."""
    for _ in range(20):
        answer = attempt()
        if answer.status_code == 429:
            read_retry_after(answer)
            return
        assert answer.status_code == status, answer.text
    raise AssertionError("20 attempts weren't slowed down")


@pytest.mark.long
def test_guessing_one_account_from_one_address_is_throttled(exact_world: World) -> None:
    client = exact_world.box.client()
    assert until_slowed(lambda _: sign_in(client, exact_world.owner.email, "wrong password"), 401, after=10) == 10
    read_retry_after(sign_in(client, exact_world.owner.email.upper(), PASSWORD))
    # Another account from there, and this account from elsewhere, aren't concerned.
    ok(sign_in(client, Person(exact_world.box, "Bob").email, PASSWORD))
    ok(sign_in(exact_world.box.client(), exact_world.owner.email, PASSWORD))


@pytest.mark.long
def test_guessing_from_many_addresses_is_throttled_and_never_locks_the_owner_out(exact_world: World) -> None:
    home = exact_world.owner.web.headers["x-forwarded-for"]
    assert (
        until_slowed(
            lambda _: sign_in(exact_world.box.client(), exact_world.owner.email, "wrong password"), 401, after=20
        )
        == 20
    )
    read_retry_after(sign_in(exact_world.box.client(), exact_world.owner.email, PASSWORD))
    ok(sign_in(exact_world.box.client(**{"X-Forwarded-For": home}), exact_world.owner.email, PASSWORD))


@pytest.mark.long
def test_guessing_many_accounts_from_one_address_is_throttled(exact_world: World) -> None:
    client = exact_world.box.client()
    tried = until_slowed(lambda number: sign_in(client, f"nobody-{number}@example.org", "wrong"), 401, after=30)
    assert tried == 30


def test_unknown_account_and_wrong_password_have_the_same_error(world: World) -> None:
    wrong = sign_in(world.box.client(), world.owner.email, "wrong password")
    unknown = sign_in(world.box.client(), "nobody@example.org", "wrong password")
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.text == unknown.text


def test_unknown_account_takes_as_long_as_a_wrong_password(world: World) -> None:
    """A hash takes many times what all the rest does; without one, half the time is far out of reach.

    Time is the server's own, so that it is the same on a busy machine.
    """

    def measure(email: str) -> float:
        before = world.box.processor_s
        for _ in range(5):
            sign_in(world.box.client(), email, "wrong password")
        return world.box.processor_s - before

    assert measure("nobody@example.org") > measure(world.owner.email) / 2


def test_guessing_tokens_is_throttled_but_valid_tokens_are_not(world: World) -> None:
    guesser = world.box.client()
    until_slowed(lambda _: guesser.get("/me", headers=bearer(generate_secret())), 401, after=60)
    expect_slowed(lambda: guesser.get("/me", headers=bearer("tok_nonsense")), 401)
    ok(guesser.get("/me", headers=bearer(world.owner.token("read"))))
    expect_error(world.box.client().get("/me", headers=bearer(generate_secret())), 401, "unauthorized")


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_guessing_invitation_links_is_throttled(world: World) -> None:
    client = world.box.client()
    until_slowed(lambda _: client.get(f"/invitations/accept/{generate_secret()}"), 404, after=60)


@pytest.mark.long
def test_guessing_the_current_password_is_throttled_per_account(exact_world: World) -> None:
    given = {"current_password": "wrong password", "new_password": "a better one"}
    mark, address = exact_world.box.log_size(), exact_world.owner.web.headers["x-forwarded-for"]
    assert until_slowed(lambda _: exact_world.owner.web.post("/profile/password", json=given), 403, after=10) == 10
    read_retry_after(exact_world.owner.web.post("/session/confirmation", json={"current_password": "wrong password"}))
    for action in ("password_change", "password_check"):
        line = f"security action={action} outcome=limited address={address} user={exact_world.owner.id} via=web"
        eventually(lambda line=line: line in exact_world.box.log_after(mark))


def test_ipv6_network_counts_as_one_address(world: World) -> None:
    """A client with one IPv6 address has 2^64 of them."""
    network = f"2001:db8:{secrets.randbelow(65_536):x}:{secrets.randbelow(65_536):x}"

    def guess(number: int) -> httpx.Response:
        headers = {**bearer(generate_secret()), "X-Forwarded-For": f"{network}::{number:x}"}
        return client.get("/me", headers=headers)

    client = world.box.client()
    until_slowed(guess, 401, after=60)


@pytest.mark.long
def test_right_password_after_many_guesses_from_an_ipv6_network_is_refused(exact_world: World) -> None:
    """Each guess from another address of the network; the owner's own network isn't slowed down."""
    person, half = Person(exact_world.box, "Ann"), secrets.randbelow(65_536)

    def try_from(address: str, password: str) -> httpx.Response:
        return sign_in(exact_world.box.client(**{"X-Forwarded-For": address}), person.email, password)

    ok(try_from(f"2001:db8:{half:x}:1::1", PASSWORD))
    until_slowed(lambda number: try_from(f"2001:db8:{half:x}:2::{number:x}", "wrong password"), 401, after=10)
    read_retry_after(try_from(f"2001:db8:{half:x}:2::ffff", PASSWORD))
    # The account has twenty tries from networks that it hasn't signed in from: the first sign-in was one of them.
    tried = until_slowed(
        lambda number: try_from(f"2001:db8:{half:x}:{number + 3:x}::1", "wrong password"), 401, after=9
    )
    assert tried == 9
    ok(try_from(f"2001:db8:{half:x}:1::2", PASSWORD))


@pytest.fixture(scope="module")
def unproxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server without a proxy."""
    with run_server(Path(tmp_path_factory.mktemp("unproxied"))) as running:
        yield World(running)


def test_forwarding_headers_are_ignored_without_a_trusted_proxy(unproxied: World) -> None:
    """Every guess says that it comes from elsewhere; the server counts the peer that it sees."""
    client = unproxied.box.client()
    forged = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP")

    def guess(_: int) -> httpx.Response:
        return client.get("/me", headers={**bearer(generate_secret()), **{name: draw_address() for name in forged}})

    until_slowed(guess, 401, after=60)
    owner = unproxied.box.client(None, **{name: draw_address() for name in forged})
    ok(owner.post("/session", json={"email": unproxied.owner.email, "password": PASSWORD}))
    (here,) = [each for each in ok(owner.get("/sessions"))["items"] if each["current"]]
    assert here["address"] == "127.0.0.1"


def test_trusted_proxy_is_believed_but_not_what_its_client_sent(world: World) -> None:
    """Only the last entry was written by the proxy; a client can write any before it."""
    client, real = world.box.client(), draw_address()

    def guess(_: int) -> httpx.Response:
        return client.get("/me", headers={**bearer(generate_secret()), "X-Forwarded-For": f"{draw_address()}, {real}"})

    until_slowed(guess, 401, after=60)


def test_mapped_addresses_count_as_the_ipv4_address(world: World) -> None:
    """A socket for both versions reports every IPv4 client with one; in one /64, they would share each limit."""
    client, real = world.box.client(), draw_address()
    spellings = [f"::ffff:{real}", f"0:0:0:0:0:FFFF:{real}", real, f"64:ff9b::{real}"]

    def guess(number: int) -> httpx.Response:
        return client.get("/me", headers={**bearer(generate_secret()), "X-Forwarded-For": spellings[number % 4]})

    until_slowed(guess, 401, after=60)
    for other in (f"::ffff:{draw_address()}", f"64:ff9b::{draw_address()}"):
        headers = {**bearer(generate_secret()), "X-Forwarded-For": other}
        expect_error(client.get("/me", headers=headers), 401, "unauthorized")


def test_sign_in_page_keeps_its_style_when_the_address_is_over_the_limit(world: World) -> None:
    client = world.box.client(None, **{"X-Forwarded-For": draw_address()})
    page = client.get(f"{world.box.url}/signin?next=/oauth/authorize")
    files = set(re.findall(r'(?:href|src)="([^"]+\.(?:css|svg|js))"', page.text))
    assert {file.rpartition("/")[2] for file in files} == {"pages.css", "icon.svg", "passkeys.js", "in-place.js"}
    while page.status_code == 200:
        page = client.get(f"{world.box.url}/signin")
    assert page.status_code == 429
    for file in files:
        assert client.get(world.box.url + file).status_code == 200


@pytest.mark.parametrize("text", ["nonsense", "", "1.2.3", "' OR 1=1", "1.2.3.4:80", "::1%eth0"])
def test_malformed_forwarding_header_is_not_a_server_error(stage: Stage, text: str) -> None:
    ok(stage.box.client(stage.owner.token("read"), **{"X-Forwarded-For": text}).get("/me"))


class Time:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_bucket_holds_one_minute_of_calls_and_refills_continuously() -> None:
    time = Time()
    limiter = RateLimiter(time)
    assert all(limiter.consume("k", "reads", 60).retry_after == 0 for _ in range(60))
    refusal = limiter.consume("k", "reads", 60)
    assert (refusal.remaining, refusal.retry_after) == (0, 1)
    time.now += 0.5
    assert limiter.consume("k", "reads", 60).retry_after == 1
    time.now += 0.5
    assert limiter.consume("k", "reads", 60).retry_after == 0
    time.now += 3600
    assert limiter.consume("k", "reads", 60, cost=0).remaining == 60


def test_retry_after_is_long_enough() -> None:
    for per_minute in (1, 7, 59, 60, 600, 1_000_000):
        time = Time()
        limiter = RateLimiter(time)
        limiter.consume("k", "x", per_minute, cost=per_minute)
        wait = limiter.consume("k", "x", per_minute).retry_after
        assert wait == math.ceil(60 / per_minute)
        time.now += wait
        assert limiter.consume("k", "x", per_minute).retry_after == 0


def test_draw_beyond_the_budget_uses_nothing() -> None:
    limiter = RateLimiter(Time())
    assert limiter.consume("k", "x", 10, cost=11).retry_after > 0
    assert limiter.consume("k", "x", 10, cost=10).retry_after == 0


def test_ten_patient_callers_of_a_bucket_wait_in_their_order_and_the_next_is_refused() -> None:
    """At 6,000 calls a minute, a call is available each hundredth of a second: far less than they would wait."""
    time = Time()
    limiter = RateLimiter(time)

    def wait(key: str = "k") -> BucketState:
        return limiter.consume(key, "x", 6_000, patience=MAX_WAIT_SECONDS)

    for key in ("k", "other"):
        limiter.consume(key, "x", 6_000, cost=6_000)
    turns = [wait() for _ in range(MAX_WAITING)]
    assert [each.wait for each in turns] == pytest.approx([number / 100 for number in range(1, MAX_WAITING + 1)])
    assert {each.retry_after for each in turns} == {0}
    refusal = wait()
    assert (refusal.wait, refusal.retry_after) == (0, 1)
    assert wait("other").wait == pytest.approx(0.01)
    time.now += 0.0101  # the turn of the first
    assert wait().wait == pytest.approx(MAX_WAITING / 100, abs=0.001)
    assert wait().retry_after == 1
    time.now += 1
    assert [wait().wait for _ in range(90)] == [0] * 90
    assert limiter.refusals == {"x": 2}


def test_lowered_limit_applies_immediately() -> None:
    limiter = RateLimiter(Time())
    assert limiter.consume("k", "x", 600).remaining == 599
    assert limiter.consume("k", "x", 5).remaining == 4


def test_number_of_buckets_is_bounded_and_the_oldest_is_dropped() -> None:
    limiter = RateLimiter(Time(), most=100)
    limiter.consume("kept", "x", 10, cost=10)
    for number in range(10_000):
        limiter.consume(("address", number), "x", 10)
        if number % 50 == 0:
            assert limiter.consume("kept", "x", 10).retry_after > 0  # used again and again, so it stays
    assert len(limiter) == 100
