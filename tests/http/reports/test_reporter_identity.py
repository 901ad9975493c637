"""Signed identities of reporters: who is believed, and who is refused (docs/use/reports.md#signed-identity)."""

import time
from typing import Any

import httpx
import jwt

from tests.http.reports.test_reports import Reporter
from tests.support.cli import run
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import draw_address, update_row
from tests.support.server import World, expect_error, ok

ANN = {"sub": "4711", "name": "Ann Example", "email": "ann@example.org"}


def create_secret(reporter: Reporter) -> str:
    """Create the key's identity secret, or replace it."""
    return ok(reporter.world.owner.web.post(f"/report-keys/{reporter.key['id']}/identity-secret"))["secret"]


def sign(secret: str, seconds: float = 3600, **claims: Any) -> str:
    """Sign an identity as a site's server does; it expires after some seconds."""
    return jwt.encode({**ANN, "exp": int(time.time() + seconds), **claims}, secret)


def send(reporter: Reporter, identity: str, **given: Any) -> httpx.Response:
    """Send a report with an identity, from an address that nobody else has."""
    reporter.address = draw_address()
    return reporter.send(identity=identity, **given)


def read_reporter(reporter: Reporter) -> dict[str, Any]:
    """Who reported the newest ticket."""
    ticket = reporter.find_tickets()[0]
    return ok(reporter.world.api.get(f"/tickets/{ticket['id']}/reporter"))


def expect_refused(answer: httpx.Response, words: str) -> None:
    """The identity was refused, in these words, to the page that sent it."""
    expect_error(answer, 400, "invalid_request")
    assert answer.headers["access-control-allow-origin"] == "https://shop.example"
    (error,) = answer.json()["errors"]
    assert error["field"] == "identity"
    assert words in error["message"]


def test_signed_identity_is_verified_and_replaces_what_was_written(world: World) -> None:
    reporter = Reporter(world)
    secret = create_secret(reporter)
    ok(send(reporter, sign(secret), name="Somebody", email="else@example.org"))
    shown = read_reporter(reporter)
    assert {name: shown[name] for name in ("user_id", "name", "email", "verified")} == {
        "user_id": "4711", "name": "Ann Example", "email": "ann@example.org", "verified": True,
    }  # fmt: skip
    # without an identity, a report is accepted and marked
    ok(send(reporter, "", name="Ann Example", email="ann@example.org"))
    shown = read_reporter(reporter)
    assert (shown["name"], shown["user_id"], shown["verified"]) == ("Ann Example", None, False)
    # only the id is required
    ok(send(reporter, jwt.encode({"sub": "4712", "exp": time.time() + 60}, secret), name="Somebody"))
    shown = read_reporter(reporter)
    assert (shown["user_id"], shown["name"], shown["email"], shown["verified"]) == ("4712", "", "", True)


def test_agents_and_the_command_line_see_who_reported_and_whether_it_is_verified(world: World) -> None:
    reporter = Reporter(world)
    secret = create_secret(reporter)
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("read")}
    signed = {"name": "Ann Example", "email": "ann@example.org", "user_id": "4711", "verified": True}
    written = {"name": "Somebody", "email": "else@example.org", "verified": False}
    for identity, expected, line in (
        (sign(secret), signed, "reported by Ann Example <ann@example.org> (id 4711), verified\n"),
        ("", written, "reported by Somebody <else@example.org>, not verified\n"),
    ):
        ok(send(reporter, identity, name="Somebody", email="else@example.org"))
        ticket = reporter.find_tickets()[0]["id"]
        answer = call_tool(world, world.owner.token("read"), "get_ticket", {"ticket_id": ticket, "include": []})
        assert answer["structuredContent"]["reporter"] == expected
        assert line in run("ticket", "show", ticket, **environment).stdout
    other = world.ticket()["id"]
    answer = call_tool(world, world.owner.token("read"), "get_ticket", {"ticket_id": other, "include": []})
    assert "reporter" not in answer["structuredContent"]
    assert "reported by" not in run("ticket", "show", other, **environment).stdout


def test_forged_expired_and_foreign_identities_are_refused(world: World) -> None:
    reporter, other = Reporter(world), Reporter(world)
    expect_refused(send(reporter, sign("x" * 40)), "no identity secret")
    secret, foreign = create_secret(reporter), create_secret(other)
    for forged in (sign(foreign), sign(secret)[:-1], jwt.encode(ANN, "", algorithm="none")):
        expect_refused(send(reporter, forged), "identity secret signed with HS256")
    expect_refused(send(reporter, sign(secret, -61)), "has expired")
    expect_refused(send(reporter, sign(secret, 25 * 3600)), "at most 24 hours")
    assert reporter.find_tickets() == []


def test_secret_is_shown_once_replaced_with_an_overlap_and_deleted(world: World) -> None:
    reporter = Reporter(world)
    assert reporter.key["has_identity_secret"] is False
    first = create_secret(reporter)
    path = f"/report-keys/{reporter.key['id']}"
    made = ok(world.owner.web.post(f"{path}/identity-secret"))
    second = made["secret"]
    assert made["report_key"]["has_identity_secret"] is True
    assert made["report_key"]["old_identity_secret_until"] is not None
    for secret in (first, second):
        ok(send(reporter, sign(secret)))
    update_row(world.box.db, "UPDATE report_key SET old_identity_until = 1 WHERE public_id = ?", reporter.key["id"])
    expect_refused(send(reporter, sign(first)), "identity secret signed")
    ok(send(reporter, sign(second)))
    third = create_secret(reporter)
    ok(world.owner.web.delete(f"{path}/identity-secret"))
    for secret in (second, third):
        expect_refused(send(reporter, sign(secret)), "no identity secret")
    ok(send(reporter, ""))
    # nothing shows a secret again, and no token reaches it
    create_secret(reporter)
    listed = world.owner.web.get(f"/projects/{world.project}/report-keys").text
    audit = world.owner.web.get(f"/companies/{world.company}/audit").text
    assert reporter.key["id"] in audit
    for secret in (first, second, third):
        assert secret not in listed + audit
    assert world.api.post(f"{path}/identity-secret").status_code == 403
    assert world.api.get(f"/projects/{world.project}/report-keys").status_code == 403
