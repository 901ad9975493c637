"""Who sees and may do what (docs/use/tokens.md): the rules, each in a world where it matters."""

import secrets
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.operation_cases import (
    NEVER,
    WRITING,
    create_comment,
    create_invitation,
    create_rows,
    make_capture,
    screenshot_of,
    update_row,
)
from tests.support.server import PASSWORD, Person, World, expect_error, ok
from ticketbox.cli.core.operations import run_operation


def ids(answer: httpx.Response) -> set[str]:
    """The ids of a list."""
    return {each["id"] for each in ok(answer)["items"]}


class TwoProjects:
    """A company with two projects, a ticket in each, and a member who is kept to the first one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.second = world.new_project("Second")
        self.mine = world.ticket("A needle here")["id"]
        self.hidden = world.ticket("A needle there", project_id=self.second)["id"]
        self.kept = world.join("Kim", project_ids=[world.project])


@pytest.fixture
def divided(world: World) -> TwoProjects:
    """The divided company."""
    return TwoProjects(world)


def connect_restricted_member(divided: TwoProjects) -> httpx.Client:
    return divided.kept.client(*WRITING)


def connect_restricted_session(divided: TwoProjects) -> httpx.Client:
    return divided.kept.web


def connect_restricted_token(divided: TwoProjects) -> httpx.Client:
    return divided.world.owner.client(*WRITING, project_ids=[divided.world.project])


ONLY_FIRST = pytest.mark.parametrize(
    "caller", [connect_restricted_member, connect_restricted_session, connect_restricted_token]
)


@ONLY_FIRST
def test_lists_contain_only_what_the_caller_can_see(
    divided: TwoProjects, caller: Callable[[TwoProjects], httpx.Client]
) -> None:
    client, world = caller(divided), divided.world
    everything = {"status": "all", "limit": 100}
    assert ids(client.get("/projects")) == {world.project}
    assert ids(client.get("/companies")) == {world.company}
    for sort in ("created", "-created", "updated", "-updated", "priority", "-priority"):
        assert ids(client.get("/tickets", params={**everything, "sort": sort})) == {divided.mine}
    assert ids(client.get("/search", params={"q": "needle"})) == {divided.mine}
    assert ids(client.get("/tickets", params={"project_id": divided.second})) == set()
    assert ids(world.api.get("/tickets", params=everything)) == {divided.mine, divided.hidden}


@ONLY_FIRST
def test_events_contain_only_what_the_caller_can_see(
    divided: TwoProjects, caller: Callable[[TwoProjects], httpx.Client]
) -> None:
    client, world = caller(divided), divided.world
    ok(world.api.patch(f"/tickets/{divided.hidden}", json={"title": "Secret"}))
    seen = ok(client.get("/events", params={"limit": 100}))["items"]
    assert {each["project_id"] for each in seen} == {world.project}
    assert {each["ticket_id"] for each in seen} == {None, divided.mine}
    assert "Secret" not in str(seen)
    whole = ok(world.api.get("/events", params={"limit": 100}))["items"]
    assert divided.hidden in {each["ticket_id"] for each in whole}
    assert "member.joined" in {each["type"] for each in whole}
    assert not any(each["type"].startswith("token.") for each in whole)


def test_rows_of_a_project_are_not_found_by_those_who_cannot_see_it(divided: TwoProjects) -> None:
    """Rule 1 and the second half of rule 2: reads and writes alike, as if it didn't exist."""
    world, client = divided.world, divided.kept.client(*WRITING)
    theirs = create_rows(world, divided.second)
    for noun in ("ticket", "capture", "asset", "comment", "column", "project"):
        for result in answers_about(client, noun, theirs[noun], theirs):
            nothing = {**theirs, noun: NEVER[noun]}
            for never in answers_about(client, noun, NEVER[noun], nothing):
                if (never.request.method, never.request.content) == (result.request.method, result.request.content):
                    assert never.text == result.text
            expect_error(result, 404, "not_found")


def answers_about(client: httpx.Client, noun: str, id_: str, beside: dict[str, str]) -> list[httpx.Response]:
    """Read and write a row."""
    calls: dict[str, list[tuple[str, str, Any]]] = {
        "ticket": [("GET", "", None), ("GET", "/comments", None), ("PATCH", "", {"title": "x"}), ("POST", "/work", {})],
        "capture": [("GET", "/console", None), ("GET", "/har", None)],
        "asset": [("GET", "", None), ("GET", "/content", None), ("PUT", "/annotations", {"annotations": []})],
        "comment": [("PATCH", "", {"body": "x"}), ("DELETE", "", None)],
        "column": [],
        "project": [("GET", "/columns", None)],
    }
    result = [client.request(method, f"/{noun}s/{id_}{path}", json=body) for method, path, body in calls[noun]]
    if noun in {"column", "project"}:
        result.append(client.post("/tickets", json={"title": "x", f"{noun}_id": beside[noun]}))
    return result


