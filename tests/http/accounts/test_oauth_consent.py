"""Metadata, registration, the authorization endpoint and the consent form over plain HTTP: every way to be refused."""

import html
import re
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import pytest
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, ProtectedResourceMetadata

from tests.support.oauth_app import CALLBACK, App, browser_of, challenge_of, handle_in, query_of
from tests.support.operation_cases import read_only, update_row
from tests.support.server import PASSWORD, Box, Person, World, ok
from ticketbox.domain.accounts.secrets import hash_secret

POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'"


def site(box: Box, **headers: str) -> httpx.Client:
    """A client of the site's root, from its own address."""
    client = box.client(**headers)
    client.base_url = httpx.URL(box.url)
    return client


def note(answer: httpx.Response, words: str, status: int = 400) -> None:
    """The answer must be a page for the person, which leads nowhere."""
    assert (answer.status_code, "location" in answer.headers) == (status, False), answer.text
    assert words in html.unescape(answer.text)
    assert 'name="handle"' not in answer.text
    assert answer.headers["content-security-policy"].startswith(POLICY)


def test_metadata_is_what_the_sdk_reads(world: World) -> None:
    http, url = site(world.box), world.box.url
    server = OAuthMetadata.model_validate(ok(http.get("/.well-known/oauth-authorization-server")))
    assert str(server.issuer) == url
    assert server.code_challenge_methods_supported == ["S256"]
    assert server.token_endpoint_auth_methods_supported == ["none"]
    assert server.grant_types_supported == ["authorization_code", "refresh_token"]
    assert (server.authorization_response_iss_parameter_supported, server.client_id_metadata_document_supported) == (
        True, True
    )  # fmt: skip
    assert server.scopes_supported == ["read", "comments", "tickets:write", "tickets:assign", "offline_access"]
    for endpoint in (server.token_endpoint, server.registration_endpoint, server.revocation_endpoint):
        assert http.post(str(endpoint)).status_code in {400, 415}
    for path, resource in {"": "mcp", "/mcp": "mcp", "/api": "api"}.items():
        answer = ok(http.get(f"/.well-known/oauth-protected-resource{path}"))
        parsed = ProtectedResourceMetadata.model_validate(answer)
        assert str(parsed.resource) == f"{url}/{resource}"
        assert [str(each) for each in parsed.authorization_servers] == [url]
        assert parsed.bearer_methods_supported == ["header"]
        assert parsed.scopes_supported == ["read", "comments", "tickets:write", "tickets:assign"]
    challenge = http.post("/mcp", json={}).headers["www-authenticate"]
    assert f'resource_metadata="{url}/.well-known/oauth-protected-resource/mcp"' in challenge


def test_registration_returns_what_was_stored(world: World) -> None:
    given = {
        "redirect_uris": [CALLBACK, "cursor://anysphere.cursor-mcp/oauth/callback", "https://app.example/cb?x=1"],
        "client_name": "A\u0000 \u202eb\n c",
        "token_endpoint_auth_method": "client_secret_post",
        "grant_types": ["client_credentials"],
        "logo_uri": "javascript:alert(1)",
        "client_uri": None,
        "unknown": {"a": [1]},
    }
    answer = site(world.box).post("/oauth/register", json=given)
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    stored = OAuthClientInformationFull.model_validate(answer.json())
    assert (stored.client_name, stored.client_secret) == ("A b c", None)
    assert (stored.token_endpoint_auth_method, stored.grant_types) == ("none", ["authorization_code", "refresh_token"])
    assert answer.json()["redirect_uris"] == given["redirect_uris"]
    assert "logo_uri" not in answer.json()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://a.example/"}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://a.example/{number}" for number in range(21)]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK, "http://a.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/#b"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/" + "b" * 2_000]}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK], "client_name": 7}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "client_name": "x" * 1_001}, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
        ("text", "invalid_client_metadata"),
    ],
)
def test_invalid_registration_is_rejected(world: World, given: Any, error: str) -> None:
    answer = site(world.box).post("/oauth/register", json=given)
    assert (answer.status_code, answer.json()["error"]) == (400, error), answer.text


def test_malformed_and_huge_registrations_are_rejected(world: World) -> None:
    http, kind = site(world.box), {"content-type": "application/json"}
    for body, status in ((b"{", 400), (b"\xff", 400), (b"[" * 20_000, 400), (b" " * 40_000, 413), (b"", 400)):
        answer = http.post("/oauth/register", content=body, headers=kind)
        assert (answer.status_code, answer.json()["error"]) == (status, "invalid_client_metadata")
    assert http.post("/oauth/register", data={"redirect_uris": CALLBACK}).status_code == 415


