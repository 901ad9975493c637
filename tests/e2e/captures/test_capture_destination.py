"""The destination of a capture: a new ticket in the page's project, or an existing ticket. A repeat changes nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.e2e.support.devtools_recorder import Json
from tests.e2e.support.uploads import Part, build_envelope, build_part, count_stored_rows, encode_json, send_capture
from tests.support.pictures import png
from tests.support.server import World, expect_error, ok

LINE = {"seq": 0, "ts": 1_760_000_000_000.5, "level": "warn", "args": ["late"]}
THREADS = 8


def build_upload(**given: object) -> list[Part]:
    """Build a small capture with a screenshot and one console line."""
    return [
        build_part("capture", encode_json(build_envelope(**given)), "application/json"),
        build_part("screenshot", png(), "image/png", "shot.png"),
        build_part("console", encode_json([LINE]), "application/json"),
    ]


def list_tickets(world: World, **filters: str) -> list[Json]:
    """List the company's tickets of every status."""
    given = {"company_id": world.company, "status": "all", "limit": "100", **filters}
    return ok(world.api.get("/tickets", params=given))["items"]


def test_repeated_capture_changes_nothing(world: World) -> None:
    parts = build_upload(project_id=world.project, title="Once")
    first = send_capture(world.api, parts)
    assert first.status_code == 201
    before = count_stored_rows(world.box.db)
    again = send_capture(world.api, parts)
    assert (again.status_code, again.json()) == (200, first.json())
    # a repeat with different content doesn't change the first one either
    parts = [
        build_part("capture", encode_json(build_envelope(id=read_capture_id(parts), title="Twice")), "application/json")
    ]
    third = send_capture(world.api, parts)
    assert (third.status_code, third.json()) == (200, first.json())
    assert count_stored_rows(world.box.db) == before
    assert [each["title"] for each in list_tickets(world)] == ["Once"]


def read_capture_id(parts: list[Part]) -> str:
    """The capture's id in an upload."""
    return json.loads(parts[0][1][1])["id"]


def test_repeated_capture_finds_an_archived_ticket(world: World) -> None:
    parts = build_upload(project_id=world.project)
    first = ok(send_capture(world.api, parts))
    ok(world.api.post(f"/tickets/{first['ticket_id']}/archive"))
    again = send_capture(world.api, parts)
    assert (again.status_code, again.json()) == (200, first)


def test_same_id_from_another_user_is_another_capture(world: World) -> None:
    parts = build_upload(project_id=world.project)
    mine = ok(send_capture(world.api, parts))
    theirs = send_capture(world.join("Bob").client("tickets:write"), parts)
    assert theirs.status_code == 201
    assert theirs.json()["ticket_id"] != mine["ticket_id"]
    assert len(list_tickets(world)) == 2


def test_eight_concurrent_repeats_create_one_ticket(world: World) -> None:
    parts = build_upload(project_id=world.project)
    secret = world.owner.token("tickets:write")
    clients = [world.box.client(secret) for _ in range(THREADS)]
    start = Barrier(THREADS)

    def post(number: int) -> tuple[int, Json]:
        start.wait(60)
        answer = send_capture(clients[number], parts)
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(post, range(THREADS)))
    assert sorted(status for status, _ in answers) == [200] * (THREADS - 1) + [201]
    assert len({str(body) for _, body in answers}) == 1
    (ticket,) = list_tickets(world)
    assert ticket["id"] == answers[0][1]["ticket_id"]
    history = ok(world.api.get(f"/tickets/{ticket['id']}/history"))["items"]
    assert [event["type"] for event in history] == ["ticket.created", "capture.attached"]


def test_eight_concurrent_captures_create_eight_tickets(world: World) -> None:
    secret = world.owner.token("tickets:write")
    clients = [world.box.client(secret) for _ in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda client: send_capture(client, build_upload(project_id=world.project)), clients))
    assert [answer.status_code for answer in answers] == [201] * THREADS
    assert {ticket["id"] for ticket in list_tickets(world)} == {answer.json()["ticket_id"] for answer in answers}


def test_page_address_selects_the_project(world: World) -> None:
    shop = world.new_project("Shop", url_patterns=["https://shop.example/*", "http://localhost:*/*"])
    admin = world.new_project("Shop's back office", url_patterns=["https://shop.example/admin/*"])
    for url, project in {
        "https://shop.example/cart?x=1": shop,
        "http://localhost:5173/": shop,
        "https://shop.example/admin/users": admin,
    }.items():
        receipt = ok(send_capture(world.api, build_upload(page={"url": url, "title": "Here"})))
        assert ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))["project_id"] == project, url
    # an explicit project has priority over the address
    receipt = ok(send_capture(world.api, build_upload(page={"url": "https://shop.example/"}, project_id=world.project)))
    assert ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))["project_id"] == world.project


