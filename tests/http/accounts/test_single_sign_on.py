"""Sign in with an identity provider that misbehaves, and who gets which account and role."""

import base64
import hashlib
import hmac
import html
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.authenticator import Phone
from tests.support.openid_issuer import SECRET, Issuer, SigningKey, run_issuer
from tests.support.operation_cases import update_row
from tests.support.server import (
    PASSWORD,
    Box,
    Person,
    World,
    copy_initialized_file,
    expect_error,
    find_free_port,
    ok,
    run_beside,
    run_server,
    ticketbox,
)
from ticketbox.domain.accounts.oauth import compute_challenge
from ticketbox.store.accounts import users

pytestmark = pytest.mark.long

UNCONFIRM = "UPDATE credential SET confirmed_at = 0 WHERE user_id = (SELECT id FROM user WHERE public_id = ?)"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    """The issuer of all tests."""
    with run_issuer() as running:
        yield running


@pytest.fixture(scope="module")
def sso(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Box]:
    """A server with the issuer, which creates accounts. The company of its first account has roles by group."""
    folder = tmp_path_factory.mktemp("sso")
    db = copy_initialized_file(folder)
    company = run_beside(db, lambda tx: tx.fetch_value("SELECT public_id FROM company"))
    roles = [f"staff={company}:viewer", f"leads={company}:admin", f"the boss={company}:owner"]
    flags = [each for role in roles for each in ("--oidc-role", role)]
    with run_server(
        folder, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox", "--oidc-client-secret", SECRET,
        "--oidc-name", "Acme", "--oidc-create-accounts", *flags,
        "--allow-private-addresses", "--trusted-proxy", "127.0.0.1/32",
    ) as box:  # fmt: skip
        yield box


@pytest.fixture(autouse=True)
def reset(issuer: Issuer) -> None:
    """Let the issuer behave."""
    issuer.metadata, issuer.more, issuer.token, issuer.is_down = {}, None, None, False


def open_browser(box: Box) -> httpx.Client:
    """A browser at the server's pages."""
    client = box.client()
    client.base_url = httpx.URL(box.url)
    client.event_hooks = {}
    return client


def start(browser: httpx.Client, path: str = "/signin/provider") -> str:
    answer = browser.get(path)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def call_back(browser: httpx.Client, issuer: Issuer, state: str, **more: str) -> httpx.Response:
    return browser.get("/signin/callback", params={"code": "a code", "state": state, "iss": issuer.url, **more})


def sign_in(box: Box, issuer: Issuer, browser: httpx.Client | None = None, **claims: Any) -> httpx.Response:
    """Sign somebody in whom the issuer describes with these claims."""
    browser = open_browser(box) if browser is None else browser
    return call_back(browser, issuer, issuer.expect(start(browser), **claims))


def new_person(name: str) -> dict[str, Any]:
    """The claims of a person with a verified address."""
    return {"sub": f"{name}-{time.time_ns()}", "email": f"{name}-{time.time_ns()}@example.org", "email_verified": True}


def is_signed_in(browser: httpx.Client) -> bool:
    return browser.get("/api/v1/me").status_code == 200


def test_server_under_a_path_is_returned_to_under_it(issuer: Issuer, tmp_path: Path) -> None:
    port = find_free_port()
    with run_server(
        tmp_path, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox", "--oidc-client-secret", SECRET,
        "--oidc-name", "Acme", "--oidc-create-accounts", "--allow-private-addresses", "--trusted-proxy", "127.0.0.1/32",
        "--port", str(port), "--public-url", f"http://localhost:{port}/tickets",
    ) as box:  # fmt: skip
        browser = open_browser(box)
        address = start(browser, "/signin/provider?next=/inbox")
        assert parse_qs(urlsplit(address).query)["redirect_uri"] == [f"{box.url}/signin/callback"]
        assert {each.path for each in browser.cookies.jar} == {"/tickets"}
        answer = call_back(browser, issuer, issuer.expect(address, **new_person("ann")))
        assert (answer.status_code, answer.headers["location"]) == (303, "/tickets/inbox")
        assert is_signed_in(browser)