def test_restricted_token_cannot_read_or_write_outside_its_project(divided: TwoProjects) -> None:
    """Rules 1 and 2: the owner sees the row, so the write says forbidden; the read still says nothing."""
    client = connect_restricted_token(divided)
    theirs = create_rows(divided.world, divided.second)
    for noun in ("ticket", "capture", "asset", "comment", "column", "project"):
        for answer in answers_about(client, noun, theirs[noun], theirs):
            if answer.request.method == "GET":
                expect_error(answer, 404, "not_found")
            else:
                assert "restrict" in expect_error(answer, 403, "forbidden")["detail"]


def test_missing_scope_is_reported_before_the_row_is_looked_up(world: World) -> None:
    """Rule 3: otherwise 403 against 404 would tell which rows exist."""
    reader = world.owner.client("read")
    for ticket in (world.ticket()["id"], NEVER["ticket"], "nonsense"):
        problem = expect_error(reader.patch(f"/tickets/{ticket}", json={"title": "x"}), 403, "insufficient_scope")
        assert problem["scope"] == "tickets:write"


@pytest.mark.parametrize(
    ("scopes", "reads", "comments", "writes", "assigns"),
    [
        (("read",), True, False, False, False),
        (("comments",), True, True, False, False),
        (("tickets:write",), True, True, True, False),
        (("tickets:assign",), True, False, False, True),
        (("comments", "tickets:assign"), True, True, False, True),
        (("tickets:write", "tickets:assign"), True, True, True, True),
    ],
)
def test_scope_matrix(
    world: World, scopes: tuple[str, ...], reads: bool, comments: bool, writes: bool, assigns: bool
) -> None:
    client, ticket = world.owner.client(*scopes), world.ticket()["id"]
    answers = {
        "read": client.get(f"/tickets/{ticket}"),
        "comments": client.post(f"/tickets/{ticket}/comments", json={"body": "x"}),
        "tickets:write": client.patch(f"/tickets/{ticket}", json={"title": "x"}),
        "tickets:assign": client.put(f"/tickets/{ticket}/assignees/me"),
    }
    assert {scope: answer.is_success for scope, answer in answers.items()} == {
        "read": reads,
        "comments": comments,
        "tickets:write": writes,
        "tickets:assign": assigns,
    }
    for scope, answer in answers.items():
        if not answer.is_success:
            assert expect_error(answer, 403, "insufficient_scope")["scope"] == scope


def mover(world: World) -> httpx.Client:
    return world.api


def mover_by_session(world: World) -> httpx.Client:
    return world.owner.web


def mover_pinned(world: World) -> httpx.Client:
    return world.owner.client(*WRITING, company_id=world.company)


def mover_restricted(world: World) -> httpx.Client:
    return world.owner.client(*WRITING, project_ids=[world.project])


@pytest.mark.parametrize("caller", [mover, mover_by_session, mover_pinned, mover_restricted])
@pytest.mark.parametrize("whose", ["a stranger's", "one's own"])
def test_ticket_cannot_move_to_another_company(
    world: World, other: World, caller: Callable[[World], httpx.Client], whose: str
) -> None:
    """Rule 4, also for somebody who owns both companies."""
    column = other.columns[0]
    if whose == "one's own":
        company = ok(world.owner.web.post("/companies", json={"name": "Second"}))["id"]
        project = ok(world.owner.web.post(f"/companies/{company}/projects", json={"name": "There"}))["id"]
        column = world.columns_of(project)[0]
    client, ticket = caller(world), world.ticket()
    given = {"column_id": column}
    problem = expect_error(client.post(f"/tickets/{ticket['id']}/move", json=given), 403, "cross_company_move")
    assert problem["title"] == "forbidden"
    (result,) = ok(client.post("/tickets/bulk-move", json={**given, "ticket_ids": [ticket["id"]]}))["results"]
    assert (result["ok"], result["error"]["code"]) == (False, "cross_company_move")
    now = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert (now["column_id"], now["version"]) == (ticket["column_id"], ticket["version"])