def test_registrations_are_throttled_per_address(world: World) -> None:
    http = site(world.box)
    answers = [http.post("/oauth/register", json={"redirect_uris": [CALLBACK]}) for _ in range(25)]
    assert [answer.status_code for answer in answers][:20] == [201] * 20
    assert {answer.status_code for answer in answers[20:]} == {429}


def test_unused_registrations_are_bounded(world: World) -> None:
    """The oldest goes, and never one that holds a grant."""
    used, unused = App(world.box), App(world.box)
    used.connect(world.owner)
    for app in (used, unused):
        update_row(world.box.db, "UPDATE oauth_client SET created_at = 1 WHERE client_id = ?", app.client_id)
    http = site(world.box)
    update_row(
        world.box.db,
        "INSERT INTO oauth_client (client_id, name, redirect_uris, created_at)"
        " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        " SELECT 'app_flood' || i, 'x', '[]', i + 1 FROM n",
    )
    ok(http.post("/oauth/register", json={"redirect_uris": [CALLBACK]}))
    with read_only(world.box.db) as connection:
        left = {row[0] for row in connection.execute("SELECT client_id FROM oauth_client")}
    assert used.client_id in left
    assert unused.client_id not in left
    assert len([each for each in left if each.startswith("app_flood")]) <= 999
    update_row(world.box.db, "DELETE FROM oauth_client WHERE client_id LIKE 'app_flood%'")


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/callback",
        CALLBACK + "/",
        CALLBACK + "?a=1",
        CALLBACK.upper(),
        CALLBACK.replace("127.0.0.1", "localhost"),
        CALLBACK.replace("127.0.0.1", "127.0.0.2"),
        CALLBACK.replace("127.0.0.1", "127.0.0.1.evil.example"),
        CALLBACK.replace("127.0.0.1", "127.0.0.1@evil.example"),
        CALLBACK.replace("33418", "99999"),
        CALLBACK.replace("http:", "https:"),
        CALLBACK + "#x",
        CALLBACK + "/../callback",
        "javascript:alert(1)",
        "",
    ],
)
def test_unregistered_redirect_is_never_followed(world: World, address: str) -> None:
    app = App(world.box, CALLBACK, "https://app.example/cb")
    for browser in (browser_of(world.owner), site(world.box)):
        note(app.ask(browser, redirect_uri=address), "a redirect_uri that isn’t registered")


def test_loopback_redirect_may_differ_only_in_port(world: World) -> None:
    app, browser = App(world.box), browser_of(world.owner)
    for port in (":1", ":65535", ""):
        page = app.ask(browser, redirect_uri=f"http://127.0.0.1{port}/callback")
        assert handle_in(page)
        assert f"127.0.0.1{port}</code> on this device" in page.text
    elsewhere = App(world.box, "https://app.example:8443/cb")
    note(elsewhere.ask(browser, redirect_uri="https://app.example:8444/cb"), "isn’t registered")
    assert handle_in(elsewhere.ask(browser, redirect_uri=None))


def test_unknown_app_is_reported_to_the_person(world: World) -> None:
    app = App(world.box)
    for browser in (browser_of(world.owner), site(world.box)):
        for client_id in ("app_unknown", "", None, "http://app.example/client.json", "x" * 2_001):
            answer = app.ask(browser, client_id=client_id)
            assert answer.status_code == 400
            assert "location" not in answer.headers
        twice = f"/oauth/authorize?client_id={app.client_id}&client_id={app.client_id}"
        note(browser.get(twice), "several values of")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "too short"}, "invalid_request"),
        ({"code_challenge": challenge_of("x") + "="}, "invalid_request"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"resource": "{url}"}, "invalid_target"),
        ({"resource": "{url}/mcp/"}, "invalid_target"),
    ],
)
def test_invalid_request_links_to_the_app_and_redirects_nobody(
    world: World, changes: dict[str, str | None], error: str
) -> None:
    app = App(world.box)
    changes = {name: value and value.format(url=world.box.url) for name, value in changes.items()}
    answer = app.ask(browser_of(world.owner), **changes)
    assert (answer.status_code, "location" in answer.headers, "http-equiv" in answer.text) == (400, False, False)
    (link,) = re.findall(r'<a href="([^"]+)">Return to', answer.text)
    query = dict(parse_qsl(urlsplit(html.unescape(link)).query))
    assert (query["error"], query["state"], query["iss"]) == (error, "a state & more", world.box.url)
    assert "code" not in query
    stranger = app.ask(site(world.box), **changes)
    assert (stranger.status_code, "location" in stranger.headers) == (200, False)
    assert 'name="password"' in stranger.text


