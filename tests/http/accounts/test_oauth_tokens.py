"""The token endpoint over plain HTTP: what an app gets, keeps and loses (RFC 6749, 7009, 7636, 8707; RFC 9700)."""

import secrets
import sqlite3
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from mcp.shared.auth import OAuthToken

from tests.support.oauth_app import ALL, CALLBACK, App, browser_of, handle_in
from tests.support.operation_cases import read_contents, read_only, update_row
from tests.support.server import World, expect_error, ok
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.accounts.secrets import hash_secret


def expect_oauth_error(answer: httpx.Response, error: str, status: int = 400) -> None:
    """The answer must be a refusal as RFC 6749, 5.2 writes it."""
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text
    assert set(answer.json()) == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"


def me(app: App, pair: dict[str, Any]) -> dict[str, Any]:
    """What whoami says."""
    return ok(app.call(pair["access_token"]))["result"]["structuredContent"]


def age(world: World, secret: str, column: str, seconds: int) -> None:
    """Let time pass for one secret."""
    by = f"{column} = {column} - {seconds * 1000}"
    update_row(world.box.db, f"UPDATE oauth_secret SET {by} WHERE secret_hash = ?", hash_secret(secret))


def apps(world: World) -> list[dict[str, Any]]:
    """What the owner's Settings list."""
    return ok(world.owner.web.get("/connected-apps"))["items"]


def audit(world: World) -> list[dict[str, Any]]:
    """The company's events about tokens, newest first."""
    entries = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]
    return [event for event in entries if event["type"].startswith("token.")]


def test_token_pair_grants_what_the_person_approved(world: World) -> None:
    app = App(world.box, name="Helper\u202e <b>")
    answer = app.redeem(app.approve(world.owner, "comments", company=world.company))
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    pair = OAuthToken.model_validate(ok(answer))
    assert (pair.token_type, pair.expires_in, pair.scope) == ("Bearer", 3600, "comments")
    result = me(app, ok(answer))
    assert result["token"]["kind"] == "oauth"
    assert result["token"]["label"] == "Helper <b>"
    assert result["token"]["scopes"] == ["comments", "read"]
    assert result["token"]["company_id"] == world.company
    refusal = app.call(pair.access_token, "create_ticket", title="No", project_id=world.project)
    assert (refusal.status_code, refusal.json()["error"]["data"]["scope"]) == (403, "tickets:write")


def test_writes_carry_the_app_name_and_one_token_id_across_refreshes(world: World) -> None:
    app = App(world.box, name="Fixer")
    pair = app.connect(world.owner)
    (listed,) = apps(world)
    wrote: list[dict[str, Any]] = []
    for _ in range(2):
        ticket = ok(app.call(pair["access_token"], "create_ticket", title="By it", project_id=world.project))
        wrote.append(ticket["result"]["structuredContent"]["created"])
        pair = ok(app.refresh(pair["refresh_token"]))
    assert {(by["via"], by["token_label"], by["token_id"]) for by in wrote} == {("mcp", "Fixer", listed["id"])}


def test_grant_is_restricted_to_the_selected_projects(world: World) -> None:
    second = world.new_project("Second")
    app = App(world.box)
    choice = {"company": world.company, f"projects-{world.company}": [second], "projects-co_other": [world.project]}
    pair = app.connect(world.owner, **choice)
    assert me(app, pair)["token"]["project_ids"] == [second]
    (listed,) = apps(world)
    assert (listed["company_id"], listed["project_ids"]) == (world.company, [second])
    result = ok(app.call(pair["access_token"], "list_projects", company_id=world.company))
    assert [each["id"] for each in result["result"]["structuredContent"]["items"]] == [second]


def test_no_usable_secret_is_stored(world: World) -> None:
    app = App(world.box)
    code = app.approve(world.owner)
    pair = ok(app.redeem(code))
    path = world.box.db
    stored = b"".join(each.read_bytes() for each in (path, path.with_name(path.name + "-wal")) if each.exists())
    for secret in (code, app.verifier, pair["access_token"], pair["refresh_token"]):
        assert secret.encode() not in stored
        assert secret not in world.box.log.read_text()
    assert hash_secret(pair["access_token"]) in stored


