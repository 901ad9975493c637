"""Search: what is found, by whom, in which order, and what is shown of it."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

import httpx
import psutil
import pytest

from tests.support.operation_cases import build_parts, capture_arguments, create_comment, make_capture, read_only
from tests.support.server import World, expect_error, ok


def find(client: httpx.Client, q: str, **more: Any) -> list[str]:
    """The ids of what a query finds, in order."""
    answer = ok(client.get("/search", params={"q": q, **more}))
    assert not answer["bounded"]
    return [each["id"] for each in answer["items"]]


def get_highlights(client: httpx.Client, q: str, **more: Any) -> dict[str, Any]:
    """The highlights of the one ticket that a query finds."""
    (hit,) = ok(client.get("/search", params={"q": q, **more}))["items"]
    return hit["highlights"]


def mark_matches(parts_: list[dict[str, Any]]) -> str:
    """A text with its matches in brackets."""
    return "".join(f"[{part['text']}]" if part["match"] else part["text"] for part in parts_)


def failing(world: World, message: str = "cart is undefined", **envelope: Any) -> str:
    """A ticket with a capture whose page failed in its own way."""
    given = capture_arguments(world.project, **envelope)
    entry = {"ts": 1_795_253_399_000.5}
    error = {**entry, "seq": 2, "kind": "error", "name": "TypeError", "message": message}
    loud = {**entry, "seq": 1, "level": "error", "args": ["quux exploded", "badly"]}
    quiet = {**entry, "seq": 3, "level": "info", "args": ["nothing of note"]}
    given |= {"errors": json.dumps([error]).encode(), "console": json.dumps([loud, quiet]).encode()}
    return ok(world.api.post("/captures", files=build_parts(given)))["ticket_id"]


def test_errors_of_a_poorer_second_capture_are_found(world: World) -> None:
    """The ticket goes on showing its first capture, which has a replay."""
    ticket = make_capture(world)["ticket_id"]
    page = {"url": "https://shop.example/basket", "title": "Basket"}
    given = capture_arguments(world.project, project_id=None, ticket_id=ticket, page=page)
    error = {
        "ts": 1_795_253_399_000.5,
        "seq": 1,
        "kind": "error",
        "name": "TypeError",
        "message": "coupon is undefined",
    }
    given |= {"errors": json.dumps([error]).encode(), "replay": b"[]"}
    ok(world.api.post("/captures", files=build_parts(given)))
    for q in ("error:coupon", "page:basket", 'error:"no cart"'):
        assert find(world.api, q) == [ticket], q


def test_words_are_found_in_every_field(world: World) -> None:
    ticket = world.ticket("The cart", description="It stays *empty*", branch="fix/checkout-total")["id"]
    world.ticket("Something else")
    comment_ = create_comment(world, ticket)
    ok(world.api.patch(f"/comments/{comment_}", json={"body": "A coupon was used"}))
    for q in (
        "cart",
        "EMPTY",
        "coupon",
        "cart coupon",
        '"stays empty"',
        "checkout-total",
        "total",
        ticket,
        ticket.upper(),
    ):
        assert find(world.api, q) == [ticket], q
    for q in ("carts", "car", "cart nothing", '"empty stays"', '"cart it"'):
        assert find(world.api, q) == [], q


def test_web_address_of_a_ticket_finds_it(world: World) -> None:
    ticket = world.ticket()["id"]
    assert find(world.api, f"{world.box.url}/tickets/{ticket}") == [ticket]
    assert find(world.api, f"https://tickets.example/tickets/{ticket}") == []


def test_errors_console_and_page_of_a_capture_are_found(world: World) -> None:
    ticket = failing(world, page={"url": "https://shop.example/basket/review", "title": "Basket"})
    other = world.ticket("TypeError: quux of the basket")["id"]
    for q in ("error:TypeError", 'error:"cart is undefined"', "error:quux", "exploded", "page:basket", "has:errors"):
        assert find(world.api, q) == [ticket], q
    assert find(world.api, "quux") == [other, ticket]
    assert find(world.api, "note") == []  # only errors of the console are searched
    assert find(world.api, "-error:TypeError") == [other]


def test_redacted_text_is_not_found(world: World) -> None:
    secret = "4f7c11aa90b2e3d4"
    ticket = failing(world, f"refused with Authorization: Bearer {secret}")
    assert find(world.api, "refused") == [ticket]
    assert find(world.api, secret) == []
    assert secret not in str(get_highlights(world.api, "refused"))


def test_change_is_found_immediately_and_replaced_text_is_not(world: World) -> None:
    ticket = world.ticket("Before", description="alpha")["id"]
    said = create_comment(world, ticket)
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "After", "description": "omega"}))
    ok(world.api.patch(f"/comments/{said}", json={"body": "gamma"}))
    assert find(world.api, "after omega gamma") == [ticket]
    assert [find(world.api, q) for q in ("before", "alpha")] == [[], []]
    ok(world.api.delete(f"/comments/{said}"))
    assert find(world.api, "gamma") == []
    assert find(world.api, "-has:comments") == [ticket]


def test_filters_follow_every_change(world: World) -> None:
    ticket = world.ticket("One", labels=["UI", "needs design"], priority="high")["id"]
    other = world.ticket("Two")["id"]
    ok(world.api.post(f"/companies/{world.company}/labels", json={"name": "api"}))
    bob = world.join("Bob")
    ok(bob.web.patch("/profile", json={"name": "Bob Smith"}))
    ok(world.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    mine = ["label:ui", 'label:"Needs Design"', "label:api,ui", "priority:high", "priority:low,high", "is:assigned",
            f"assignee:{bob.id}", "assignee:bob", 'assignee:"bob smith"', f"assignee:{bob.email}", "-assignee:none",
            "-label:api is:assigned", "assignee:me,bob"]  # fmt: skip
    for q in mine:
        assert find(world.api, q) == [ticket], q
    for q in ("-label:ui", "priority:none", "assignee:none", "is:unassigned", "-assignee:bob", "-priority:high"):
        assert find(world.api, q) == [other], q
    assert find(bob.web, "assignee:me") == [ticket]
    assert find(world.api, "assignee:me") == []
    assert find(world.api, "is:open") == [other, ticket]
    ok(world.api.patch(f"/tickets/{ticket}", json={"labels": [], "priority": "none", "resolved": True}))
    ok(world.api.delete(f"/tickets/{ticket}/assignees/{bob.id}"))
    assert find(world.api, "is:resolved -label:ui priority:none assignee:none") == [ticket]
    assert find(world.api, "is:open") == [other]


def test_has_filter_finds_what_a_ticket_contains(world: World) -> None:
    plain = world.ticket()["id"]
    captured = make_capture(world)["ticket_id"]
    attached = world.ticket()["id"]
    ok(world.api.post(f"/tickets/{attached}/attachments", files={"file": ("a.txt", b"hello")}))
    worked = world.ticket()["id"]
    ok(world.api.post(f"/tickets/{worked}/work", json={}))
    assert find(world.api, "has:capture") == [captured]
    assert find(world.api, "has:attachment") == [attached]
    assert find(world.api, "has:branch") == [worked]
    assert find(world.api, "-has:branch,capture,attachment") == [plain]


def test_places_match_by_name_and_id(world: World) -> None:
    second = world.new_project("Back office")
    here, there = world.ticket()["id"], world.ticket(project_id=second)["id"]
    done = world.ticket(column_id=world.columns[2])["id"]
    for q in ('project:"back office"', f"project:{second}", '-project:"First project"'):
        assert find(world.api, q) == [there], q
    assert find(world.api, "column:done") == find(world.api, f"column:{world.columns[2]}") == [done]
    assert find(world.api, "-column:done") == [there, here]
    assert find(world.api, "ticket", project_id=second) == [there]
    assert find(world.api, "ticket", company_id="co_000000000000") == []
    ok(world.api.post(f"/tickets/{here}/move", json={"column_id": world.columns_of(second)[0]}))
    assert find(world.api, 'project:"back office"') == [there, here]


def test_time_filters(world: World) -> None:
    ticket = world.ticket()["id"]
    for q in ("created:today,", "created:>1h", "updated:today", "-created:<2020-01-01", "created:2020-01-01..today"):
        assert find(world.api, q.rstrip(",")) == [ticket], q
    for q in ("created:<1h", "updated:<2020-01-01", "created:>today", "-updated:>1h"):
        assert find(world.api, q) == [], q


def test_archived_tickets_are_found_by_parameter_or_query(world: World) -> None:
    ticket, other = world.ticket("Cart")["id"], world.ticket("Cart")["id"]
    ok(world.api.post(f"/tickets/{ticket}/archive", json={}))
    assert find(world.api, "cart") == [other]
    assert find(world.api, "cart", status="archived") == find(world.api, "cart is:archived") == [ticket]
    assert find(world.api, "cart status:all") == find(world.api, "cart", status="all") == [other, ticket]
    assert find(world.api, "cart status:active", status="archived") == [other]


def test_titles_rank_first_then_newest(world: World) -> None:
    title = world.ticket("The cart stays empty")["id"]
    older = world.ticket("A", description="The cart stays")["id"]
    both = world.ticket("The cart", description="It stays")["id"]
    newest = world.ticket("B", description="It stays in the cart")["id"]
    assert find(world.api, "cart stays") == [title, newest, both, older]
    assert find(world.api, "cart") == [both, title, newest, older]
    pages: list[str] = []
    cursor = None
    while True:
        answer = ok(
            world.api.get("/search", params={"q": "cart", "limit": 1, **({"cursor": cursor} if cursor else {})})
        )
        pages += [each["id"] for each in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
        world.ticket("Another cart")  # what comes in between is neither skipped for nor doubled
    assert pages == [both, title, newest, older]


def test_last_word_is_a_prefix_while_typing(world: World) -> None:
    ticket = world.ticket("Checkout überall")["id"]
    for q in ("ch", "che", "check", "CHECKOU", "checkout", "checkout üb", "checkout uber"):
        assert find(world.api, q, typing=True) == [ticket], q
    for q in ("check", "heckout", "che all"):
        assert find(world.api, q) == [], q
    assert find(world.api, "check*") == find(world.api, "che* uber*") == find(world.api, '"checkout ube"*') == [ticket]
    assert find(world.api, "check -chec*") == []


def test_matches_are_marked_in_excerpts(world: World) -> None:
    ticket = world.ticket("The <b>Cart</b> 🛒 stays", description="word " * 100 + "the cart " + "word " * 100)["id"]
    hits = get_highlights(world.api, "cart")
    assert mark_matches(hits["title"]) == "The <b>[Cart]</b> 🛒 stays"
    assert hits["excerpt"]["field"] == "description"
    assert "word the [cart] word" in mark_matches(hits["excerpt"]["parts"])
    assert len(mark_matches(hits["excerpt"]["parts"])) < 200
    said = ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Zebra crossing"}))["id"]
    assert get_highlights(world.api, "zebra") == {
        "title": [],
        "excerpt": {
            "field": "comments",
            "parts": [{"text": "Zebra", "match": True}, {"text": " crossing", "match": False}],
        },
    }
    ok(world.api.delete(f"/comments/{said}"))
    assert get_highlights(world.api, "priority:none") == {"title": [], "excerpt": None}
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "plain", "description": "forged \ufdd0 cart \ufdd1 x"}))
    assert "".join(part["text"] for part in get_highlights(world.api, "cart")["excerpt"]["parts"]) == "forged  cart  x"


def test_tickets_of_other_companies_are_never_found(world: World, other: World) -> None:
    mine, theirs = world.ticket("Shared words")["id"], other.ticket("Shared words")["id"]
    bob = other.join("Bob")
    assert find(world.api, "shared") == [mine]
    assert find(other.api, "shared") == find(bob.web, "shared") == [theirs]
    assert find(world.api, "shared", company_id=other.company) == []
    assert find(world.api, "shared", project_id=other.project) == []
    for q in (f"project:{other.project}", f"assignee:{bob.id}", f"assignee:{bob.email}", f"column:{other.columns[0]}"):
        problem = expect_error(world.api.get("/search", params={"q": q}), 400, "invalid_request")
        assert "there is no " in problem["detail"], q
    for token in ("c1", f"p{1}", "sactive", "scope:sactive", "r0", "y0", "hcapture"):
        assert find(world.api, token) == [], token  # what narrows a search isn't searched itself


@pytest.mark.parametrize("kind", ["token", "member", "company"])
def test_token_restriction_applies_to_every_query(world: World, kind: str) -> None:
    second = world.new_project("Second")
    mine, hidden = world.ticket("Needle")["id"], world.ticket("Needle", project_id=second)["id"]
    assert find(world.api, "needle") == [hidden, mine]
    kept: Callable[[], httpx.Client] = {
        "token": lambda: world.owner.client("read", project_ids=[world.project], company_id=world.company),
        "member": lambda: world.join("Bob", project_ids=[world.project]).web,
        "company": lambda: world.owner.client("read", company_id=world.company),
    }[kind]
    client = kept()
    visible = [hidden, mine] if kind == "company" else [mine]
    for q in ("needle", "needle -zebra", "-zebra", "status:all", "is:open", "needle created:today", "need*"):
        assert find(client, q) == visible, q
    if kind != "company":
        expect_error(client.get("/search", params={"q": "project:second"}), 400, "invalid_request")
        assert find(client, "needle", project_id=second) == []


def test_deleted_projects_and_companies_are_not_found(world: World) -> None:
    second = world.new_project("Second")
    ticket = world.ticket("Needle", project_id=second)["id"]
    create_comment(world, ticket)
    ok(world.api.put(f"/tickets/{ticket}/assignees/me"))
    ok(world.owner.web.delete(f"/projects/{second}", params={"confirm_name": "Second"}))
    assert find(world.api, "needle status:all") == []


def test_error_points_at_the_wrong_term(world: World) -> None:
    problem = expect_error(world.api.get("/search", params={"q": "cart lable:ui"}), 400, "invalid_request")
    assert problem["at"] == {"start": 5, "end": 13, "text": "lable:ui"}
    assert problem["errors"][0]["field"] == "q"
    assert "label" in problem["valid"]
    problem = expect_error(world.api.get("/search", params={"q": "cart assignee:nobody"}), 400, "invalid_request")
    assert problem["at"] == {"start": 5, "end": 20, "text": "assignee:nobody"}
    assert "there is no user named nobody" in problem["detail"]


BOMBS = [
    "x" * 10_000, "a " * 250, "a*" * 100, '"' * 500, "-" * 500, "(" * 500, "a.b" * 160, "a:" * 250, "\u0301" * 500,
    "label:" + "a," * 200 + "b", "created:" + "9" * 400, "ab* " * 40, "\x00", "a\x00b", "\x1f", "title:" * 80,
]  # fmt: skip


@pytest.mark.parametrize("q", BOMBS)
def test_query_bomb_never_causes_a_server_error(world: World, q: str) -> None:
    answer = world.api.get("/search", params={"q": q})
    assert answer.status_code in {200, 400}
    if answer.status_code == 400:
        expect_error(answer, 400, "invalid_request")


@pytest.mark.parametrize("raw", ["q=%FF", "q=%ED%A0%80", "q=cart&q=cart", "q=cart&typing=maybe", "q=cart&sort=x", ""])
def test_invalid_query_is_rejected(world: World, raw: str) -> None:
    expect_error(world.api.get(f"/search?{raw}"), 400, "invalid_request")


def test_query_bombs_use_little_memory(world: World) -> None:
    server = psutil.Process(world.box.process.pid)
    for bomb in BOMBS:
        world.api.get("/search", params={"q": bomb})
    before = server.memory_info().rss
    for bomb in BOMBS * 5:
        world.api.get("/search", params={"q": bomb})
    assert server.memory_info().rss - before < 32 * 1024 * 1024


def test_long_ticket_is_indexed_completely(world: World) -> None:
    ticket = world.ticket(description=" ".join(f"word{n}" for n in range(10_000)))["id"]
    assert find(world.api, "word0 word9999") == [ticket]
    assert "[word9999]" in mark_matches(get_highlights(world.api, "word9999")["excerpt"]["parts"])


def test_index_matches_the_tickets(world: World) -> None:
    """After all that the tests before this one did to the same file, and some more."""
    ticket = failing(world)
    create_comment(world, ticket)
    ok(world.api.post(f"/tickets/{ticket}/archive", json={}))
    with contextlib.closing(read_only(world.box.db)) as connection:
        connection.execute("BEGIN")
        said = connection.execute("SELECT * FROM searchable ORDER BY id").fetchall()
        held = connection.execute("SELECT rowid, * FROM search ORDER BY rowid").fetchall()
    assert len(said) > 0
    assert held == said