def test_consent_form_lists_requested_scopes_and_available_projects(world: World, other: World) -> None:
    second = world.new_project("Second <i>project</i>")
    page = App(world.box).ask(browser_of(world.owner), scope="comments offline_access openid")
    assert re.findall(r'name="scope" value="([^"]+)" checked', page.text) == ["comments"]
    assert "tickets:write" not in page.text
    assert re.findall(r'name="projects-(\w+)" value="(\w+)"', page.text) == [
        (world.company, world.project), (world.company, second)
    ]  # fmt: skip
    assert other.company not in page.text
    assert "Second &lt;i&gt;project" in page.text
    for scope in (None, "openid"):  # a scope that isn't ticketbox's is ignored
        everything = App(world.box).ask(browser_of(world.owner), scope=scope, resource=None)
        assert len(re.findall(r'name="scope"', everything.text)) == 4
        assert re.findall(r'name="scope" value="([^"]+)" checked', everything.text) == ["read"]
    guest = world.join("Bob", project_ids=[second])
    assert world.project not in App(world.box).ask(browser_of(guest)).text


def test_viewer_cannot_connect_an_app(world: World) -> None:
    person = world.join("Viewer", "viewer")
    note(App(world.box).ask(browser_of(person)), "requires the role member", 403)


def test_script_in_an_app_name_is_inert(world: World) -> None:
    name = "</h1><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}"
    page = App(world.box, name=name).ask(browser_of(world.owner))
    assert "<script>" not in page.text
    assert "<img src=x" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "49" not in re.findall(r"<h1>.*</h1>", page.text)[0]
    policy = page.headers["content-security-policy"]
    assert re.findall(r"script-src [^;]*", policy) == ["script-src 'self'"]
    assert "form-action 'self' http://127.0.0.1:33418;" in policy


def answer(person: Person, app: App, handle: str | None = None, **form: Any) -> httpx.Response:
    """Answer the consent form."""
    browser = browser_of(person)
    handle = handle or handle_in(app.ask(browser))
    given = {"handle": handle, "decision": "approve", "company": "", "scope": ["read"], **form}
    return browser.post("/oauth/authorize", data=given)


def test_approval_returns_a_code_and_denial_does_not(world: World) -> None:
    app = App(world.box, "https://app.example/cb?keep=1")
    yes = answer(world.owner, app)
    assert yes.headers["location"].startswith("https://app.example/cb?keep=1&code=")
    query = query_of(yes)
    assert set(query) == {"keep", "code", "state", "iss"}
    assert (query["state"], query["iss"]) == ("a state & more", world.box.url)
    query = query_of(answer(world.owner, app, decision="deny"))
    assert (query["error"], query["state"], query["iss"]) == ("access_denied", "a state & more", world.box.url)
    assert "code" not in query
    no_state = query_of(answer(world.owner, app, handle_in(app.ask(browser_of(world.owner), state=None))))
    assert "state" not in no_state


def test_custom_scheme_opens_the_app_from_a_confirmation_page(world: World) -> None:
    app = App(world.box, "cursor://anysphere.cursor-mcp/callback")
    page = answer(world.owner, app)
    assert page.status_code == 200
    assert "You can close this tab" in page.text
    (address,) = re.findall(r'http-equiv="refresh" content="0;url=([^"]+)"', page.text)
    assert html.unescape(address).startswith("cursor://anysphere.cursor-mcp/callback?code=")
    assert answer(world.owner, app, decision="deny").text.count("access_denied") == 2


def test_handle_works_once_for_its_user_for_ten_minutes(world: World, other: World) -> None:
    app = App(world.box)
    handle = handle_in(app.ask(browser_of(world.owner)))
    for decision in ("approve", "deny"):
        note(answer(other.owner, app, handle, decision=decision), "belongs to another account", 404)
    assert query_of(answer(world.owner, app, handle))["code"]
    note(answer(world.owner, app, handle), "was already answered", 404)
    denied = handle_in(app.ask(browser_of(world.owner)))
    answer(world.owner, app, denied, decision="deny")
    note(answer(world.owner, app, denied), "was already answered", 404)
    late = handle_in(app.ask(browser_of(world.owner)))
    older = "UPDATE oauth_request SET expires_at = expires_at - 600000 WHERE secret_hash = ?"
    update_row(world.box.db, older, hash_secret(late))
    note(answer(world.owner, app, late), "has expired", 404)
    note(answer(world.owner, app, "nonsense"), "was already answered", 404)


def test_open_requests_are_bounded_per_person(world: World) -> None:
    app, browser = App(world.box), browser_of(world.owner)
    handles = [handle_in(app.ask(browser)) for _ in range(21)]
    note(answer(world.owner, app, handles[0]), "was already answered", 404)
    assert query_of(answer(world.owner, app, handles[1]))["code"]


