"""Tickets over REST: making, reading, changing, archiving."""

import pytest

from tests.support.server import World, expect_error, ok


def test_new_ticket_is_at_the_top_of_the_first_column_and_records_its_creator(world: World) -> None:
    first, second = world.ticket("First"), world.ticket("Second", labels=[" UI ", "ui"], priority="high")
    assert second["column_id"] == world.columns[0]
    assert second["position"] < first["position"]
    assert second["labels"] == ["UI"]
    assert (second["priority"], second["status"], second["resolved"]) == ("high", "active", False)
    assert second["created"]["user"] == {"id": world.owner.id, "name": "Ann"}
    assert (second["created"]["token_label"], second["created"]["via"]) == ("a token", "rest")
    assert ok(world.api.get(f"/tickets/{second['id']}"))["title"] == "Second"


def test_web_session_has_no_token_label_and_is_marked_web(world: World) -> None:
    ticket = ok(world.owner.web.post("/tickets", json={"project_id": world.project, "title": "By hand"}))
    assert (ticket["created"]["via"], ticket["created"]["token_id"], ticket["created"]["token_label"]) == (
        "web",
        None,
        None,
    )


@pytest.mark.parametrize("spelling", ["{id}", "{ID}", "{url}/tickets/{id}", "{url}/tickets/{id}?tab=1"])
def test_ticket_is_found_by_id_in_any_case_and_by_address(world: World, spelling: str) -> None:
    ticket = world.ticket()
    text = spelling.format(id=ticket["id"], ID=ticket["id"].upper(), url=world.box.url)
    given = {"ticket_ids": [text], "column_id": world.columns[1]}
    (result,) = ok(world.api.post("/tickets/bulk-move", json=given))["results"]
    assert result == {"ticket_id": ticket["id"], "ok": True, "error": None}


def test_update_changes_only_given_fields(world: World) -> None:
    ticket = world.ticket("Before", description="Kept", labels=["a"])
    changed = ok(world.api.patch(f"/tickets/{ticket['id']}", json={"title": "After", "resolved": True}))
    assert (changed["title"], changed["description"], changed["labels"]) == ("After", "Kept", ["a"])
    assert (changed["resolved"], changed["version"]) == (True, ticket["version"] + 1)


def test_update_to_the_same_values_keeps_the_version(world: World) -> None:
    ticket = world.ticket("Same")
    assert ok(world.api.patch(f"/tickets/{ticket['id']}", json={"title": "Same"}))["version"] == ticket["version"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ({"title": ""}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": None}, "title"),
        ({"title": "x" * 301}, "title"),
        ({"priority": "huge"}, "priority"),
        ({"resolved": "true"}, "resolved"),
        ({"labels": ["x"] * 21}, "labels"),
        ({"description": "a\u0000b"}, "description"),
        ({"version": 7}, "version"),
        ({"status": "done"}, "status"),
        ({"created": {"via": "mcp"}}, "created"),
        ({"ticket_id": "t-aaaaaaaa"}, "ticket_id"),
    ],
)
def test_invalid_update_names_its_field_and_changes_nothing(world: World, body: dict[str, object], field: str) -> None:
    ticket = world.ticket()
    problem = expect_error(world.api.patch(f"/tickets/{ticket['id']}", json=body), 400, "invalid_request")
    assert field is None or problem["errors"][0]["field"].startswith(field)
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["version"] == ticket["version"]


def test_if_match_prevents_a_lost_update_and_returns_the_current_ticket(world: World) -> None:
    ticket = world.ticket()
    path = f"/tickets/{ticket['id']}"
    etag = world.api.get(path).headers["etag"]
    ok(world.api.patch(path, json={"title": "Mine"}, headers={"If-Match": etag}))
    problem = expect_error(
        world.api.patch(path, json={"title": "Theirs"}, headers={"If-Match": etag}), 409, "version_conflict"
    )
    assert problem["current"]["title"] == "Mine"
    ok(world.api.patch(path, json={"title": "Any"}, headers={"If-Match": "*"}))
    for wrong in ("7", '""', '"x"', '"1",', '"1" "2"', 'w/"1"'):
        expect_error(world.api.patch(path, json={"title": "No"}, headers={"If-Match": wrong}), 400, "invalid_request")


def test_if_match_of_a_list_or_a_weak_etag_is_read_as_rfc_9110_says(world: World) -> None:
    """A proxy that compresses makes an ETag weak, and only strong ones match."""
    path = f"/tickets/{world.ticket()['id']}"
    for count in range(1, 4):
        etag = world.api.get(path).headers["etag"]
        assert etag == f'"{count}"'
        if count < 3:
            ok(world.api.patch(path, json={"title": f"T{count}"}, headers={"If-Match": f'"1", {etag}'}))
    expect_error(world.api.patch(path, json={"title": "No"}, headers={"If-Match": '"1", "2"'}), 409, "version_conflict")
    for weak in ('W/"3"', 'W/"1", W/"3"'):
        expect_error(
            world.api.patch(path, json={"title": "No"}, headers={"If-Match": weak}), 412, "precondition_failed"
        )
    ok(world.api.patch(path, json={"title": "Yes"}, headers={"If-Match": 'W/"3","3"'}))