def test_person_signs_in_with_code_pkce_and_client_secret(sso: Box, issuer: Issuer) -> None:
    browser, ann = open_browser(sso), new_person("ann")
    assert "Sign in with Acme" in browser.get("/signin").text
    address = start(browser, "/signin/provider?next=/inbox%3Fa=b")
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert address.startswith(f"{issuer.url}/auth?")
    assert query["redirect_uri"] == f"{sso.url}/signin/callback"
    assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
    assert query["scope"].split() == ["openid", "email", "profile"]
    answer = call_back(browser, issuer, issuer.expect(address, **ann, name="Ann \u202e Smith\n"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox?a=b")
    assert issuer.credentials[-1] == "ticketbox:a%20secret%3A%20100%25"
    sent = issuer.forms[-1]
    assert (sent["code"], sent["redirect_uri"]) == ("a code", query["redirect_uri"])
    assert compute_challenge(sent["code_verifier"]) == query["code_challenge"]
    me = ok(browser.get("/api/v1/me"))["user"]
    assert (me["email"], me["name"]) == (ann["email"], "Ann Smith")
    assert ok(browser.get("/api/v1/profile/sign-in")) == {
        "has_password": False, "password_sign_in": True, "provider": {"name": "Acme", "linked": True},
        "second_factor": None,
        "second_factor_required": False,
    }  # fmt: skip
    again = open_browser(sso)
    assert sign_in(sso, issuer, again, **{**ann, "email": "other@example.org"}).status_code == 303
    assert ok(again.get("/api/v1/me"))["user"]["id"] == me["id"]
    newest = ok(again.get("/api/v1/security-events"))["items"][0]
    assert (newest["action"], newest["data"]["provider"]) == ("sign_in", "Acme")
    expect_error(again.post("/api/v1/session", json={"email": ann["email"], "password": "x"}), 401, "unauthorized")


BAD_CLAIMS = {
    "foreign issuer": {"iss": "https://evil.example"},
    "foreign audience": {"aud": "another-app"},
    "several audiences without azp": {"aud": ["ticketbox", "another-app"]},
    "several audiences for another": {"aud": ["ticketbox", "another-app"], "azp": "another-app"},
    "another party": {"azp": "another-app"},
    "expired": {"exp": 1_700_000_000},
    "issued in the future": {"iat": 4_000_000_000},
    "not valid yet": {"nbf": 4_000_000_000},
    "no expiry": {"exp": None},
    "no issuer": {"iss": None},
    "no audience": {"aud": None},
    "no subject": {"sub": None},
    "empty subject": {"sub": ""},
    "wrong nonce": {"nonce": "another sign-in's"},
    "no nonce": {"nonce": None},
    "nonce of another type": {"nonce": 1},
}


@pytest.mark.parametrize("claims", BAD_CLAIMS.values(), ids=BAD_CLAIMS)
def test_id_token_with_wrong_claims_signs_nobody_in(sso: Box, issuer: Issuer, claims: dict[str, Any]) -> None:
    browser = open_browser(sso)
    answer = sign_in(sso, issuer, browser, **{**new_person("eve"), **claims})
    assert answer.status_code == 403, answer.text
    assert "Acme didn’t confirm who you are" in answer.text
    assert not is_signed_in(browser)


def test_unsigned_and_wrongly_signed_tokens_sign_nobody_in(sso: Box, issuer: Issuer) -> None:
    other = SigningKey("first")  # the id of the issuer's own key
    public = jwt.PyJWK(issuer.key.jwk).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for make in (
        lambda claims: jwt.encode(claims, "", algorithm="none"),
        lambda claims: jwt.encode(claims, other.private, algorithm="RS256", headers={"kid": "first"}),
        lambda claims: jwt.encode(claims, SECRET.ljust(32), algorithm="HS256", headers={"kid": "first"}),
        lambda claims: sign_with_public_key(claims, public),
        lambda claims: issuer.sign(claims)[:-4] + "AAAA",
        lambda claims: "no token",
    ):
        browser = open_browser(sso)
        state = issuer.expect(start(browser), **new_person("eve"))
        issuer.token = make(issuer.claims)
        answer = call_back(browser, issuer, state)
        assert answer.status_code == 403, answer.text
        assert not is_signed_in(browser)


def sign_with_public_key(claims: dict[str, Any], public: bytes) -> str:
    """A token whose HMAC has the issuer's public key as its secret, which a careless check accepts."""

    def encode(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    head = encode(json.dumps({"alg": "HS256", "kid": "first"}).encode())
    body = f"{head}.{encode(json.dumps(claims).encode())}"
    return f"{body}.{encode(hmac.digest(public, body.encode(), hashlib.sha256))}"


def test_state_works_once_and_in_its_browser_only(sso: Box, issuer: Issuer) -> None:
    browser, ann = open_browser(sso), new_person("ann")
    state = issuer.expect(start(browser), **ann)
    thief = open_browser(sso)
    for other in (thief, open_browser(sso)):
        start(thief)  # a browser with its own cookie, and one without
        assert call_back(other, issuer, state).status_code == 404
        assert not is_signed_in(other)
    assert call_back(browser, issuer, "made up").status_code == 404
    assert call_back(browser, issuer, state).status_code == 303
    replayed = call_back(browser, issuer, state)
    assert replayed.status_code == 404
    assert "was already used" in replayed.text
    update_row(sso.db, "UPDATE provider_request SET expires_at = 0")
    late = issuer.expect(start(browser), **ann)
    update_row(sso.db, "UPDATE provider_request SET expires_at = 0 WHERE expires_at > ?", 0)
    assert call_back(browser, issuer, late).status_code == 404


def test_refused_answer_uses_the_state_up(sso: Box, issuer: Issuer) -> None:
    browser, ann = open_browser(sso), new_person("ann")
    state = issuer.expect(start(browser), **{**ann, "nonce": "wrong"})
    assert call_back(browser, issuer, state).status_code == 403
    issuer.claims["nonce"] = "whatever"
    assert call_back(browser, issuer, state).status_code == 404


def test_answer_of_another_issuer_is_refused(sso: Box, issuer: Issuer) -> None:
    """Mix-up (RFC 9207): the code of an honest provider isn't sent to another one."""
    browser, sent = open_browser(sso), len(issuer.forms)
    state = issuer.expect(start(browser), **new_person("ann"))
    assert call_back(browser, issuer, state, iss="https://evil.example").status_code == 403
    assert len(issuer.forms) == sent
    state = issuer.expect(start(browser), **new_person("ann"))
    denied = browser.get("/signin/callback", params={"state": state, "error": "access_denied", "iss": issuer.url})
    assert denied.status_code == 403
    assert len(issuer.forms) == sent


def test_new_keys_of_the_provider_are_fetched_when_they_are_used(sso: Box, issuer: Issuer) -> None:
    first = issuer.key
    assert sign_in(sso, issuer, **new_person("ann")).status_code == 303
    issuer.key = SigningKey("second")
    try:
        assert sign_in(sso, issuer, **new_person("bob")).status_code == 403, "a key that isn't published"
        issuer.keys = [issuer.key.jwk]
        assert sign_in(sso, issuer, **new_person("bob")).status_code == 303
        issuer.key = first
        assert sign_in(sso, issuer, **new_person("bob")).status_code == 403, "a key that was withdrawn"
    finally:
        issuer.key, issuer.keys = first, [first.jwk]


def test_details_come_from_userinfo_of_the_same_person_only(sso: Box, issuer: Issuer, tmp_path: Any) -> None:
    ann = new_person("ann")
    issuer.more = {**ann, "name": "Ann by userinfo"}
    with run_server(
        tmp_path, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox", "--oidc-create-accounts",
        "--allow-private-addresses",
    ) as box:  # fmt: skip
        browser = open_browser(box)
        assert sign_in(box, issuer, browser, sub=ann["sub"]).status_code == 303
        assert ok(browser.get("/api/v1/me"))["user"]["name"] == "Ann by userinfo"
        assert issuer.forms[-1]["client_id"] == "ticketbox"  # a public client
        issuer.more = {**new_person("bob")}
        assert sign_in(box, issuer, sub="another").status_code == 403


def test_unverified_address_never_takes_over_an_account(sso: Box, issuer: Issuer) -> None:
    owner = World(sso).owner
    for verified in (False, None, "no", 1, []):
        browser = open_browser(sso)
        claims = {"sub": f"eve-{time.time_ns()}", "email": owner.email.upper(), "email_verified": verified}
        page = sign_in(sso, issuer, browser, **claims)
        assert page.status_code == 200
        assert "Link your account" in page.text
        assert "without the password" not in page.text
        assert not is_signed_in(browser)
        handle = page.text.partition('name="handle" value="')[2].partition('"')[0]
        sent = {"handle": handle, "email": owner.email}
        assert browser.post("/signin/link", data={**sent, "take_over": "yes"}).status_code == 403
        assert browser.post("/signin/link", data={**sent, "password": "wrong"}).status_code == 401
        assert open_browser(sso).post("/signin/link", data={**sent, "password": PASSWORD}).status_code == 404
        assert not is_signed_in(browser)
    cross = browser.post("/signin/link", data={**sent, "password": PASSWORD}, headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    assert browser.post("/signin/link", data={**sent, "password": PASSWORD}).status_code == 303
    assert ok(browser.get("/api/v1/me"))["user"]["id"] == owner.id
    ok(browser.post("/api/v1/tokens", json={"label": "x", "scopes": ["read"]}))  # the password was just entered
    assert browser.post("/signin/link", data={**sent, "password": PASSWORD}).status_code == 404
    again = open_browser(sso)
    assert sign_in(sso, issuer, again, **{**claims, "email": None}).status_code == 303
    assert ok(again.get("/api/v1/me"))["user"]["id"] == owner.id
    ok(owner.web.get("/me"))  # its sessions and password stay
    actions = [each["action"] for each in ok(owner.web.get("/security-events"))["items"]]
    assert "provider_link" in actions


def test_verified_address_takes_over_an_account_without_what_opened_it_before(sso: Box, issuer: Issuer) -> None:
    owner = World(sso).owner
    token = owner.client("read")
    browser = open_browser(sso)
    page = sign_in(sso, issuer, browser, sub=f"ann-{time.time_ns()}", email=owner.email, email_verified=True)
    assert "Continue without the password" in page.text
    handle = page.text.partition('name="handle" value="')[2].partition('"')[0]
    ok(token.get("/me"))
    assert browser.post("/signin/link", data={"handle": handle, "take_over": "yes"}).status_code == 303
    assert ok(browser.get("/api/v1/me"))["user"]["id"] == owner.id
    expect_error(token.get("/me"), 401, "unauthorized")
    expect_error(owner.web.get("/me"), 401, "unauthorized")
    answer = sso.client().post("/session", json={"email": owner.email, "password": PASSWORD})
    expect_error(answer, 401, "unauthorized")


def test_second_factor_is_required_after_the_provider_too(sso: Box, issuer: Issuer) -> None:
    phone = Phone(World(sso).owner)
    claims = {"sub": f"ann-{time.time_ns()}", "email": phone.person.email, "email_verified": True}
    browser = phone.open_browser()
    page = sign_in(sso, issuer, browser, **claims)
    link = {"handle": find_handle(page), "email": phone.person.email}
    taken = browser.post("/signin/link", data={**link, "take_over": "yes"})
    assert (taken.status_code, "Enter the password of the account" in taken.text) == (403, True)
    assert browser.post("/signin/code", data={**link, "code": phone.recovery_codes[0]}).status_code == 404
    step = browser.post("/signin/link", data={**link, "password": PASSWORD})
    assert "Enter your code" in step.text
    assert not is_signed_in(browser)
    sent = {"handle": find_handle(step), "next": "/inbox"}
    assert browser.post("/signin/link", data={**sent, "password": PASSWORD}).status_code == 404
    answer = browser.post("/signin/code", data={**sent, "code": phone.show_code()})
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox")
    again = phone.open_browser()
    step = sign_in(sso, issuer, again, **claims)
    assert "Enter your code" in step.text
    assert not is_signed_in(again)
    sent = {"handle": find_handle(step), "code": phone.recovery_codes[0]}
    assert again.post("/signin/code", data=sent).status_code == 303
    assert is_signed_in(again)


def find_handle(page: httpx.Response) -> str:
    return page.text.partition('name="handle" value="')[2].partition('"')[0]


def start_link(browser: httpx.Client) -> str:
    """The address at the provider, for a person who links the account in Settings."""
    page = browser.post("/signin/provider")
    assert page.status_code == 200, page.text
    return html.unescape(page.text.partition('content="0;url=')[2].partition('"')[0])


def test_person_links_and_unlinks_the_provider_in_settings(sso: Box, issuer: Issuer) -> None:
    owner, other = World(sso).owner, World(sso).owner
    browser, stranger = open_browser(sso), open_browser(sso)
    browser.cookies.update(owner.web.cookies)
    stranger.cookies.update(other.web.cookies)
    update_row(sso.db, UNCONFIRM, owner.id)
    assert "<h1>Sign in</h1>" in browser.post("/signin/provider").text
    ok(owner.web.post("/session/confirmation", json={"current_password": PASSWORD}))
    assert browser.post("/signin/provider", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert open_browser(sso).post("/signin/provider").status_code == 401
    claims = {"sub": f"ann-{time.time_ns()}", "email": "somebody@example.org"}
    state = issuer.expect(start_link(browser), **claims)
    assert call_back(stranger, issuer, state).status_code == 404, "the session of another person"
    assert call_back(open_browser(sso), issuer, state).status_code == 404
    assert call_back(browser, issuer, state).headers["location"] == "/settings/sign-in"
    assert ok(owner.web.get("/profile/sign-in"))["provider"]["linked"] is True
    assert call_back(stranger, issuer, issuer.expect(start_link(stranger), **claims)).status_code == 409
    assert call_back(browser, issuer, issuer.expect(start_link(browser), sub="a second one")).status_code == 409
    update_row(sso.db, UNCONFIRM, owner.id)
    expect_error(owner.web.delete("/profile/provider"), 403, "password_required")
    ok(owner.web.post("/session/confirmation", json={"current_password": PASSWORD}))
    ok(owner.web.delete("/profile/provider"))
    expect_error(owner.web.delete("/profile/provider"), 404, "not_found")
    bob = open_browser(sso)
    sign_in(sso, issuer, bob, **new_person("bob"), auth_time=int(time.time()))
    expect_error(bob.delete("/api/v1/profile/provider"), 409, "conflict")


def test_sign_in_at_the_provider_confirms_only_with_its_time(sso: Box, issuer: Issuer) -> None:
    body = {"label": "x", "scopes": ["read"]}
    for at, status in ((None, 403), (int(time.time()) - 3600, 403), (int(time.time()), 201), (4_000_000_000, 201)):
        browser = open_browser(sso)
        assert sign_in(sso, issuer, browser, **new_person("ann"), groups="leads", auth_time=at).status_code == 303
        answer = browser.post("/api/v1/tokens", json=body)
        assert answer.status_code == status, answer.text
    browser = open_browser(sso)
    address = start(browser, "/signin/provider?fresh=1")
    assert "prompt=login&max_age=0" in address
    for at, status in ((None, 403), (int(time.time()) - 3600, 403), (int(time.time()), 303)):
        state = issuer.expect(start(browser, "/signin/provider?fresh=1"), **new_person("ann"), auth_time=at)
        assert call_back(browser, issuer, state).status_code == status, at


def role_of(box: Box, browser: httpx.Client) -> str | None:
    companies = ok(browser.get("/api/v1/me"))["companies"]
    return companies[0]["role"] if companies else None


def test_groups_decide_the_role_at_each_sign_in(sso: Box, issuer: Issuer) -> None:
    ann = new_person("ann")
    browser = open_browser(sso)
    for groups, role in (
        (["staff"], "viewer"), (["staff", "leads"], "admin"), (["Staff", "leads "], None), ("the boss", "owner"),
        (["leads"], "admin"), (["staff", 1, None], "viewer"), ([], None), (None, None), ({"staff": 1}, None),
    ):  # fmt: skip
        assert sign_in(sso, issuer, browser, **ann, groups=groups).status_code == 303
        assert role_of(sso, browser) == role, groups


def test_role_that_an_admin_gave_stays_without_groups(sso: Box, issuer: Issuer) -> None:
    root = sso.client()
    ok(root.post("/session", json={"email": "root@example.org", "password": PASSWORD}))
    company = ok(root.get("/me"))["companies"][0]["id"]
    ann, browser = new_person("ann"), open_browser(sso)
    sign_in(sso, issuer, browser, **ann)
    secret = ok(root.post(f"/companies/{company}/invitations", json={"role": "member"}))["secret"]
    ok(browser.post(f"/api/v1/invitations/accept/{secret}", json={}))
    for groups, role in (([], "member"), (["staff"], "member"), (["leads"], "admin"), ([], "member")):
        sign_in(sso, issuer, browser, **ann, groups=groups)
        assert role_of(sso, browser) == role, groups
    types = [each["type"] for each in ok(root.get(f"/companies/{company}/audit"))["items"]]
    assert types.count("member.changed") >= 2


def test_last_owner_stays_one_whatever_the_groups_say(sso: Box, issuer: Issuer) -> None:
    demote = "UPDATE member SET role = ? WHERE user_id = (SELECT id FROM user WHERE email = 'root@example.org')"
    ann, browser = new_person("ann"), open_browser(sso)
    sign_in(sso, issuer, browser, **ann, groups=["the boss"])
    update_row(sso.db, demote, 2)
    try:
        sign_in(sso, issuer, browser, **ann, groups=["staff"])
        assert role_of(sso, browser) == "owner"
    finally:
        update_row(sso.db, demote, 3)
    sign_in(sso, issuer, browser, **ann, groups=["staff"])
    assert role_of(sso, browser) == "viewer"


def test_provider_that_is_down_leaves_passwords_and_break_glass(sso: Box, issuer: Issuer) -> None:
    browser = open_browser(sso)
    state = issuer.expect(start(browser), **new_person("ann"))
    issuer.is_down = True
    page = call_back(browser, issuer, state)
    assert page.status_code == 503
    assert "Acme can’t be reached" in page.text
    assert "sign-in-link" in page.text
    ok(sso.client().post("/session", json={"email": "root@example.org", "password": PASSWORD}))
    link = ticketbox("user", "sign-in-link", "root@example.org", "--public-url", sso.url, db=sso.db).stdout.strip()
    assert link.startswith(f"{sso.url}/signin/once/tok_")
    path = link.removeprefix(sso.url)
    assert browser.get(path).status_code == 200
    assert browser.post(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert browser.post(path).status_code == 303
    assert ok(browser.get("/api/v1/me"))["user"]["email"] == "root@example.org"
    assert browser.post(path).status_code == 404
    assert ticketbox("user", "sign-in-link", "nobody@example.org", db=sso.db).returncode == 1


def test_server_without_passwords_creates_no_accounts_and_checks_domains(issuer: Issuer, tmp_path: Any) -> None:
    with run_server(
        tmp_path, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox", "--oidc-email-domain", "example.org",
        "--no-password-sign-in", "--allow-private-addresses",
    ) as box:  # fmt: skip
        page = open_browser(box).get("/signin").text
        assert 'type="password"' not in page
        given = {"email": "root@example.org", "password": PASSWORD}
        expect_error(box.client().post("/session", json=given), 403, "forbidden")
        assert sign_in(box, issuer, **new_person("ann")).status_code == 403, "no account"
        for email, verified in (("root@evil.example", True), ("root@example.org", False), (None, True)):
            answer = sign_in(box, issuer, sub="root", email=email, email_verified=verified)
            assert answer.status_code == 403, email
            assert "verified email address of example.org" in answer.text
        page = sign_in(box, issuer, browser := open_browser(box), sub="root", email="root@example.org",
                       email_verified=True)  # fmt: skip
        handle = page.text.partition('name="handle" value="')[2].partition('"')[0]
        sent = {"handle": handle, "email": "root@example.org", "password": PASSWORD}
        assert browser.post("/signin/link", data=sent).status_code == 303
        expect_error(browser.delete("/api/v1/profile/provider"), 409, "conflict")
        company = ok(browser.get("/api/v1/me"))["companies"][0]["id"]
        path = f"/api/v1/companies/{company}/invitations"
        secret = ok(browser.post(path, json={"role": "member"}))["secret"]
        new = {"name": "Bob", "email": "bob@example.org", "password": "a password of Bob"}
        expect_error(box.client().post(f"/invitations/accept/{secret}", json=new), 403, "forbidden")
        disabled = ticketbox("user", "disable", "root@example.org", db=box.db)
        assert disabled.returncode == 0
        answer = sign_in(box, issuer, sub="root", email="root@example.org", email_verified=True)
        assert answer.status_code == 403
        assert "disabled" in answer.text
        issuer.metadata = {"issuer": "https://evil.example"}
    with run_server(
        tmp_path, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox", "--allow-private-addresses"
    ) as box:
        answer = open_browser(box).get("/signin/provider")
        assert answer.status_code == 503, "metadata of another issuer"
    issuer.metadata = {}
    with run_server(tmp_path, "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox") as box:
        assert open_browser(box).get("/signin/provider").status_code == 503, "a private address"


def test_server_without_a_provider_has_none(world: World) -> None:
    browser = open_browser(world.box)
    assert browser.get("/signin/provider").status_code == 404
    assert browser.get("/signin/callback?code=x&state=y").status_code == 404
    assert "provider" not in browser.get("/signin").text
    browser.cookies.update(world.owner.web.cookies)
    assert browser.post("/signin/provider").status_code == 404
    assert ok(world.owner.web.get("/profile/sign-in"))["provider"] is None
    expect_error(world.owner.web.delete("/profile/provider"), 404, "not_found")


def test_sign_in_with_the_provider_is_limited_by_address(sso: Box) -> None:
    browser = open_browser(sso)
    statuses = {browser.get("/signin/callback?code=x&state=y").status_code for _ in range(70)}
    assert statuses == {404, 429}


def test_linked_account_without_password_has_none_to_guess(sso: Box, issuer: Issuer) -> None:
    browser, ann = open_browser(sso), new_person("ann")
    sign_in(sso, issuer, browser, **ann)
    account = run_beside(sso.db, lambda tx: users.find_account_by_email(tx, ann["email"]))
    assert account is not None
    assert account.password_hash is None
    answer = browser.post("/api/v1/session/confirmation", json={"current_password": PASSWORD})
    expect_error(answer, 403, "forbidden")
    person = Person(sso, "Bob")
    ok(person.web.get("/profile/sign-in"))
