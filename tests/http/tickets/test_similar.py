"""Similar tickets: those with the same error or page that the caller can see."""

import json
from typing import Any

import httpx
import pytest

from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok


def report(world: World, message: str, page: str, function: str = "load", **envelope: Any) -> str:
    """A ticket made by a capture with one error."""
    given = capture_arguments(world.project, page={"url": page, "title": "P"}, **envelope)
    frame = {"url": "https://shop.example/assets/app-6f1c2d.js", "function": function, "line": 10, "column": 4}
    entry = {"seq": 2, "ts": 1, "kind": "error", "name": "TypeError", "message": message, "frames": [frame]}
    given["errors"] = json.dumps([entry]).encode()
    return ok(world.api.post("/captures", files=build_parts(given)))["ticket_id"]


def like(client: httpx.Client, ticket: str, **more: Any) -> list[tuple[str, list[str]]]:
    """The tickets like one, each with its reasons."""
    answer = ok(client.get(f"/tickets/{ticket}/similar", params=more))
    assert not answer["bounded"]
    return [(each["id"], [reason["similarity"] for reason in each["reasons"]]) for each in answer["items"]]


def test_most_similar_come_first_with_the_reason(world: World) -> None:
    first = report(world, "item 17 is gone", "https://shop.example/orders/1729")
    page = report(world, "something else", "https://shop.example/orders/4104")
    message = report(world, "item 4 is gone", "https://shop.example/cart", "other")
    both = report(world, "item 99 is gone", "https://shop.example/orders/8")
    world.ticket("TypeError: item 17 is gone")
    assert like(world.api, first) == [
        (both, ["same_error", "same_page"]),
        (message, ["same_message"]),
        (page, ["same_page"]),
    ]
    assert like(world.api, first, limit=1) == [(both, ["same_error", "same_page"])]
    (hit,) = ok(world.api.get(f"/tickets/{message}/similar", params={"limit": 1}))["items"]
    assert hit["id"] == both
    assert hit["reasons"] == [{"similarity": "same_message", "text": "TypeError: item 99 is gone"}]


def test_error_or_address_finds_similar_tickets_before_creation(world: World) -> None:
    ticket = report(world, "item 17 is gone", "https://shop.example/orders/1729")
    plain = world.ticket(source_url="https://shop.example/orders/7")["id"]
    hits = ok(world.api.get("/similar", params={"error": "TypeError: item 5 is gone\n  at load"}))["items"]
    assert [(each["id"], each["reasons"][0]["similarity"]) for each in hits] == [(ticket, "same_message")]
    hits = ok(world.api.get("/similar", params={"url": "https://shop.example/orders/1?x=2"}))["items"]
    assert [each["id"] for each in hits] == [plain, ticket]
    both = {"url": "https://shop.example/orders/1", "error": "TypeError: item 5 is gone"}
    assert [each["id"] for each in ok(world.api.get("/similar", params=both))["items"]] == [ticket, plain]
    assert ok(world.api.get("/similar", params={"error": "never seen"})) == {"items": [], "bounded": False}


def test_archived_tickets_are_found_on_request(world: World) -> None:
    old = report(world, "x is gone", "https://shop.example/a")
    new = report(world, "x is gone", "https://shop.example/b")
    ok(world.api.post(f"/tickets/{old}/archive", json={}))
    assert like(world.api, new) == []
    assert [id_ for id_, _ in like(world.api, new, status="all")] == [old]
    assert [id_ for id_, _ in like(world.api, old)] == [new]


def test_second_capture_adds_its_fingerprints(world: World) -> None:
    first = report(world, "x is gone", "https://shop.example/a")
    other = report(world, "y is gone", "https://shop.example/b")
    report(world, "y is gone", "https://shop.example/c", project_id=None, ticket_id=first)
    assert like(world.api, other) == [(first, ["same_error"])]