def test_consent_requires_a_session_on_the_same_site(world: World) -> None:
    app = App(world.box)
    handle = handle_in(app.ask(browser_of(world.owner)))
    form = {"handle": handle, "decision": "approve", "company": "", "scope": ["read"]}
    note(site(world.box).post("/oauth/authorize", data=form), "You are no longer signed in", 401)
    token = {"Authorization": f"Bearer {world.owner.token('read')}"}
    note(site(world.box, **token).post("/oauth/authorize", data=form), "web session", 403)
    asked = site(world.box, **token).get("/oauth/authorize", params=app.request())
    assert 'name="password"' in asked.text
    session = {"Cookie": f"{world.box.cookie}={world.owner.session}"}
    for foreign in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": world.box.url},
    ):
        refusal = site(world.box, **session, **foreign).post("/oauth/authorize", data=form)
        assert (refusal.status_code, refusal.json()["code"]) == (403, "forbidden")
    assert query_of(answer(world.owner, app, handle))["code"]


def test_invalid_selection_shows_the_form_again(world: World, other: World) -> None:
    app = App(world.box)
    handle = handle_in(app.ask(browser_of(world.owner), scope="read comments"))
    for form, status, words in (
        ({"scope": []}, 400, "Select at least one"),
        ({"scope": ["tickets:write"]}, 400, "Select at least one"),
        ({"scope": ["read", "admin"]}, 400, "Select at least one"),
        ({"company": other.company}, 404, "Company not found"),
        ({"company": "co_nonsense"}, 404, "Company not found"),
        ({"company": world.company, f"projects-{world.company}": [other.project]}, 404, "Project not found"),
        ({"decision": "perhaps"}, 400, "approve or deny"),
    ):
        page = answer(world.owner, app, handle, **form)
        assert (page.status_code, words in page.text) == (status, True), page.text
        assert f'value="{handle}"' in page.text
        assert "http://127.0.0.1:33418" in page.headers["content-security-policy"]
    assert query_of(answer(world.owner, app, handle))["code"]


def test_malformed_and_huge_consents_are_rejected(world: World) -> None:
    browser, form = browser_of(world.owner), {"content-type": "application/x-www-form-urlencoded"}
    note(browser.post("/oauth/authorize", data={"a": "b"}), "must not be empty")
    for body, status in ((b"handle=%ff", 400), (b"x=" + b"y" * 20_000, 413), (b"a=1&" * 3_000, 400)):
        assert browser.post("/oauth/authorize", content=body, headers=form).status_code == status


def test_sign_in_returns_to_the_consent_form(world: World) -> None:
    app, browser = App(world.box), site(world.box, **{"Sec-Fetch-Site": "same-origin"})
    page = app.ask(browser, state="x&y")
    assert (page.status_code, 'name="handle"' in page.text) == (200, False)
    (then,) = re.findall(r'name="next" value="([^"]+)"', page.text)
    given = {"email": world.owner.email, "password": "wrong password", "next": html.unescape(then)}
    refusal = browser.post("/signin", data=given)
    assert (refusal.status_code, then in refusal.text, world.owner.email in refusal.text) == (401, True, True)
    assert "wrong password" not in refusal.text
    signed_in = browser.post("/signin", data={**given, "password": PASSWORD})
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, html.unescape(then))
    assert "SameSite=Lax" in signed_in.headers["set-cookie"]
    asked = browser.get(signed_in.headers["location"])
    assert handle_in(asked)
    assert world.owner.email in asked.text


@pytest.mark.parametrize(
    "then",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        "/\t/evil.example/",
        "/\r\nLocation: https://evil.example",
        " //evil.example",
        "javascript:alert(1)",
        "evil.example",
        "",
        "/\u2028/x",
    ],
)
def test_sign_in_never_redirects_elsewhere(world: World, then: str) -> None:
    browser = site(world.box)
    page = browser.get("/signin", params={"next": then})
    assert 'name="next" value="/"' in page.text
    given = {"email": world.owner.email, "password": PASSWORD, "next": then}
    response = browser.post("/signin", data=given)
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_sign_in_form_rejects_other_sites_and_is_throttled_like_the_api(world: World) -> None:
    given = {"email": world.owner.email, "password": PASSWORD}
    for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert site(world.box, **foreign).post("/signin", data=given).status_code == 403
    browser = site(world.box)
    answers: list[httpx.Response] = []
    while len(answers) < 60 and (not answers or answers[-1].status_code == 401):
        answers.append(browser.post("/signin", data={**given, "password": "wrong password"}))
    assert len(answers) > 10  # more on a slow machine, where an attempt is free again meanwhile
    assert answers[-1].status_code == 429
    assert "Too many attempts" in answers[-1].text
    assert browser.get(f"/signin?next={quote('/oauth/authorize?client_id=1')}").status_code == 200
