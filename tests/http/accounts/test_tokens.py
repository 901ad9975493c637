"""API tokens: created once, shown once, never changed."""

from datetime import datetime, timedelta

import pytest

from tests.support.operation_cases import Stage, read_only
from tests.support.server import World, expect_error, ok, ticketbox
from ticketbox.domain.accounts.secrets import hash_secret, is_well_formed


def test_token_is_shown_once_and_stored_as_a_hash(world: World) -> None:
    given = {"label": "  my agent ", "scopes": ["tickets:write", "read"], "project_ids": [world.project]}
    token = ok(world.owner.web.post("/tokens", json=given))
    secret = token.pop("secret")
    assert is_well_formed(secret)
    assert token["prefix"] == secret[:10]
    assert (token["label"], token["kind"], token["scopes"]) == ("my agent", "api", ["read", "tickets:write"])
    assert (token["company_id"], token["project_ids"]) == (world.company, [world.project])
    assert (token["expires_at"], token["last_used_at"]) == (None, None)
    listed = ok(world.owner.web.get("/tokens"))["items"]
    assert listed[0] == token
    assert secret not in str(listed)
    connection = read_only(world.box.db)
    try:
        query = "SELECT secret_hash FROM credential WHERE public_id = ?"
        assert connection.execute(query, (token["id"],)).fetchone() == (hash_secret(secret),)
    finally:
        connection.close()
    for file in world.box.db.parent.glob("ticketbox.db*"):
        assert secret.encode() not in file.read_bytes()
    assert secret not in world.box.log.read_text()


@pytest.mark.parametrize("days", [30, 90, 365])
def test_token_expires_at_its_time(stage: Stage, days: int) -> None:
    given = {"label": "x", "scopes": ["read"], "expires_days": days}
    token = ok(stage.owner.web.post("/tokens", json=given))
    created, expires = (datetime.fromisoformat(token[name]) for name in ("created", "expires_at"))
    assert expires - created == timedelta(days=days)
    assert ok(stage.box.client(token["secret"]).get("/me"))["token"]["expires_at"] == token["expires_at"]


@pytest.mark.parametrize(
    "given",
    [
        {"label": ""}, {"label": "x" * 101}, {"label": "a\nb"}, {"label": " "}, {"scopes": []},
        {"scopes": ["read", "read"]}, {"scopes": ["admin"]}, {"scopes": "read"}, {"expires_days": 0},
        {"expires_days": 3651}, {"expires_days": 1.5}, {"project_ids": []}, {"secret": "tok_x"}, {"kind": "oauth"},
        {"expires_at": "2999-01-01T00:00:00Z"}, {"user": "me"},
    ],
)  # fmt: skip
def test_invalid_token_is_rejected(stage: Stage, given: dict[str, object]) -> None:
    before = ok(stage.owner.web.get("/tokens"))["items"]
    answer = stage.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"], **given})
    expect_error(answer, 400, "invalid_request")
    assert ok(stage.owner.web.get("/tokens"))["items"] == before


def test_duplicate_project_is_rejected(stage: Stage) -> None:
    given = {"label": "x", "scopes": ["read"], "project_ids": [stage.project] * 2}
    expect_error(stage.owner.web.post("/tokens", json=given), 400, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT", "POST"])
def test_token_cannot_be_changed_or_read_again(stage: Stage, method: str) -> None:
    token = ok(stage.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"]}))
    given = {"scopes": ["tickets:write"]} if method != "GET" else None
    answer = stage.owner.web.request(method, f"/tokens/{token['id']}", json=given)
    assert set(expect_error(answer, 405, "method_not_allowed")["valid"]) <= {"DELETE", "OPTIONS"}


def test_revoked_token_is_not_listed_and_cannot_be_revoked_again(world: World) -> None:
    token = ok(world.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"]}))
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))
    assert token["id"] not in str(ok(world.owner.web.get("/tokens")))
    expect_error(world.owner.web.delete(f"/tokens/{token['id']}"), 404, "not_found")


def test_token_of_another_person_cannot_be_revoked(world: World) -> None:
    bob = world.join("Bob")
    token = ok(world.owner.web.post("/tokens", json={"label": "x", "scopes": ["read"]}))
    expect_error(bob.web.delete(f"/tokens/{token['id']}"), 404, "not_found")
    assert token["id"] not in str(ok(bob.web.get("/tokens")))
    ok(world.box.client(token["secret"]).get("/me"))


def test_session_is_not_listed_as_a_token(world: World) -> None:
    (session,) = ok(world.owner.web.get("/sessions"))["items"]
    expect_error(world.owner.web.delete(f"/tokens/{session['id']}"), 404, "not_found")
    ok(world.owner.web.get("/me"))


def test_creating_and_revoking_are_in_the_audit_log(world: World) -> None:
    given = {"label": "audited", "scopes": ["read"], "company_id": world.company}
    token = ok(world.owner.web.post("/tokens", json=given))
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))
    revoked, created = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"][:2]
    assert (created["type"], revoked["type"]) == ("token.created", "token.revoked")
    assert created["data"]["token_id"] == revoked["data"]["token_id"] == token["id"]
    assert "tok_" not in str((created, revoked))


def test_command_line_creates_lists_and_revokes_beside_the_server(world: World) -> None:
    db, email = world.box.db, world.owner.email
    done = ticketbox(
        "token", "create", "--user", email, "--label", "from the shell", "--scope", "read", "--project",
        world.project, "--expires-days", "30", db=db,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    secret = done.stdout.strip()
    assert is_well_formed(secret)
    client = world.box.client(secret)
    token = ok(client.get("/me"))["token"]
    assert (token["label"], token["project_ids"]) == ("from the shell", [world.project])
    listed = ticketbox("token", "list", "--user", email, db=db)
    assert token["id"] in listed.stdout
    assert secret not in listed.stdout
    assert ticketbox("token", "revoke", token["id"], db=db).returncode == 0
    expect_error(client.get("/me"), 401, "unauthorized")
    again = ticketbox("token", "revoke", token["id"], db=db)
    assert (again.returncode, "not found" in again.stderr) == (1, True)


@pytest.mark.long
def test_command_line_creates_only_what_the_owner_could(world: World, other: World) -> None:
    viewer = world.join("Vic", "viewer")
    for user, more in ((viewer.email, []), (world.owner.email, ["--company", other.company])):
        done = ticketbox("token", "create", "--user", user, "--label", "x", "--scope", "read", *more, db=world.box.db)
        assert done.returncode == 1
        assert done.stdout == ""