def test_address_without_a_project_is_rejected(world: World, other: World) -> None:
    world.new_project("Shop", url_patterns=["https://shop.example/*"])
    other.new_project("Theirs", url_patterns=["https://theirs.example/*"])
    before = count_stored_rows(world.box.db)
    for url in ("https://example.org/", "https://theirs.example/x", "https://shop.example.evil.example/"):
        problem = expect_error(send_capture(world.api, build_upload(page={"url": url})), 400, "invalid_request")
        assert [error["field"] for error in problem["errors"]] == ["capture.project_id"]
    assert count_stored_rows(world.box.db) == before


def test_restricted_token_matches_only_its_projects(world: World) -> None:
    shop = world.new_project("Shop", url_patterns=["https://shop.example/*"])
    elsewhere = world.owner.client("tickets:write", company_id=world.company, project_ids=[world.project])
    page = {"url": "https://shop.example/"}
    expect_error(send_capture(elsewhere, build_upload(page=page)), 400, "invalid_request")
    expect_error(send_capture(elsewhere, build_upload(page=page, project_id=shop)), 403, "forbidden")
    assert list_tickets(world) == []


def test_capture_attaches_to_an_existing_ticket(world: World) -> None:
    ticket = world.ticket("Known", description="Seen before.")
    path = f"/tickets/{ticket['id']}"
    first, second = (ok(send_capture(world.api, build_upload(ticket_id=ticket["id"].upper()))) for _ in range(2))
    assert first["ticket_id"] == second["ticket_id"] == ticket["id"]
    assert first["capture_id"] != second["capture_id"]
    shown = ok(world.api.get(path))
    assert (shown["title"], shown["description"], shown["capture"]["id"]) == (
        "Known",
        "Seen before.",
        second["capture_id"],
    )
    assert shown["version"] == ticket["version"] + 2
    assert [each["id"] for each in list_tickets(world)] == [ticket["id"]]
    for receipt in (first, second):
        assert ok(world.api.get(f"/captures/{receipt['capture_id']}/console"))["items"][0]["args"] == ["late"]
    history = ok(world.api.get(f"{path}/history"))["items"]
    assert [event["type"] for event in history] == ["ticket.created", "capture.attached", "capture.attached"]
    assert history[-1]["data"]["capture_id"] == second["capture_id"]


@pytest.mark.parametrize(
    ("case", "status", "code"),
    [
        ("unknown", 404, "not_found"),
        ("another company's", 404, "not_found"),
        ("archived", 409, "ticket_archived"),
        ("with a project", 400, "invalid_request"),
        ("with a column", 400, "invalid_request"),
    ],
)
def test_capture_for_an_unsuitable_ticket_stores_nothing(
    world: World, other: World, case: str, status: int, code: str
) -> None:
    ticket = (other if case == "another company's" else world).ticket()
    given = {"ticket_id": "t-00000000" if case == "unknown" else ticket["id"]}
    if case == "archived":
        ok(world.api.post(f"/tickets/{ticket['id']}/archive"))
    elif case == "with a project":
        given["project_id"] = world.project
    elif case == "with a column":
        given["column_id"] = world.columns[0]
    before = count_stored_rows(world.box.db)
    problem = expect_error(send_capture(world.api, build_upload(**given)), status, code)
    if status == 404:
        assert problem["detail"] == "ticket not found"
    assert count_stored_rows(world.box.db) == before


def test_attachments_are_stored(world: World) -> None:
    parts = [
        *build_upload(project_id=world.project, column_id=world.columns[2]),
        build_part("attachments", b"a,b\n1,2\n", "text/html", "../../etc/ca\u202ert.csv"),
        build_part("attachments", png(30, 20), "image/png", "detail.png"),
    ]
    receipt = ok(send_capture(world.api, parts))
    ticket = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))
    assert ticket["column_id"] == world.columns[2]
    files = ok(world.api.get(f"/tickets/{receipt['ticket_id']}/attachments"))["items"]
    assert [(each["name"], each["media_type"], each["width"], each["kind"]) for each in files] == [
        ("cart.csv", "text/plain; charset=utf-8", None, "attachment"),
        ("detail.png", "image/png", 30, "attachment"),
    ]
    content = world.api.get(f"/assets/{files[0]['id']}/content")
    assert content.content == b"a,b\n1,2\n"
    assert content.headers["content-disposition"] == 'attachment; filename="cart.csv"'
