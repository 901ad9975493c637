"""The second factor: codes of an authenticator app and recovery codes, over REST, on the pages and for the operator."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.authenticator import OF_USER, PATH, Phone, compute_current_code, find_field
from tests.support.oauth_app import browser_of
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, Person, World, expect_error, ok, run_beside, ticketbox

END_WAIT = f"UPDATE second_factor SET failed_at = 0 {OF_USER}"
UNCONFIRM = f"UPDATE credential SET confirmed_at = 0 {OF_USER}"


def list_events(web: httpx.Client) -> list[tuple[str, str]]:
    return [(each["action"], each["outcome"]) for each in ok(web.get("/security-events"))["items"]]


def test_sign_in_requires_a_code_that_works_once(world: World) -> None:
    phone = Phone(world.join("Bob"))
    refused = expect_error(phone.sign_in(), 403, "second_factor_required")
    assert "as code" in refused["detail"]
    expect_error(phone.sign_in(password="wrong password"), 401, "unauthorized")
    expect_error(phone.sign_in(password="wrong password", code=phone.show_code()), 401, "unauthorized")
    expect_error(phone.sign_in(code="000 000"), 401, "unauthorized")
    client, code = world.box.client(), phone.show_code()
    ok(phone.sign_in(client, code=f"{code[:3]} {code[3:]}"))
    assert ok(client.get("/me"))["user"]["id"] == phone.person.id
    expect_error(phone.sign_in(code=code), 401, "unauthorized")
    # wrong passwords are recorded a moment later
    events = [each for each in list_events(phone.web) if each != ("sign_in", "failed")]
    assert events[:3] == [("second_factor_check", "failed"), ("sign_in", "done"), ("second_factor_check", "done")]
    assert ("second_factor_enable", "done") in events


@pytest.mark.long
def test_one_code_signs_in_only_one_of_many_callers(world: World) -> None:
    phone = Phone(world.join("Bob"))
    code = phone.show_code()
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(lambda _: phone.sign_in(code=code).status_code, range(6)))
    assert sorted(statuses) == [201, 401, 401, 401, 401, 401]


@pytest.mark.long
def test_recovery_code_signs_in_once_and_new_ones_replace_the_earlier(world: World) -> None:
    phone = Phone(world.join("Bob"))
    first, second, *_ = phone.recovery_codes
    ok(phone.sign_in(code=first.upper().replace("-", " ")))
    expect_error(phone.sign_in(code=first), 401, "unauthorized")
    assert ok(phone.web.get("/profile/sign-in"))["second_factor"]["recovery_codes"] == 9
    assert ("recovery_code", "done") in list_events(phone.web)
    fresh = ok(phone.web.post(f"{PATH}/recovery-codes", json={"code": phone.show_code()}))["recovery_codes"]
    expect_error(phone.sign_in(code=second), 401, "unauthorized")
    ok(phone.sign_in(code=fresh[0]))


@pytest.mark.long
def test_wrong_codes_in_a_row_are_slowed_down_and_recovery_codes_still_work(world: World) -> None:
    phone = Phone(world.join("Bob"))
    for _ in range(5):
        expect_error(phone.sign_in(code="000000"), 401, "unauthorized")
    good = phone.show_code()
    refused = expect_error(phone.sign_in(code=good), 429, "rate_limited")
    assert 1 <= refused["retry_after"] <= 60
    ok(phone.sign_in(code=phone.recovery_codes[0]))
    update_row(world.box.db, END_WAIT, phone.person.id)
    ok(phone.sign_in(code=good))
    expect_error(phone.sign_in(code="000000"), 401, "unauthorized")  # counted from the start


def test_enrolment_requires_the_password_and_a_right_code(world: World) -> None:
    bob = world.join("Bob")
    expect_error(bob.web.post(f"{PATH}/enable", json={"code": "000000"}), 404, "not_found")
    given = ok(bob.web.post(PATH, json={}))
    expect_error(bob.web.post(f"{PATH}/enable", json={"code": "00000x"}), 403, "forbidden")
    assert ok(bob.web.get("/profile/sign-in"))["second_factor"] is None
    ok(world.box.client().post("/session", json={"email": bob.email, "password": PASSWORD}))
    update_row(world.box.db, UNCONFIRM, bob.id)
    expect_error(bob.web.post(PATH, json={}), 403, "password_required")
    expect_error(bob.web.post(f"{PATH}/enable", json={"code": "000000"}), 403, "password_required")
    expect_error(bob.client("tickets:write").post(PATH, json={}), 403, "forbidden")
    assert given["uri"].startswith("otpauth://totp/ticketbox%20%28")
    assert given["secret"] in given["uri"]


@pytest.mark.long
def test_turning_on_ends_other_sessions_and_starting_again_is_refused(world: World) -> None:
    bob = Person(world.box, "Bob")
    other = world.box.client()
    ok(other.post("/session", json={"email": bob.email, "password": PASSWORD}))
    secret = ok(bob.web.post(PATH, json={}))["secret"]
    code = compute_current_code(secret)
    ok(bob.web.post(f"{PATH}/enable", json={"code": code}))
    expect_error(other.get("/me"), 401, "unauthorized")
    ok(bob.web.get("/me"))
    expect_error(bob.web.post(PATH, json={}), 409, "conflict")
    expect_error(bob.web.post(f"{PATH}/enable", json={"code": code}), 409, "conflict")
    expect_error(bob.web.post(f"{PATH}/disable", json={"code": code}), 403, "forbidden")  # used


@pytest.mark.long
def test_turning_off_requires_a_code_and_tokens_keep_working(world: World) -> None:
    phone = Phone(world.join("Bob"))
    agent = phone.person.client("read")
    expect_error(phone.web.post(f"{PATH}/disable", json={"code": "000000"}), 403, "forbidden")
    expect_error(phone.web.post(f"{PATH}/disable", json={}), 400, "invalid_request")
    expect_error(agent.post(f"{PATH}/disable", json={"code": phone.recovery_codes[0]}), 403, "forbidden")
    ok(agent.get("/me"))
    ok(phone.web.post(f"{PATH}/disable", json={"code": phone.recovery_codes[0]}))
    expect_error(phone.web.post(f"{PATH}/disable", json={"code": phone.recovery_codes[1]}), 404, "not_found")
    ok(phone.sign_in())
    assert list_events(phone.web)[1] == ("second_factor_disable", "done")


def test_page_asks_for_the_code_and_there_is_no_session_before(world: World) -> None:
    phone = Phone(world.join("Bob"))
    browser = phone.open_browser()
    step = phone.enter_password(browser)
    assert step.status_code == 200
    assert "Enter your code" in step.text
    assert not step.headers.get_list("set-cookie")
    assert not browser.cookies
    handle = find_field(step, "handle")
    for credential in ({"Authorization": f"Bearer {handle}"}, {"Cookie": f"{world.box.cookie}={handle}"}):
        assert browser.get("/api/v1/me", headers=credential).status_code == 401
    assert browser.get("/inbox").headers["location"].startswith("/signin")
    wrong = browser.post("/signin/code", data={"handle": handle, "code": "000000", "next": "/inbox"})
    assert (wrong.status_code, "or was already used" in wrong.text) == (401, True)
    assert browser.post("/signin/code", data={"handle": handle, "code": "1"}).status_code == 400
    done = browser.post("/signin/code", data={"handle": handle, "code": phone.show_code(), "next": "/inbox"})
    assert (done.status_code, done.headers["location"]) == (303, "/inbox")
    assert browser.get("/api/v1/me").status_code == 200
    again = browser.post("/signin/code", data={"handle": handle, "code": phone.recovery_codes[0]})
    assert (again.status_code, "Sign in again" in again.text or "sign in again" in again.text) == (404, True)
    assert ok(phone.web.get("/profile/sign-in"))["second_factor"]["recovery_codes"] == 10


@pytest.mark.long
@pytest.mark.parametrize("change", ["password", "disabled", "expired", "foreign site", "foreign path"])
def test_second_step_is_refused(world: World, change: str) -> None:
    phone = Phone(world.join("Bob"))
    browser = phone.open_browser()
    form: dict[str, Any] = {"handle": find_field(phone.enter_password(browser), "handle"), "next": "/"}
    headers: dict[str, str] = {}
    match change:
        case "password":
            code = phone.recovery_codes[0]
            new = {"current_password": PASSWORD, "new_password": "a better one, longer", "code": code}
            ok(phone.web.post("/profile/password", json=new))
        case "disabled":
            ticketbox("user", "disable", phone.person.email, db=world.box.db)
        case "expired":
            update_row(world.box.db, "UPDATE provider_request SET expires_at = 1 WHERE expires_at > 1")
        case "foreign site":
            headers = {"Sec-Fetch-Site": "cross-site"}
        case _:
            form["next"] = "//evil.example/"
    answer = browser.post("/signin/code", data={**form, "code": phone.show_code()}, headers=headers)
    if change == "foreign path":
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        return
    assert answer.status_code == (403 if change == "foreign site" else 404)
    assert browser.get("/api/v1/me").status_code == 401


@pytest.mark.long
def test_page_turns_the_second_factor_on(world: World) -> None:
    bob = Person(world.box, "Bob")
    browser = browser_of(bob)
    assert "Set up an authenticator app" in browser.get("/second-factor").text
    shown = browser.post("/second-factor", data={"action": "start"})
    assert "data:image/svg+xml" in shown.text
    assert shown.headers["cache-control"] == "no-store"
    uri = find_field(shown, "uri")
    wrong = browser.post("/second-factor", data={"action": "enable", "uri": uri, "code": "00000x"})
    assert wrong.status_code == 403
    assert find_field(wrong, "uri") == uri
    secret = uri.partition("secret=")[2].partition("&")[0]
    code = compute_current_code(secret)
    codes = browser.post("/second-factor", data={"action": "enable", "uri": uri, "code": code})
    (listed,) = re.findall(r'<pre class="codes">([^<]*)</pre>', codes.text)
    assert len(listed.split()) == 10
    assert "On since" in browser.get("/second-factor").text
    body = {"email": bob.email, "password": PASSWORD, "code": listed.split()[3]}
    ok(world.box.client().post("/session", json=body))
    off = browser.post("/second-factor", data={"action": "disable", "code": listed.split()[4]})
    assert "Set up an authenticator app" in off.text
    browser.headers["Sec-Fetch-Site"] = "cross-site"
    assert browser.post("/second-factor", data={"action": "start"}).status_code == 403


@pytest.mark.long
def test_page_requires_a_session_and_the_password(world: World) -> None:
    bob = Person(world.box, "Bob")
    browser = browser_of(bob)
    update_row(world.box.db, UNCONFIRM, bob.id)
    asked = browser.post("/second-factor", data={"action": "start"})
    assert "<h1>Sign in</h1>" in asked.text
    assert find_field(asked, "next") == "/second-factor"
    browser.cookies.clear()
    for answer in browser.get("/second-factor"), browser.post("/second-factor", data={"action": "start"}):
        assert (answer.status_code, answer.headers["location"]) == (303, "/signin?next=/second-factor")


@pytest.mark.long
def test_operator_turns_off_a_lost_second_factor(world: World) -> None:
    phone = Phone(world.join("Bob"))
    listed = [
        line for line in ticketbox("user", "list", db=world.box.db).stdout.splitlines() if phone.person.id in line
    ]
    assert listed == [f"{phone.person.id}  {phone.person.email}  Bob"]
    reset = ticketbox("user", "reset-second-factor", phone.person.email, db=world.box.db)
    assert reset.stdout == f"Turned off the second factor of {phone.person.email} and ended all sessions\n"
    expect_error(phone.web.get("/me"), 401, "unauthorized")
    browser = world.box.client()
    ok(phone.sign_in(browser))
    assert ("second_factor_disable", "done") in list_events(browser)
    again = ticketbox("user", "reset-second-factor", phone.person.email, db=world.box.db)
    assert again.returncode == 1
    assert "no second factor" in again.stderr


@pytest.mark.long
def test_no_secret_is_stored_in_readable_form_or_logged(world: World) -> None:
    mark = world.box.log_size()
    phone = Phone(world.join("Bob"))
    code = phone.show_code()
    ok(phone.sign_in(code=code))
    expect_error(phone.sign_in(code="123456"), 401, "unauthorized")
    hashes = run_beside(world.box.db, lambda tx: tx.fetch_all("SELECT code_hash FROM recovery_code"))
    plain = {each.encode() for each in phone.recovery_codes}
    assert all(len(stored) == 32 and stored not in plain for (stored,) in hashes)
    log = world.box.log_after(mark)
    assert not any(each in log for each in [phone.secret, *phone.recovery_codes])