def test_archived_ticket_is_listed_only_on_request(world: World) -> None:
    ticket = world.ticket()
    path = f"/tickets/{ticket['id']}"
    ok(world.api.post(f"{path}/comments", json={"body": "Said before"}))
    archived = ok(world.api.post(f"{path}/archive"))
    assert (archived["status"], archived["changed"], archived["archived"]["via"]) == (
        "archived",
        True,
        "rest",
    )
    assert expect_error(world.api.get(path), 404, "not_found")["detail"] == "ticket not found"
    assert ok(world.api.get(path, params={"status": "archived"}))["id"] == ticket["id"]
    assert ok(world.api.get(path, params={"status": "all"}))["id"] == ticket["id"]
    assert ok(world.api.get("/tickets", params={"project_id": world.project}))["items"] == []
    listed = ok(world.api.get("/tickets", params={"project_id": world.project, "status": "archived"}))["items"]
    assert [each["id"] for each in listed] == [ticket["id"]]
    assert ok(world.api.get(f"{path}/comments"))["items"][0]["body"] == "Said before"
    assert ok(world.api.get(f"{path}/history"))["items"][-1]["type"] == "ticket.archived"


def test_archived_ticket_rejects_writes_except_restore(world: World) -> None:
    new_ticket = world.ticket()
    path = f"/tickets/{new_ticket['id']}"
    ok(world.api.post(f"{path}/archive"))
    me = world.owner.id
    for answer in (
        world.api.patch(path, json={"title": "No"}),
        world.api.post(f"{path}/move", json={"column_id": world.columns[1]}),
        world.api.post(f"{path}/comments", json={"body": "No"}),
        world.api.post(f"{path}/work", json={}),
        world.api.delete(f"{path}/work"),
        world.api.put(f"{path}/assignees/{me}"),
        world.api.delete(f"{path}/assignees/{me}"),
        world.api.post(f"{path}/attachments", files={"file": ("a.txt", b"text")}),
    ):
        expect_error(answer, 409, "ticket_archived")
    again = ok(world.api.post(f"{path}/archive"))
    assert (again["changed"], again["note"]) == (False, "the ticket was already archived")


def test_restore_returns_a_ticket_to_its_position(world: World) -> None:
    three, two, one = (world.ticket(title)["id"] for title in ("Three", "Two", "One"))
    ok(world.api.post(f"/tickets/{two}/archive"))
    back = ok(world.api.post(f"/tickets/{two}/restore"))
    assert (back["status"], back["archived"], back["changed"]) == ("active", None, True)
    given = {"column_id": world.columns[0], "sort": "position"}
    assert [each["id"] for each in ok(world.api.get("/tickets", params=given))["items"]] == [one, two, three]
    again = ok(world.api.post(f"/tickets/{two}/restore"))
    assert (again["changed"], again["note"]) == (False, "the ticket was already active")


def test_restore_uses_the_first_column_when_its_column_is_gone(world: World) -> None:
    ticket = world.ticket(column_id=world.columns[1])
    ok(world.api.post(f"/tickets/{ticket['id']}/archive"))
    ok(world.owner.web.delete(f"/columns/{world.columns[1]}"))
    assert ok(world.api.post(f"/tickets/{ticket['id']}/restore"))["column_id"] == world.columns[0]


@pytest.mark.parametrize("character", ["\x1b", "\x85", "\u2028", "\u202e", "\u2066", "\u206a", "\ufff9"])
def test_characters_that_reorder_or_control_are_refused_in_lines(world: World, character: str) -> None:
    text = f"safe{character}txt"
    for field, value in (("title", text), ("labels", [text])):
        given = {"project_id": world.project, "title": "x", field: value}
        expect_error(world.api.post("/tickets", json=given), 400, "invalid_request")
    expect_error(world.owner.web.patch("/profile", json={"name": text}), 400, "invalid_request")
    right_to_left = "\u05e9\u05dc\u05d5\u05dd \u200f!"
    assert (
        ok(world.api.post("/tickets", json={"project_id": world.project, "title": right_to_left}))["title"]
        == right_to_left
    )


def test_address_of_a_ticket_is_that_of_a_page(world: World) -> None:
    for sent, stored in (
        ("https://shop.example/cart?next=//x", "https://shop.example/cart?next=//x"),
        ("https://shop.example//evil.example/\\own", "https://shop.example/evil.example//own"),
        ("file:///home/ann/index.html", "file:///home/ann/index.html"),
    ):
        assert world.ticket(source_url=sent)["source_url"] == stored
    for wrong in ("javascript:alert(1)", "data:text/html,x", "https:shop.example", "https://ann:password@shop.example/",
                  "https://shop.example\\@evil.example/", "//shop.example/", "file://server/share",
                  "https://shop.example/ x", "x https://shop.example/", "https://shop.example/\n"):  # fmt: skip
        given = {"project_id": world.project, "title": "x", "source_url": wrong}
        expect_error(world.api.post("/tickets", json=given), 400, "invalid_request")
