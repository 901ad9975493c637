"""Invitations: single-use links into a company."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.operation_cases import Stage, create_invitation, read_only, update_row
from tests.support.server import PASSWORD, Person, World, expect_error, ok
from ticketbox.domain.accounts.secrets import generate_secret, hash_secret


def accept(client: httpx.Client, secret: str, **given: object) -> httpx.Response:
    return client.post(f"/invitations/accept/{secret}", json=given)


def test_invitation_is_shown_once_and_stored_as_a_hash(world: World) -> None:
    new_invitation = create_invitation(world, email="Bob@Example.org", role="viewer", project_ids=[world.project])
    assert new_invitation["secret"].startswith("tok_")
    assert new_invitation["path"].endswith(new_invitation["secret"])
    assert (new_invitation["email"], new_invitation["role"], new_invitation["project_ids"]) == (
        "bob@example.org",
        "viewer",
        [world.project],
    )
    (listed,) = ok(world.owner.web.get(f"/companies/{world.company}/invitations"))["items"]
    assert {"secret", "path"}.isdisjoint(listed)
    assert {**new_invitation, **listed} == new_invitation
    connection = read_only(world.box.db)
    try:
        query = "SELECT secret_hash FROM invitation WHERE public_id = ?"
        assert connection.execute(query, (new_invitation["id"],)).fetchone() == (hash_secret(new_invitation["secret"]),)
    finally:
        connection.close()


def test_link_describes_the_invitation(world: World) -> None:
    invitation = create_invitation(world, role="admin")
    answer = ok(world.box.client().get(f"/invitations/accept/{invitation['secret']}"))
    assert answer == {
        "company_name": "Ann's company",
        "role": "admin",
        "email": None,
        "invited_by": "Ann",
        "signed_in": False,
    }
    assert ok(world.owner.web.get(f"/invitations/accept/{invitation['secret']}"))["signed_in"] is True


def test_new_person_creates_an_account_and_is_signed_in(world: World) -> None:
    invitation = create_invitation(world, project_ids=[world.project])
    client, email = world.box.client(), f"new-{world.company}@example.org"
    answer = accept(client, invitation["secret"], name="New", email=email.upper(), password=PASSWORD)
    assert answer.status_code == 201
    assert "httponly" in answer.headers["set-cookie"].lower()
    me = ok(client.get("/me"))
    assert (me["user"]["email"], me["companies"][0]["role"]) == (email, "member")
    assert [each["id"] for each in ok(client.get("/projects"))["items"]] == [world.project]
    types = [each["type"] for each in ok(world.api.get("/events", params={"limit": 100}))["items"]]
    assert types[-2:] == ["member.invited", "member.joined"]


@pytest.mark.parametrize(
    "given",
    [{}, {"name": "N"}, {"name": "N", "email": "n@example.org"}, {"email": "n@example.org", "password": PASSWORD}],
)
def test_new_person_must_fill_in_everything_or_sign_in(world: World, given: dict[str, str]) -> None:
    invitation = create_invitation(world)
    expect_error(accept(world.box.client(), invitation["secret"], **given), 401, "unauthorized")
    ok(Person(world.box, "Bob").web.post(f"/invitations/accept/{invitation['secret']}", json={}))


def test_existing_account_must_sign_in_first(world: World) -> None:
    invitation, bob = create_invitation(world), Person(world.box, "Bob")
    given = {"name": "Not Bob", "email": bob.email.upper(), "password": "another password"}
    expect_error(accept(world.box.client(), invitation["secret"], **given), 409, "conflict")


def test_invitation_for_an_address_rejects_other_addresses(world: World) -> None:
    bob, eve = Person(world.box, "Bob"), Person(world.box, "Eve")
    invitation = create_invitation(world, email=bob.email.upper())
    expect_error(accept(eve.web, invitation["secret"]), 400, "invalid_request")
    given = {"name": "Eve", "email": "eve2@example.org", "password": PASSWORD}
    expect_error(accept(world.box.client(), invitation["secret"], **given), 400, "invalid_request")
    ok(accept(bob.web, invitation["secret"]))


def test_invitation_works_once(world: World) -> None:
    invitation = create_invitation(world)
    ok(accept(Person(world.box, "Bob").web, invitation["secret"]))
    expect_error(accept(Person(world.box, "Eve").web, invitation["secret"]), 404, "not_found")
    expect_error(world.box.client().get(f"/invitations/accept/{invitation['secret']}"), 404, "not_found")
    assert ok(world.owner.web.get(f"/companies/{world.company}/invitations"))["items"] == []


def test_invitation_works_once_under_concurrency(world: World) -> None:
    invitation = create_invitation(world)
    people = [Person(world.box, name) for name in ("Bob", "Cid", "Dee", "Eve")]
    start = threading.Barrier(4)

    def join(person: Person) -> int:
        start.wait()
        return accept(person.web, invitation["secret"]).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(join, people)) == [201, 404, 404, 404]
    assert len(ok(world.api.get(f"/companies/{world.company}/members"))["items"]) == 2


def test_member_cannot_join_again_and_the_link_stays_valid(world: World) -> None:
    invitation = create_invitation(world)
    expect_error(accept(world.owner.web, invitation["secret"]), 409, "conflict")
    ok(accept(Person(world.box, "Bob").web, invitation["secret"]))


def test_withdrawn_invitation_is_gone(world: World) -> None:
    invitation = create_invitation(world)
    ok(world.owner.web.delete(f"/invitations/{invitation['id']}"))
    expect_error(accept(Person(world.box, "Bob").web, invitation["secret"]), 404, "not_found")
    expect_error(world.owner.web.delete(f"/invitations/{invitation['id']}"), 404, "not_found")


def test_invitation_expires_after_two_weeks(world: World) -> None:
    new_invitation = create_invitation(world)
    age = "UPDATE invitation SET expires_at = expires_at - ? WHERE public_id = ?"
    update_row(world.box.db, age, 14 * 86_400_000 - 60_000, new_invitation["id"])
    ok(world.box.client().get(f"/invitations/accept/{new_invitation['secret']}"))
    update_row(world.box.db, age, 60_000, new_invitation["id"])
    expect_error(accept(Person(world.box, "Bob").web, new_invitation["secret"]), 404, "not_found")
    assert ok(world.owner.web.get(f"/companies/{world.company}/invitations"))["items"] == []


@pytest.mark.parametrize("secret", ["x", "tok_1234", "unknown", "%00", "..%2f..", "a" * 101])
def test_invalid_link_is_not_found(stage: Stage, secret: str) -> None:
    secret = generate_secret() if secret == "unknown" else secret
    answer = stage.box.client().get(f"/invitations/accept/{secret}")
    assert answer.status_code in {400, 404}
    assert answer.json()["code"] in {"invalid_request", "not_found"}


def test_accepting_an_invitation_rotates_the_session(world: World) -> None:
    bob = Person(world.box, "Bob")
    before = bob.session
    ok(accept(bob.web, create_invitation(world)["secret"]))
    assert bob.session != before
    expect_error(world.box.client(Cookie=f"{world.box.cookie}={before}").get("/me"), 401, "unauthorized")
    ok(bob.web.get("/me"))