def test_similar_tickets_are_only_visible_ones(world: World, other: World) -> None:
    second = world.new_project("Second")
    mine = report(world, "x is gone", "https://shop.example/a")
    hidden = world.ticket(project_id=second, source_url="https://shop.example/a")["id"]
    theirs = report(other, "x is gone", "https://shop.example/a")
    assert [id_ for id_, _ in like(world.api, mine)] == [hidden]
    assert like(other.api, theirs) == []
    kept = world.owner.client("read", company_id=world.company, project_ids=[world.project])
    assert like(kept, mine) == []
    assert [each["id"] for each in ok(kept.get("/similar", params={"url": "https://shop.example/a"}))["items"]] == [
        mine
    ]
    expect_error(kept.get(f"/tickets/{hidden}/similar"), 404, "not_found")
    expect_error(world.api.get(f"/tickets/{theirs}/similar"), 404, "not_found")


def test_fingerprint_contains_no_secret_of_the_message(world: World) -> None:
    secret = "4f7c11aa90b2e3d4"
    for page in ("a", "b"):
        ticket = report(
            world, f"refused with Authorization: Bearer {secret}", f"https://shop.example/{page}?token={secret}"
        )
    assert secret not in ok(world.api.get(f"/tickets/{ticket}/similar"))["items"][0]["reasons"][0]["text"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"url": ""},
        {"url": "about:blank"},
        {"url": "no address"},
        {"error": "  "},
        {"error": "x" * 2001},
        {"error": "a\x00b"},
        {"url": "https://x.example/" + "a" * 9000},
        {"error": "x", "limit": "0"},
        {"error": "x", "limit": "51"},
        {"error": "x", "status": "closed"},
        {"error": "x", "ticket_id": "t-000000"},
        {"error": "x", "cursor": "x"},
    ],
)
def test_empty_query_is_rejected(world: World, params: dict[str, str]) -> None:
    expect_error(world.api.get("/similar", params=params), 400, "invalid_request")


def test_ticket_and_error_together_are_rejected(world: World) -> None:
    ticket = world.ticket()["id"]
    expect_error(world.api.get(f"/tickets/{ticket}/similar", params={"error": "x"}), 400, "invalid_request")


def test_title_finds_tickets_that_share_its_words(world: World) -> None:
    near = world.ticket("Payment fails in Safari 17")["id"]
    far = world.ticket("Safari: payment of gift cards fails with an empty page")["id"]
    world.ticket("Payment takes long")
    found = ok(world.api.get("/similar", params={"title": "The payment fails on Safari"}))["items"]
    assert [(each["id"], [reason["similarity"] for reason in each["reasons"]]) for each in found] == [
        (near, ["similar_title"]),
        (far, ["similar_title"]),
    ]
    assert ok(world.api.get("/similar", params={"title": "the of \"' OR * -"})) == {"items": [], "bounded": False}


def test_title_and_error_give_both_reasons(world: World) -> None:
    ticket = report(world, "item 17 is gone", "https://shop.example/orders/1729")
    titled = world.ticket("Orders page stays empty")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Orders page is empty"}))
    given = {"title": "Orders page empty", "url": "https://shop.example/orders/3"}
    found = ok(world.api.get("/similar", params=given))["items"]
    assert [(each["id"], [reason["similarity"] for reason in each["reasons"]]) for each in found] == [
        (ticket, ["same_page", "similar_title"]),
        (titled, ["similar_title"]),
    ]


def test_similar_titles_are_only_visible_ones_of_the_status_and_company(world: World, other: World) -> None:
    mine = world.ticket("Payment fails in Safari")["id"]
    archived = world.ticket("Payment fails in Safari")["id"]
    ok(world.api.post(f"/tickets/{archived}/archive", json={}))
    theirs = other.ticket("Payment fails in Safari")["id"]

    def find(client: httpx.Client, **more: str) -> list[str]:
        return [each["id"] for each in ok(client.get("/similar", params={"title": "Payment fails", **more}))["items"]]

    assert find(world.api) == find(world.api, company_id=world.company) == [mine]
    assert find(world.api, status="archived") == [archived]
    assert find(other.api) == [theirs]
    expect_error(world.api.get("/similar", params={"title": "x", "company_id": other.company}), 404, "not_found")
    hidden = world.new_project("Second")
    inside = world.ticket("Payment fails", project_id=hidden)["id"]
    assert find(world.api) == [inside, mine]