def test_ticket_can_move_to_another_project_of_its_company(divided: TwoProjects) -> None:
    world = divided.world
    column = world.columns_of(divided.second)[2]
    moved = ok(world.api.post(f"/tickets/{divided.mine}/move", json={"column_id": column}))
    assert (moved["project_id"], moved["column_id"]) == (divided.second, column)
    # It is gone for members who only see the project that it left.
    expect_error(divided.kept.web.get(f"/tickets/{divided.mine}"), 404, "not_found")
    assert ids(divided.kept.web.get("/tickets")) == set()


def test_ticket_cannot_move_to_a_project_the_caller_cannot_see(divided: TwoProjects) -> None:
    world, column = divided.world, divided.world.columns_of(divided.second)[0]
    path, given = f"/tickets/{divided.mine}/move", {"column_id": column}
    expect_error(connect_restricted_member(divided).post(path, json=given), 404, "not_found")
    expect_error(connect_restricted_token(divided).post(path, json=given), 403, "forbidden")
    assert ok(world.api.get(f"/tickets/{divided.mine}"))["project_id"] == world.project


def test_archived_ticket_is_hidden_but_its_contents_stay_readable(world: World) -> None:
    """Rule 5."""
    new_capture = make_capture(world)
    ticket, capture = new_capture["ticket_id"], new_capture["capture_id"]
    asset = screenshot_of(world, ticket)
    create_comment(world, ticket)
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(world.api.get(f"/tickets/{ticket}"), 404, "not_found")
    expect_error(world.api.get(f"/tickets/{ticket}", params={"status": "active"}), 404, "not_found")
    assert ids(world.api.get("/search", params={"q": "Cart"})) == set()
    for status in ("archived", "all"):
        assert ids(world.api.get("/search", params={"q": "Cart", "status": status})) == {ticket}
        assert ok(world.api.get(f"/tickets/{ticket}", params={"status": status}))["status"] == "archived"
    for path in (
        f"/tickets/{ticket}/comments", f"/tickets/{ticket}/history", f"/tickets/{ticket}/screenshot",
        f"/tickets/{ticket}/attachments", f"/captures/{capture}/console", f"/captures/{capture}/network",
        f"/captures/{capture}/errors", f"/captures/{capture}/har", f"/assets/{asset}", f"/assets/{asset}/content",
        f"/assets/{asset}/annotations",
    ):  # fmt: skip
        assert world.api.get(path).status_code == 200, path
    expect_error(world.api.put(f"/assets/{asset}/annotations", json={"annotations": []}), 409, "ticket_archived")
    (said,) = ok(world.api.get(f"/tickets/{ticket}/comments"))["items"]
    expect_error(world.api.patch(f"/comments/{said['id']}", json={"body": "No"}), 409, "ticket_archived")
    expect_error(world.api.delete(f"/comments/{said['id']}"), 409, "ticket_archived")


ROLES = ["viewer", "member", "admin", "owner"]


def change_limits(world: World, person: Person) -> httpx.Response:
    limits = {"reads_per_minute": 700, "writes_per_minute": None}
    return person.web.patch(f"/companies/{world.company}", json={"limits": limits})


def make_owner(world: World, person: Person) -> httpx.Response:
    path = f"/companies/{world.company}/members/{world.join('Eve').id}"
    return person.web.patch(path, json={"role": "owner"})


def make_token(world: World, person: Person) -> httpx.Response:
    return person.web.post("/tokens", json={"label": "x", "scopes": ["read"], "company_id": world.company})


MAY: list[tuple[str, Callable[[World, Person], httpx.Response], int]] = [
    ("read", lambda w, p: p.web.get(f"/tickets/{w.ticket()['id']}"), 0),
    ("list members", lambda w, p: p.web.get(f"/companies/{w.company}/members"), 0),
    ("create a ticket", lambda w, p: p.web.post("/tickets", json={"project_id": w.project, "title": "x"}), 1),
    ("edit", lambda w, p: p.web.patch(f"/tickets/{w.ticket()['id']}", json={"title": "x"}), 1),
    ("move", lambda w, p: p.web.post(f"/tickets/{w.ticket()['id']}/move", json={"column_id": w.columns[1]}), 1),
    ("archive", lambda w, p: p.web.post(f"/tickets/{w.ticket()['id']}/archive"), 1),
    ("assign", lambda w, p: p.web.put(f"/tickets/{w.ticket()['id']}/assignees/{w.owner.id}"), 1),
    ("comment", lambda w, p: p.web.post(f"/tickets/{w.ticket()['id']}/comments", json={"body": "x"}), 1),
    ("create a token", make_token, 1),
    ("create a project", lambda w, p: p.web.post(f"/companies/{w.company}/projects", json={"name": "x"}), 2),
    ("create a column", lambda w, p: p.web.post(f"/projects/{w.project}/columns", json={"name": "x"}), 2),
    ("change limits", change_limits, 2),
    ("invite", lambda w, p: p.web.post(f"/companies/{w.company}/invitations", json={}), 2),
    ("read the audit log", lambda w, p: p.web.get(f"/companies/{w.company}/audit"), 2),
    ("make an owner", make_owner, 3),
    ("invite an owner", lambda w, p: p.web.post(f"/companies/{w.company}/invitations", json={"role": "owner"}), 3),
    ("remove the company", lambda w, p: p.web.delete(f"/companies/{w.company}"), 3),
]


