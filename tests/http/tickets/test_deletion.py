"""Deleting attachments, captures and tickets: who may, what is left, and that the content is overwritten."""

import secrets
from typing import Any

from tests.fault.test_secrets import texts_of
from tests.support.operation_cases import WRITING, build_parts, capture_arguments, make_capture, read_only
from tests.support.server import World, eventually, expect_error, ok, run_beside
from ticketbox.store.core.blobs import load_content
from ticketbox.store.file.check import open_inspection

SELECT_BLOBS = "SELECT id FROM blob"


def attach(client: Any, ticket: str, data: bytes, name: str = "customers.csv") -> str:
    return ok(client.post(f"/tickets/{ticket}/attachments", files={"file": (name, data)}))["id"]


def history_of(world: World, ticket: str) -> list[dict[str, Any]]:
    return ok(world.api.get(f"/tickets/{ticket}/history"))["items"]


def is_overwritten(world: World, content: bytes) -> bool:
    """Whether no byte of a content is in the file or its log, which the next write empties if somebody read it."""
    world.ticket()
    return not any(content in each.read_bytes() for each in world.box.db.parent.glob(world.box.db.name + "*"))


def count_blobs(world: World, *digests: str) -> int:
    connection = read_only(world.box.db)
    try:
        marks = ", ".join("?" for _ in digests)
        query = f"SELECT count(*) FROM blob WHERE hex(sha256) IN ({marks})"
        return connection.execute(query, [each.upper() for each in digests]).fetchone()[0]
    finally:
        connection.close()


def test_deleted_attachment_is_overwritten_and_stays_in_the_history_without_its_name(world: World) -> None:
    ticket = world.ticket()["id"]
    content = secrets.token_bytes(20_000)
    asset = attach(world.api, ticket, content)
    assert any(content[:64] in each.read_bytes() for each in world.box.db.parent.glob(world.box.db.name + "*"))
    assert [hit["id"] for hit in ok(world.api.get("/search", params={"q": "has:attachment"}))["items"]] == [ticket]
    assert world.owner.web.delete(f"/assets/{asset}").status_code == 204
    assert ok(world.api.get(f"/tickets/{ticket}/attachments"))["items"] == []
    assert ok(world.api.get("/search", params={"q": "has:attachment"}))["items"] == []
    for answer in (world.api.get(f"/assets/{asset}/content"), world.owner.web.delete(f"/assets/{asset}")):
        expect_error(answer, 404, "not_found")
    added, deleted = history_of(world, ticket)[1:]
    assert (added["type"], added["data"]) == ("attachment.added", {"asset_id": asset})
    assert (deleted["type"], deleted["data"]) == ("attachment.deleted", {"asset_id": asset})
    assert (deleted["by"]["user"]["name"], deleted["by"]["via"]) == ("Ann", "web")
    eventually(lambda: is_overwritten(world, content[:64]))


def test_content_that_another_ticket_uses_stays(world: World) -> None:
    first, second = (attach(world.api, world.ticket()["id"], b"the same bytes") for _ in range(2))
    ok(world.owner.web.delete(f"/assets/{first}"))
    assert world.api.get(f"/assets/{second}/content").content == b"the same bytes"


def test_only_who_added_a_file_or_a_capture_and_admins_can_delete_it(world: World) -> None:
    member, admin = world.join("Bob"), world.join("Eve", "admin")
    ticket = world.ticket()["id"]
    theirs, mine = attach(world.api, ticket, b"theirs"), attach(member.client("tickets:write"), ticket, b"mine")
    capture = make_capture(world)["capture_id"]
    for path in (f"/assets/{theirs}", f"/captures/{capture}"):
        expect_error(member.web.delete(path), 403, "forbidden")
        expect_error(world.owner.client(*WRITING).delete(path), 403, "forbidden")  # a token, even the owner's
        ok(admin.web.delete(path))
    ok(member.web.delete(f"/assets/{mine}"))
    shot = ok(world.api.get(f"/tickets/{make_capture(world)['ticket_id']}"))["capture"]["screenshot"]["id"]
    expect_error(world.owner.web.delete(f"/assets/{shot}"), 400, "invalid_request")
    kept = attach(world.api, ticket, b"kept")
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(world.owner.web.delete(f"/assets/{kept}"), 409, "ticket_archived")