WRONG: dict[str, Callable[[App], dict[str, str | None]]] = {
    "no verifier": lambda _: {"code_verifier": None},
    "short verifier": lambda _: {"code_verifier": "short"},
    "no code": lambda _: {"code": None},
    "no client": lambda _: {"client_id": None},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_incomplete_token_request_is_invalid(world: World, change: Callable[[App], dict[str, str | None]]) -> None:
    app = App(world.box)
    code = app.approve(world.owner)
    expect_oauth_error(app.redeem(code, **change(app)), "invalid_request")
    ok(app.redeem(code))


def test_code_is_bound_to_client_verifier_redirect_and_resource(world: World) -> None:
    app, other = App(world.box), App(world.box)
    code = app.approve(world.owner)
    expect_oauth_error(app.redeem(code, code_verifier=secrets.token_urlsafe(48)), "invalid_grant")
    expect_oauth_error(app.redeem(code, redirect_uri=CALLBACK + "/other"), "invalid_grant")
    expect_oauth_error(app.redeem(code, client_id=other.client_id), "invalid_grant")
    expect_oauth_error(app.redeem(code, client_id="app_unknown"), "invalid_client")
    expect_oauth_error(app.redeem(code, resource=f"{world.box.url}/api"), "invalid_target")
    expect_oauth_error(app.redeem(code, resource="https://elsewhere.example/mcp"), "invalid_target")
    expect_oauth_error(app.redeem(code[:-1]), "invalid_grant")
    expect_oauth_error(app.redeem(code, grant_type="password"), "unsupported_grant_type")
    expect_oauth_error(app.redeem(code, grant_type=None), "unsupported_grant_type")
    assert apps(world) == []
    ok(app.redeem(code, resource=None, unknown="ignored", scope=""))


def test_code_expires_after_a_minute(world: World) -> None:
    app = App(world.box)
    code = app.approve(world.owner)
    with read_only(world.box.db) as connection:
        result = "SELECT expires_at - (SELECT max(created_at) FROM credential) FROM oauth_request WHERE secret_hash = ?"
        assert connection.execute(result, (hash_secret(code),)).fetchone()[0] <= 61_000
    update_row(
        world.box.db,
        "UPDATE oauth_request SET expires_at = expires_at - 60000 WHERE secret_hash = ?",
        hash_secret(code),
    )
    expect_oauth_error(app.redeem(code), "invalid_grant")


def test_reused_code_revokes_its_grant(world: World) -> None:
    app = App(world.box)
    code = app.approve(world.owner)
    pair = ok(app.redeem(code))
    assert app.call(pair["access_token"]).status_code == 200
    expect_oauth_error(app.redeem(code), "invalid_grant")
    assert app.call(pair["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")
    assert apps(world) == []
    assert (audit(world)[0]["type"], audit(world)[0]["data"]["why"]) == ("token.revoked", "code used twice")


def test_handle_and_code_are_not_interchangeable(world: World) -> None:
    app, browser = App(world.box), browser_of(world.owner)
    handle = handle_in(app.ask(browser))
    expect_oauth_error(app.redeem(handle), "invalid_grant")
    code = app.approve(world.owner)
    form = {"handle": code, "decision": "approve", "company": "", "scope": ["read"]}
    assert "expired" in browser.post("/oauth/authorize", data=form).text
    pair = ok(app.redeem(code))
    expect_oauth_error(app.refresh(pair["access_token"]), "invalid_grant")
    assert app.call(pair["refresh_token"]).status_code == 401
    assert app.call(code).status_code == 401


def test_refresh_returns_a_new_pair_and_keeps_the_old_access_token_valid(world: World) -> None:
    app = App(world.box)
    pair = app.connect(world.owner)
    new = ok(app.refresh(pair["refresh_token"]))
    assert len({*pair.values()} & {*new.values()}) == 3  # type, lifetime, scope
    assert [app.call(each["access_token"]).status_code for each in (pair, new)] == [200, 200]
    age(world, pair["access_token"], "expires_at", 3600)
    assert [app.call(each["access_token"]).status_code for each in (pair, new)] == [401, 200]


def test_sessions_that_share_a_refresh_token_each_get_a_pair_within_an_hour(world: World) -> None:
    """A session keeps the token in memory until its access token expires, whatever another one has stored since."""
    app = App(world.box)
    pair = app.connect(world.owner)
    first = ok(app.refresh(pair["refresh_token"]))
    age(world, pair["refresh_token"], "rotated_at", 3590)
    second = ok(app.refresh(pair["refresh_token"]))
    assert [app.call(each["access_token"]).status_code for each in (first, second)] == [200, 200]
    for each in (first, second):
        later = ok(app.refresh(each["refresh_token"]))
        assert app.call(later["access_token"]).status_code == 200


@pytest.mark.parametrize("how", ["after an hour", "of an older generation"])
def test_reused_refresh_token_revokes_the_grant(world: World, how: str) -> None:
    app = App(world.box)
    pair = app.connect(world.owner)
    new = ok(app.refresh(pair["refresh_token"]))
    if how == "after an hour":
        age(world, pair["refresh_token"], "rotated_at", 3601)
    else:
        new = ok(app.refresh(new["refresh_token"]))
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")
    assert app.call(new["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(new["refresh_token"]), "invalid_grant")
    assert audit(world)[0]["data"]["why"] == "refresh token used twice"


def test_refresh_token_is_bound_to_client_and_resource_for_ninety_days(world: World) -> None:
    app, other = App(world.box), App(world.box)
    pair = app.connect(world.owner)
    secret = pair["refresh_token"]
    expect_oauth_error(app.refresh(secret, client_id=other.client_id), "invalid_grant")
    expect_oauth_error(app.refresh(secret, client_id=None), "invalid_request")
    expect_oauth_error(app.refresh(secret, client_id="app_unknown"), "invalid_client")
    expect_oauth_error(app.refresh(secret, resource=f"{world.box.url}/api"), "invalid_target")
    expect_oauth_error(app.refresh("tok_" + "x" * 36), "invalid_grant")
    age(world, secret, "expires_at", 90 * 86_400)
    expect_oauth_error(app.refresh(secret), "invalid_grant")
    assert app.call(pair["access_token"]).status_code == 200


def test_refresh_can_narrow_scopes_but_never_widen_them(world: World) -> None:
    app = App(world.box)
    pair = app.connect(world.owner, "comments")
    for wider in (ALL, "tickets:write", "comments tickets:assign"):
        expect_oauth_error(app.refresh(pair["refresh_token"], scope=wider), "invalid_scope")
    narrow = ok(app.refresh(pair["refresh_token"], scope="read openid"))
    assert (narrow["scope"], me(app, narrow)["token"]["scopes"]) == ("read", ["read"])
    whole = ok(app.refresh(narrow["refresh_token"], scope="comments offline_access"))
    assert (whole["scope"], me(app, whole)["token"]["scopes"]) == ("comments", ["comments", "read"])


def test_token_works_only_for_its_resource(world: World) -> None:
    app = App(world.box)
    api = f"{world.box.url}/api"
    for_mcp, for_api = app.connect(world.owner), app.connect(world.owner, resource=api)
    rest = {name: world.box.client(pair["access_token"]) for name, pair in {"mcp": for_mcp, "api": for_api}.items()}
    assert [app.call(each["access_token"]).status_code for each in (for_mcp, for_api)] == [200, 401]
    assert [rest[name].get("/me").status_code for name in ("mcp", "api")] == [401, 200]
    assert ok(rest["api"].get("/me", headers={"X-Ticketbox-Client": "extension"}))["token"]["kind"] == "oauth"


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_app_can_revoke_its_grant_with_either_token(world: World, which: str) -> None:
    app, other = App(world.box), App(world.box)
    pair = app.connect(world.owner)
    ended = {"token": pair[which], "token_type_hint": "nonsense"}
    expect_oauth_error(app.http.post("/oauth/revoke", data={**ended, "client_id": other.client_id}), "invalid_grant")
    assert app.call(pair["access_token"]).status_code == 200
    for _ in range(2):
        assert app.http.post("/oauth/revoke", data={**ended, "client_id": app.client_id}).status_code == 200
    assert app.call(pair["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")
    assert [event["type"] for event in audit(world)] == ["token.revoked", "token.created", "token.created"]
    assert app.http.post("/oauth/revoke", data={"token": "unknown"}).status_code == 200
    expect_oauth_error(app.http.post("/oauth/revoke", data={"a": "b"}), "invalid_request")


def test_person_revokes_only_their_own_grants(world: World, other: World) -> None:
    app = App(world.box, name="Fixer")
    pair = app.connect(world.owner, "read", company=world.company)
    assert apps(other) == []
    (listed,) = apps(world)
    assert (listed["name"], listed["redirect_host"], listed["client_host"]) == ("Fixer", "127.0.0.1:33418", None)
    assert (listed["scopes"], listed["project_ids"], listed["last_used_at"]) == (["read"], None, None)
    assert ok(world.owner.web.get("/tokens"))["items"] == [
        each for each in ok(world.owner.web.get("/tokens"))["items"] if each["kind"] == "api"
    ]
    expect_error(other.owner.web.delete(f"/connected-apps/{listed['id']}"), 404, "not_found")
    expect_error(world.owner.web.delete(f"/tokens/{listed['id']}"), 404, "not_found")
    assert app.call(pair["access_token"]).status_code == 200
    ok(world.owner.web.delete(f"/connected-apps/{listed['id']}"))
    assert app.call(pair["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")
    expect_error(world.owner.web.delete(f"/connected-apps/{listed['id']}"), 404, "not_found")
    revoked, created, *_ = audit(world)
    assert (revoked["type"], revoked["by"]["via"], revoked["data"]["label"]) == ("token.revoked", "web", "Fixer")
    assert created["data"] == {
        "token_id": listed["id"], "label": "Fixer", "scopes": ["read"], "user_id": world.owner.id, "kind": "oauth"
    }  # fmt: skip


def test_grant_ends_with_the_membership_it_depends_on(world: World) -> None:
    person = world.join("Bob")
    app = App(world.box)
    pair = app.connect(person, company=world.company)
    ok(world.owner.web.delete(f"/companies/{world.company}/members/{person.id}"))
    assert app.call(pair["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")


def test_grant_never_exceeds_the_role_of_its_user(world: World) -> None:
    person = world.join("Bob")
    app = App(world.box)
    pair = app.connect(person)
    code = app.approve(person, company=world.company)
    path = f"/companies/{world.company}/members/{person.id}"
    ok(world.owner.web.patch(path, json={"role": "viewer"}))
    tool_result = ok(app.call(pair["access_token"], "create_ticket", title="No", project_id=world.project))["result"]
    assert (tool_result["isError"], tool_result["structuredContent"]["code"]) == (True, "forbidden")
    expect_oauth_error(app.redeem(code), "invalid_grant")
    ok(world.owner.web.patch(path, json={"role": "member"}))
    code = app.approve(person)
    run_operation(world.box.db, "disable_user", {"user": person.id})
    expect_oauth_error(app.redeem(code), "invalid_grant")
    assert app.call(pair["access_token"]).status_code == 401
    expect_oauth_error(app.refresh(pair["refresh_token"]), "invalid_grant")


def test_command_line_revokes_a_grant(world: World) -> None:
    app = App(world.box)
    pair = app.connect(world.owner)
    run_operation(world.box.db, "revoke_issued_token", {"token_id": apps(world)[0]["id"]})
    assert app.call(pair["access_token"]).status_code == 401


def test_malformed_and_huge_bodies_get_oauth_errors(world: World) -> None:
    http = App(world.box).http
    form = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/oauth/token", "/oauth/revoke"):
        expect_oauth_error(http.post(path, content=b"a=%ff", headers=form), "invalid_request")
        expect_oauth_error(http.post(path, content=b"\xff\xfe", headers=form), "invalid_request")
        expect_oauth_error(http.post(path, content=b"token=a&token=b&grant_type=x", headers=form), "invalid_request")
        expect_oauth_error(http.post(path, content=b"a=1&" * 40, headers=form), "invalid_request")
        expect_oauth_error(http.post(path, content=b"x" * 20_000, headers=form), "invalid_request", 413)
        expect_oauth_error(http.post(path, json={"token": "x"}), "invalid_request", 415)
    expect_oauth_error(
        http.post("/oauth/token", data={"grant_type": "refresh_token", "client_id": "a\x00b"}), "invalid_request"
    )
    answer = http.post("/oauth/token", data={"grant_type": "refresh_token", "client_id": "\0", "refresh_token": "\0"})
    expect_oauth_error(answer, "invalid_client")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize("sent", ["Basic", "Bearer"])
def test_client_that_authenticates_in_a_header_is_invalid(world: World, path: str, sent: str) -> None:
    """RFC 6749, 5.2: 401, and the challenge has the scheme that the client used."""
    app = App(world.box)
    form = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x", "client_id": app.client_id}
    basic = httpx.BasicAuth(app.client_id, "")._auth_header
    answer = app.http.post(path, data=form, headers={"Authorization": basic if sent == "Basic" else "Bearer x"})
    expect_oauth_error(answer, "invalid_client", 401)
    assert answer.headers["www-authenticate"] == f'{sent} realm="ticketbox"'
    assert "send client_id in the form" in answer.json()["error_description"]


def test_guessing_at_the_token_endpoint_is_throttled(world: World) -> None:
    app = App(world.box)
    answers = [app.refresh("guess") for _ in range(70)]
    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited
    assert limited[0].json()["error"] == "temporarily_unavailable"
    assert int(limited[0].headers["retry-after"]) >= 1


def test_cleanup_removes_expired_grants_and_keeps_valid_ones(world: World) -> None:
    from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
    from ticketbox.store.accounts.oauth import clients as oauth_clients
    from ticketbox.store.accounts.oauth import grants as oauth_grants
    from ticketbox.store.file.database import Write

    app, unused = App(world.box), App(world.box)
    pair, code = app.connect(world.owner), app.approve(world.owner)
    path = world.box.db.with_name("tidied.db")
    with sqlite3.connect(world.box.db) as source, sqlite3.connect(path) as copy:
        source.backup(copy)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    now = connection.execute("SELECT max(created_at) FROM oauth_secret").fetchone()[0]

    def count_rows(sql: str, value: object) -> int:
        return connection.execute(f"SELECT count(*) FROM {sql} = ?", (value,)).fetchone()[0]

    for later, expected in ((0, (1, 1, 1, 1)), (7_200_000, (0, 1, 1, 1)), (2 * 86_400_000, (0, 1, 0, 0))):
        tx = Write(connection, now + later)
        oauth_grants.delete_expired_secrets(tx)
        oauth_authorizations.delete_expired_requests(tx)
        oauth_clients.delete_unused_clients(tx)
        assert expected == (
            count_rows("oauth_secret WHERE secret_hash", hash_secret(pair["access_token"])),
            count_rows("oauth_secret WHERE secret_hash", hash_secret(pair["refresh_token"])),
            count_rows("oauth_request WHERE secret_hash", hash_secret(code)),
            count_rows("oauth_client WHERE client_id", unused.client_id),
        )
        assert count_rows("oauth_client WHERE client_id", app.client_id) == 1
    connection.close()
    assert read_contents(world.box.db)["oauth_secret"]