@pytest.mark.parametrize("role", ROLES)
def test_role_table(world: World, role: str) -> None:
    person = world.join("Rob", role)
    for what, attempt, least in MAY:
        answer = attempt(world, person)
        if ROLES.index(role) >= least:
            assert answer.is_success, (what, answer.text)
        else:
            assert "role" in expect_error(answer, 403, "forbidden")["detail"] or "owner" in answer.text, what


def test_viewer_cannot_create_any_token(world: World) -> None:
    viewer = world.join("Vic", "viewer")
    for given in ({}, {"company_id": world.company}, {"project_ids": [world.project]}):
        expect_error(viewer.web.post("/tokens", json={"label": "x", "scopes": ["read"], **given}), 403, "forbidden")


def member(world: World, person: Person) -> str:
    return f"/companies/{world.company}/members/{person.id}"


def test_last_owner_cannot_leave_or_be_demoted(world: World) -> None:
    me = member(world, world.owner)
    expect_error(world.owner.web.delete(me), 409, "conflict")
    for role in ("admin", "member", "viewer"):
        expect_error(world.owner.web.patch(me, json={"role": role}), 409, "conflict")
    second = world.join("Bob", "owner")
    expect_error(world.join("Adam", "admin").web.delete(me), 403, "forbidden")
    ok(second.web.patch(me, json={"role": "admin"}))
    expect_error(second.web.delete(member(world, second)), 409, "conflict")
    assert {each["role"] for each in ok(second.web.get(f"/companies/{world.company}/members"))["items"]} == {
        "owner",
        "admin",
    }


def test_only_owners_create_or_change_owners(world: World) -> None:
    admin, second = world.join("Adam", "admin"), world.join("Bob", "owner")
    for answer in (
        admin.web.patch(member(world, admin), json={"role": "owner"}),
        admin.web.patch(member(world, second), json={"role": "member"}),
        admin.web.patch(member(world, second), json={"project_ids": [world.project]}),
        admin.web.delete(member(world, second)),
        admin.web.post(f"/companies/{world.company}/invitations", json={"role": "owner"}),
    ):
        expect_error(answer, 403, "forbidden")
    ok(admin.web.patch(member(world, world.join("Mia")), json={"role": "admin"}))


def test_admin_cannot_withdraw_an_invitation_of_another_company(world: World, other: World) -> None:
    theirs = create_invitation(other)["id"]
    expect_error(world.owner.web.delete(f"/invitations/{theirs}"), 404, "not_found")
    assert theirs in ids(other.owner.web.get(f"/companies/{other.company}/invitations"))