def test_deleted_capture_leaves_the_ticket_with_the_one_before_it(world: World) -> None:
    first = make_capture(world)
    ticket = first["ticket_id"]
    parts = capture_arguments("", project_id=None, ticket_id=ticket)
    parts["errors"] = b'[{"ts": 1795253399000.5, "seq": 2, "kind": "error", "message": "Zanzibar is gone"}]'
    parts["actions"] = b'[{"ts": 1795253399000.5, "seq": 3, "kind": "click", "target": {"name": "Zanzibar"}}]'
    second = ok(world.api.post("/captures", files=build_parts(parts)))["capture_id"]
    shown = ok(world.api.get(f"/tickets/{ticket}"))
    assert shown["capture"]["id"] == second
    assert len(ok(world.api.get("/search", params={"q": "Zanzibar"}))["items"]) == 1
    ok(world.owner.web.delete(f"/captures/{second}"))
    after = ok(world.api.get(f"/tickets/{ticket}"))
    assert (after["capture"]["id"], len(after["captures"])) == (first["capture_id"], 1)
    assert (after["title"], after["version"]) == (shown["title"], shown["version"] + 1)
    assert ok(world.api.get("/search", params={"q": "Zanzibar"}))["items"] == []
    expect_error(world.api.get(f"/captures/{second}/errors"), 404, "not_found")
    assert "Zanzibar" not in str({name: rows for name, rows in texts_of(world.box.db).items() if name != "search_term"})
    contents = run_beside(world.box.db, lambda tx: [load_content(tx, key) for (key,) in tx.fetch_all(SELECT_BLOBS)])
    assert not [content for content in contents if b"Zanzibar" in content]
    assert history_of(world, ticket)[-1]["data"] == {"capture_id": second}
    ok(world.owner.web.delete(f"/captures/{first['capture_id']}"))
    last = ok(world.api.get(f"/tickets/{ticket}"))
    assert (last["capture"], last["captures"]) == (None, [])
    assert ok(world.api.get(f"/tickets/{ticket}/similar"))["items"] == []


def test_remaining_captures_keep_finding_similar_tickets(world: World) -> None:
    first, other = make_capture(world), make_capture(world)
    parts = capture_arguments("", project_id=None, ticket_id=first["ticket_id"])
    parts["errors"] = b'[{"ts": 1795253399000.5, "seq": 2, "kind": "error", "message": "Something else"}]'
    second = ok(world.api.post("/captures", files=build_parts(parts)))["capture_id"]
    ok(world.owner.web.delete(f"/captures/{second}"))
    (found,) = ok(world.api.get(f"/tickets/{first['ticket_id']}/similar"))["items"]
    assert found["id"] == other["ticket_id"]
    assert "same_message" in {each["similarity"] for each in found["reasons"]}


def test_deleted_ticket_is_gone_with_everything_in_it(world: World) -> None:
    marker = "Zq" + secrets.token_hex(8)
    kept = world.ticket("Kept")
    made = ok(
        world.api.post(
            "/tickets",
            json={"project_id": world.project, "title": "Doomed", "description": f"{marker} is here"},
            headers={"Idempotency-Key": marker[2:]},
        )
    )
    ticket = made["id"]
    content = secrets.token_bytes(20_000)
    attach(world.api, ticket, content, f"{marker}.csv")
    parts = capture_arguments("", project_id=None, ticket_id=ticket)
    ok(world.api.post("/captures", files=build_parts(parts)))
    digests = [each["sha256"] for each in ok(world.api.get(f"/tickets/{ticket}"))["attachments"]]
    ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": f"About {marker}"}))
    ok(world.api.post(f"/tickets/{ticket}/links", json={"kind": "blocks", "other": kept["id"]}))
    ok(world.api.post(f"/tickets/{ticket}/work", json={"branch": marker}))
    admin = world.join("Eve", "admin")
    expect_error(admin.web.delete(f"/tickets/{ticket}"), 409, "conflict")
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(world.join("Bob").web.delete(f"/tickets/{ticket}"), 403, "forbidden")
    assert count_blobs(world, *digests) == 1
    ok(admin.web.delete(f"/tickets/{ticket}"))
    for answer in (
        world.api.get(f"/tickets/{ticket}", params={"status": "all"}),
        world.api.get(f"/tickets/{made['key']}/history"),
        admin.web.delete(f"/tickets/{ticket}"),
    ):
        expect_error(answer, 404, "not_found")
    assert ok(world.api.get(f"/tickets/{kept['id']}"))["links"] == []
    assert count_blobs(world, *digests) == 0
    assert marker not in str({name: rows for name, rows in texts_of(world.box.db).items() if name != "search_term"})
    (event,) = [
        each
        for each in ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]
        if each["type"] == "ticket.deleted"
    ]
    assert (event["ticket_id"], event["project_id"]) == (None, world.project)
    assert event["data"] == {"ticket_id": ticket, "key": made["key"]}
    assert event["by"]["user"]["name"] == "Eve"
    assert world.ticket("Next")["number"] == made["number"] + 1  # its number isn't given to another ticket
    eventually(lambda: is_overwritten(world, content[:64]))
    eventually(lambda: is_overwritten(world, f"{marker} is here".encode()))
    with open_inspection(world.box.db) as inspection:
        assert inspection.list_broken_references() == []
