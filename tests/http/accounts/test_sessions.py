"""Web sessions: signing in and out, cookies, and who may write with one."""

import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from tests.support.operation_cases import Stage, update_row
from tests.support.server import PASSWORD, Person, World, eventually, expect_error, ok, run_server
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.edge.site import name_session_cookie


def sign_in(client: httpx.Client, email: str, password: str = PASSWORD) -> httpx.Response:
    return client.post("/session", json={"email": email, "password": password})


def set_cookie(answer: httpx.Response) -> tuple[str, dict[str, object]]:
    """The name of the first cookie that an answer sets, and its attributes."""
    text, *_ = answer.headers.get_list("set-cookie")
    ((name, morsel),) = SimpleCookie(text).items()
    return name, {**morsel, "value": morsel.value}


def with_cookie(world: World, secret: str, **headers: str) -> httpx.Client:
    return world.box.client(Cookie=f"{world.box.cookie}={secret}", **headers)


def test_cookie_is_protected_from_scripts_and_other_sites(world: World) -> None:
    answer = sign_in(world.box.client(), world.owner.email)
    name, cookie = set_cookie(answer)
    assert name == world.box.cookie  # plain http on localhost: browsers keep no __Host- cookie there
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
    assert cookie["max-age"] == str(30 * 86_400)
    body = answer.json()
    assert body["user"] == {"id": world.owner.id, "name": "Ann", "email": world.owner.email}
    assert str(cookie["value"]) not in answer.text


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server behind https, as its proxy talks to it."""
    folder = Path(tmp_path_factory.mktemp("public"))
    with run_server(folder, "--public-url", "https://tickets.example.org") as running:
        base = f"http://127.0.0.1:{port_of(running.process.pid)}/api/v1"
        with httpx.Client(base_url=base, headers={"Host": "tickets.example.org"}, verify=False) as client:
            yield client


def port_of(pid: int) -> int:
    """The port that a process listens on."""
    import psutil

    (listening,) = [each for each in psutil.Process(pid).net_connections("tcp") if each.status == "LISTEN"]
    return listening.laddr.port


def test_https_cookie_is_bound_to_the_host(public: httpx.Client) -> None:
    answer = sign_in(public, "root@example.org")
    assert answer.status_code == 201, answer.text
    name, cookie = set_cookie(answer)
    assert name == "__Host-ticketbox"
    assert (cookie["secure"], cookie["httponly"], cookie["path"], cookie["domain"]) == (True, True, "/", "")
    assert answer.headers["strict-transport-security"]
    secret = str(cookie["value"])
    ok(public.get("/me", headers={"Cookie": f"__Host-ticketbox={secret}"}))
    expect_error(public.get("/me", headers={"Cookie": f"ticketbox={secret}"}), 401, "unauthorized")


def test_sessions_of_servers_on_one_host_have_their_own_cookies(world: World) -> None:
    urls = ("http://a.example", "http://a.example:8420", "http://a.example:8421", "https://a.example:8420",
            "https://a.example", "https://a.example/b", "https://a.example:8420/b")  # fmt: skip
    assert len({name_session_cookie(url) for url in urls}) == len(urls)
    neighbour = f"{name_session_cookie('http://localhost:1')}={generate_secret()}"
    ok(world.box.client(Cookie=f"{neighbour}; {world.box.cookie}={world.owner.session}").get("/me"))


def test_https_writes_require_the_own_origin(public: httpx.Client) -> None:
    _, cookie = set_cookie(sign_in(public, "root@example.org"))
    sent = {"Cookie": f"__Host-ticketbox={cookie['value']}"}
    for origin, status in (
        ("https://tickets.example.org", 201), ("http://tickets.example.org", 403), ("https://evil.example", 403),
        ("null", 403), ("https://tickets.example.org.evil.example", 403), ("https://tickets.example.org:444", 403),
    ):  # fmt: skip
        answer = public.post("/companies", json={"name": "x"}, headers={**sent, "Origin": origin})
        assert answer.status_code == status, origin


def test_sign_in_rotates_the_session_and_sign_out_ends_it(world: World) -> None:
    client = world.box.client()
    ok(sign_in(client, world.owner.email))
    first = client.cookies[world.box.cookie]
    ok(sign_in(client, world.owner.email))
    second = client.cookies[world.box.cookie]
    assert first != second
    expect_error(with_cookie(world, first).get("/me"), 401, "unauthorized")
    answer = client.delete("/session")
    assert answer.status_code == 204
    assert set_cookie(answer)[1]["max-age"] == "0"
    expect_error(with_cookie(world, second).get("/me"), 401, "unauthorized")


def test_fixated_session_is_not_signed_in(world: World) -> None:
    """Fixation: the attacker's own cookie in the victim's browser."""
    attacker, victim = Person(world.box, "Eve"), Person(world.box, "Vic")
    planted = attacker.session
    browser = with_cookie(world, planted)
    answer = sign_in(browser, victim.email)
    assert set_cookie(answer)[1]["value"] != planted
    expect_error(with_cookie(world, planted).get("/me"), 401, "unauthorized")


def test_sessions_are_listed_and_can_be_revoked(world: World) -> None:
    elsewhere = world.box.client(**{"User-Agent": "Elsewhere/1.0 " + "x" * 400})
    ok(sign_in(elsewhere, world.owner.email))
    newest, first = ok(world.owner.web.get("/sessions"))["items"]
    assert (newest["current"], first["current"]) == (False, True)
    assert newest["user_agent"].startswith("Elsewhere/1.0")
    assert len(newest["user_agent"]) == 300
    assert newest["address"] == elsewhere.headers["x-forwarded-for"]
    ok(world.owner.web.delete(f"/sessions/{newest['id']}"))
    expect_error(elsewhere.get("/me"), 401, "unauthorized")
    assert len(ok(world.owner.web.get("/sessions"))["items"]) == 1
    expect_error(world.owner.web.delete(f"/sessions/{newest['id']}"), 404, "not_found")


def test_session_of_another_person_cannot_be_revoked(world: World) -> None:
    bob = world.join("Bob")
    (theirs,) = ok(bob.web.get("/sessions"))["items"]
    expect_error(world.owner.web.delete(f"/sessions/{theirs['id']}"), 404, "not_found")
    ok(bob.web.get("/me"))


def test_session_expires(world: World) -> None:
    (session,) = ok(world.owner.web.get("/sessions"))["items"]
    update_row(world.box.db, "UPDATE credential SET expires_at = created_at WHERE public_id = ?", session["id"])
    expect_error(world.owner.web.get("/me"), 401, "unauthorized")


def test_new_password_ends_other_sessions_but_no_tokens(world: World) -> None:
    other, token = world.box.client(), world.owner.client("read")
    ok(sign_in(other, world.owner.email))
    given = {"current_password": PASSWORD, "new_password": "a better one, longer"}
    assert world.owner.web.post("/profile/password", json=given).status_code == 204
    ok(world.owner.web.get("/me"))
    ok(token.get("/me"))
    expect_error(other.get("/me"), 401, "unauthorized")
    expect_error(sign_in(world.box.client(), world.owner.email), 401, "unauthorized")
    ok(sign_in(world.box.client(), world.owner.email, "a better one, longer"))


def test_current_password_is_required(world: World) -> None:
    given = {"current_password": "wrong password", "new_password": "a better one, longer"}
    expect_error(world.owner.web.post("/profile/password", json=given), 403, "forbidden")
    ok(sign_in(world.box.client(), world.owner.email))
    for short in ("", "short", "x" * 201, "a\u0000bcdefghijk"):
        given = {"current_password": PASSWORD, "new_password": short}
        expect_error(world.owner.web.post("/profile/password", json=given), 400, "invalid_request")


def test_longest_allowed_password_signs_in(world: World) -> None:
    longest = "é" * 200
    given = {"current_password": PASSWORD, "new_password": longest}
    ok(world.owner.web.post("/profile/password", json=given))
    client = world.box.client()
    ok(client.post("/session", json={"email": world.owner.email, "password": longest}))
    ok(client.post("/profile/password", json={"current_password": longest, "new_password": PASSWORD}))


def test_password_set_on_the_command_line_ends_every_session(world: World) -> None:
    run_operation(world.box.db, "set_password", {"user": world.owner.email, "password": "from the shell"})
    expect_error(world.owner.web.get("/me"), 401, "unauthorized")
    ok(sign_in(world.box.client(), world.owner.email, "from the shell"))


def write(client: httpx.Client) -> httpx.Response:
    return client.post("/companies", json={"name": "x"})


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything", ""])
def test_write_from_another_site_is_rejected(world: World, site: str) -> None:
    secret = world.owner.session
    client = with_cookie(world, secret, **{"Sec-Fetch-Site": site})
    for answer in (write(client), client.delete("/session"), client.post("/session", json={})):
        expect_error(answer, 403, "forbidden")
    # Even our own origin beside it doesn't help: browsers never send the two like that.
    expect_error(
        write(with_cookie(world, secret, **{"Sec-Fetch-Site": site, "Origin": world.box.url})), 403, "forbidden"
    )
    ok(client.get("/me"))
    ok(world.owner.web.get("/me"))


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_write_from_own_pages_is_accepted(stage: Stage, site: str) -> None:
    ok(write(with_cookie(stage, stage.owner.session, **{"Sec-Fetch-Site": site})))


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost", "http://localhost:1", "x", ""])
def test_origin_decides_without_fetch_metadata(stage: Stage, origin: str) -> None:
    secret = stage.owner.session
    expect_error(write(with_cookie(stage, secret, Origin=origin)), 403, "forbidden")
    ok(write(with_cookie(stage, secret, Origin=stage.box.url)))


def test_token_needs_no_origin(world: World) -> None:
    """A browser never adds an Authorization header automatically."""
    token = world.owner.token("tickets:write")
    client = world.box.client(token, **{"Sec-Fetch-Site": "cross-site", "Origin": "chrome-extension://abc"})
    ok(client.post("/tickets", json={"project_id": world.project, "title": "x"}))


def test_no_site_may_read_by_cors(world: World) -> None:
    secret = world.owner.session
    answer = with_cookie(world, secret, Origin="https://evil.example").get("/me")
    preflight = world.box.client(Origin="https://evil.example", **{"Access-Control-Request-Method": "POST"}).request(
        "OPTIONS", "/tickets"
    )
    for each in (answer, preflight):
        assert not [name for name in each.headers if name.startswith("access-control-")]
    assert preflight.status_code in {204, 405}


def test_token_takes_precedence_over_a_cookie(world: World) -> None:
    bob = world.join("Bob")
    client = with_cookie(world, world.owner.session, Authorization=f"Bearer {bob.token('read')}")
    assert ok(client.get("/me"))["user"]["id"] == bob.id
    expect_error(client.post("/tickets", json={"project_id": world.project, "title": "x"}), 403, "insufficient_scope")


@pytest.mark.parametrize("text", ["{}=", "{}", "{}=x; {}=y", '{}="', ";;;", "=x"])
def test_malformed_cookie_is_not_a_credential(stage: Stage, text: str) -> None:
    expect_error(stage.box.client(Cookie=text.replace("{}", stage.box.cookie)).get("/me"), 401, "unauthorized")


def test_taken_addresses_are_reported_and_few_a_day(world: World) -> None:
    bob = Person(world.box, "Bob")
    mark = world.box.log_size()

    def count_refusals() -> int:
        events = ok(bob.web.get("/security-events"))["items"]
        refused = [each for each in events if (each["action"], each["outcome"]) == ("address_change", "failed")]
        return sum(each["count"] for each in refused)

    for number in range(1, 4):
        expect_error(bob.web.patch("/profile", json={"email": world.owner.email}), 409, "conflict")
        eventually(lambda number=number: count_refusals() == number)
    for address in (world.owner.email, "nobody-has@example.org"):  # whether it is taken isn't said any more
        limited = expect_error(bob.web.patch("/profile", json={"email": address}), 429, "rate_limited")
        assert limited["retry_after"] == 86_400

    def list_outcomes() -> list[str]:
        lines = [line for line in world.box.log_after(mark).splitlines() if f"user={bob.id}" in line]
        return re.findall(r"security action=address_change outcome=(\w+)", "\n".join(lines))

    eventually(lambda: list_outcomes() == ["failed"] * 3 + ["limited"] * 2)
    assert ok(bob.web.patch("/profile", json={"name": "Robert"}))["email"] == bob.email


def test_profile_can_be_changed_but_not_to_a_taken_address(world: World) -> None:
    bob = Person(world.box, "Bob")
    expect_error(bob.web.patch("/profile", json={"email": world.owner.email.upper()}), 409, "conflict")
    changed = ok(bob.web.patch("/profile", json={"name": " Robert ", "email": "X" + bob.email}))
    assert (changed["name"], changed["email"], changed["pending_email"]) == ("Robert", "x" + bob.email, None)
    assert ok(bob.web.get("/profile")) == changed
    ok(sign_in(world.box.client(), "x" + bob.email))
    for wrong in ({}, {"email": "nowhere"}, {"name": ""}, {"id": "usr_x"}, {"role": "owner"}, {"password": PASSWORD}):
        expect_error(bob.web.patch("/profile", json=wrong), 400, "invalid_request")