def test_removed_member_loses_access_from_the_next_call(world: World) -> None:
    bob, ticket = world.join("Bob"), world.ticket()["id"]
    unpinned, pinned = bob.client("read"), bob.client(*WRITING, company_id=world.company)
    ok(world.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    assert ids(unpinned.get("/tickets")) == {ticket}
    ok(world.owner.web.delete(member(world, bob)))
    for client in (unpinned, bob.web):
        assert ids(client.get("/tickets")) == ids(client.get("/projects")) == ids(client.get("/companies")) == set()
        expect_error(client.get(f"/tickets/{ticket}"), 404, "not_found")
        expect_error(client.get(f"/companies/{world.company}/members"), 404, "not_found")
        assert ok(client.get("/events"))["items"] == []
        assert ok(client.get("/me"))["companies"] == []
    expect_error(pinned.get("/me"), 401, "unauthorized")
    assert ok(world.api.get(f"/tickets/{ticket}"))["assignees"] == []


def test_lowered_role_applies_from_the_next_call(world: World) -> None:
    bob, path = world.join("Bob"), f"/tickets/{world.ticket()['id']}"
    token = bob.client(*WRITING)
    ok(token.patch(path, json={"title": "Before"}))
    ok(world.owner.web.patch(member(world, bob), json={"role": "viewer"}))
    for client in (token, bob.web):
        expect_error(client.patch(path, json={"title": "After"}), 403, "forbidden")
        assert ok(client.get(path))["title"] == "Before"


def test_project_restriction_of_a_member_applies_from_the_next_call(divided: TwoProjects) -> None:
    world, kim = divided.world, divided.kept
    token = kim.client("read")
    expect_error(token.get(f"/tickets/{divided.hidden}"), 404, "not_found")
    ok(world.owner.web.patch(member(world, kim), json={"project_ids": None}))
    ok(token.get(f"/tickets/{divided.hidden}"))
    ok(world.owner.web.patch(member(world, kim), json={"project_ids": [divided.second]}))
    expect_error(token.get(f"/tickets/{divided.mine}"), 404, "not_found")
    assert ids(token.get("/tickets")) == {divided.hidden}


def test_restricted_admin_sees_the_project_they_create(divided: TwoProjects) -> None:
    world = divided.world
    admin = world.join("Adam", "admin", [world.project])
    project = ok(admin.web.post(f"/companies/{world.company}/projects", json={"name": "Adam's"}))["id"]
    assert ids(admin.web.get("/projects")) == {world.project, project}
    expect_error(admin.web.get(f"/tickets/{divided.hidden}"), 404, "not_found")
    assert project not in ids(divided.kept.web.get("/projects"))


def test_restrictions_of_token_and_member_are_combined(divided: TwoProjects) -> None:
    """A token for a project that its owner is let out of later sees nothing; it isn't a way in."""
    world, kim = divided.world, divided.kept
    token = kim.client(*WRITING, project_ids=[world.project])
    ok(world.owner.web.patch(member(world, kim), json={"project_ids": [divided.second]}))
    assert ids(token.get("/tickets")) == ids(token.get("/projects")) == set()
    expect_error(token.get(f"/tickets/{divided.mine}"), 404, "not_found")
    expect_error(token.patch(f"/tickets/{divided.mine}", json={"title": "x"}), 404, "not_found")
    expect_error(token.patch(f"/tickets/{divided.hidden}", json={"title": "x"}), 403, "forbidden")


def test_token_for_a_deleted_project_sees_nothing(divided: TwoProjects) -> None:
    world = divided.world
    token = world.owner.client(*WRITING, project_ids=[divided.second])
    ok(world.owner.web.delete(f"/projects/{divided.second}"))
    assert ids(token.get("/tickets")) == ids(token.get("/projects")) == set()
    expect_error(token.get(f"/tickets/{divided.mine}"), 404, "not_found")
    expect_error(token.post("/tickets", json={"project_id": world.project, "title": "x"}), 403, "forbidden")


def test_member_of_a_deleted_project_sees_nothing(divided: TwoProjects) -> None:
    world = divided.world
    ok(world.owner.web.delete(f"/projects/{world.project}"))
    assert ids(divided.kept.web.get("/tickets")) == ids(divided.kept.web.get("/projects")) == set()
    expect_error(divided.kept.web.get(f"/tickets/{divided.hidden}"), 404, "not_found")


def revoke_over_the_web(world: World, token: dict[str, Any]) -> None:
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))


def revoke_from_the_shell(world: World, token: dict[str, Any]) -> None:
    run_operation(world.box.db, "revoke_issued_token", {"token_id": token["id"]})


def let_it_expire(world: World, token: dict[str, Any]) -> None:
    update_row(world.box.db, "UPDATE credential SET expires_at = created_at + 1 WHERE public_id = ?", token["id"])


def disable_its_owner(world: World, token: dict[str, Any]) -> None:
    run_operation(world.box.db, "disable_user", {"user": world.owner.id})


@pytest.mark.parametrize("end", [revoke_over_the_web, revoke_from_the_shell, let_it_expire, disable_its_owner])
def test_ended_token_is_unauthorized_immediately(world: World, end: Callable[[World, dict[str, Any]], None]) -> None:
    token = ok(world.owner.web.post("/tokens", json={"label": "x", "scopes": ["tickets:write"], "expires_days": 30}))
    client, path = world.box.client(token["secret"]), f"/tickets/{world.ticket()['id']}"
    ok(client.get(path))
    end(world, token)
    expect_error(client.get(path), 401, "unauthorized")
    expect_error(client.patch(path, json={"title": "x"}), 401, "unauthorized")
    expect_error(client.get("/me"), 401, "unauthorized")


def test_disabled_account_cannot_sign_in_and_is_restored_completely(world: World) -> None:
    bob = world.join("Bob")
    token = bob.client("read")
    run_operation(world.box.db, "disable_user", {"user": bob.id})
    given = {"email": bob.email, "password": PASSWORD}
    expect_error(world.box.client().post("/session", json=given), 401, "unauthorized")
    expect_error(bob.web.get("/me"), 401, "unauthorized")
    run_operation(world.box.db, "disable_user", {"user": bob.id, "enable": True})
    ok(token.get("/me"))
    expect_error(bob.web.get("/me"), 401, "unauthorized")  # a session that ended doesn't revive
    ok(world.box.client().post("/session", json=given))


def budgets(client: httpx.Client) -> tuple[int, int]:
    """The calls a minute that a credential has."""
    budgets = ok(client.get("/me"))["budgets"]
    return budgets["reads"]["limit"], budgets["writes"]["limit"]


def set_limits(world: World, company: str, reads: int | None, writes: int | None) -> None:
    limits = {"reads_per_minute": reads, "writes_per_minute": writes}
    ok(world.owner.web.patch(f"/companies/{company}", json={"limits": limits}))


def test_company_limits_apply_immediately_and_unpinned_tokens_get_the_lowest(world: World) -> None:
    second = ok(world.owner.web.post("/companies", json={"name": "Second"}))["id"]
    unpinned = world.owner.client("read")
    first_token = world.owner.client("read", company_id=world.company)
    second_token = world.owner.client("read", company_id=second)
    assert budgets(unpinned) == budgets(first_token) == budgets(second_token) == (600, 60)
    set_limits(world, world.company, 1200, 30)
    assert budgets(first_token) == (1200, 30)
    assert budgets(second_token) == (600, 60)
    assert budgets(unpinned) == (600, 30)
    set_limits(world, second, 1000, 500)
    assert budgets(unpinned) == (1000, 30)
    assert budgets(world.owner.web) == (6000, 600)
    set_limits(world, world.company, None, None)
    assert budgets(first_token) == (600, 60)


def test_me_lists_what_the_caller_can_do(divided: TwoProjects) -> None:
    world = divided.world
    token = world.owner.client("tickets:assign", label="my agent", project_ids=[divided.second], expires_days=30)
    me = ok(token.get("/me"))
    assert me["user"] == {"id": world.owner.id, "name": "Ann", "email": world.owner.email}
    shown = me["token"]
    assert (shown["label"], shown["kind"], shown["scopes"]) == ("my agent", "api", ["read", "tickets:assign"])
    assert (shown["company_id"], shown["project_ids"]) == (world.company, [divided.second])
    assert shown["expires_at"] is not None
    assert me["companies"] == [{"id": world.company, "name": "Ann's company", "role": "owner"}]
    assert me["budgets"]["reads"]["remaining"] == me["budgets"]["reads"]["limit"] - 1


def test_token_never_exceeds_its_owner(world: World, other: World) -> None:
    """A token can be pinned only to what its owner sees, and only to projects of one company."""
    web = world.owner.web
    given = {"label": "x", "scopes": ["read"]}
    expect_error(web.post("/tokens", json={**given, "company_id": other.company}), 404, "not_found")
    expect_error(web.post("/tokens", json={**given, "project_ids": [other.project]}), 404, "not_found")
    expect_error(web.post("/tokens", json={**given, "project_ids": [world.project, other.project]}), 404, "not_found")
    second = ok(web.post("/companies", json={"name": "Second"}))["id"]
    beside = ok(web.post(f"/companies/{second}/projects", json={"name": "There"}))["id"]
    both = {"project_ids": [world.project, beside]}
    expect_error(web.post("/tokens", json={**given, **both}), 400, "invalid_request")
    apart = {"company_id": second, "project_ids": [world.project]}
    expect_error(web.post("/tokens", json={**given, **apart}), 400, "invalid_request")


def test_id_in_another_company_looks_like_an_unknown_id(world: World, other: World) -> None:
    """Well-formed, garbled, foreign: one body."""
    bodies = {
        world.api.get(f"/tickets/{text}").text
        for text in (other.ticket()["id"], NEVER["ticket"], "t-" + secrets.token_hex(4), "nonsense", "t-UPPER123")
    }
    assert len(bodies) == 1
