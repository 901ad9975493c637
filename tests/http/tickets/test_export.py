"""Lists and searches as CSV."""

import csv
import io

import httpx
import pytest

from tests.support.server import World, expect_error, ok


def read_rows(answer: httpx.Response) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_list_as_csv_has_the_tickets_of_its_filters_in_order(world: World) -> None:
    low = world.ticket("Low, with a comma", priority="low", labels=["cart", "ui"], description='Two\nlines, "quoted"')
    high = world.ticket("High", priority="high", due_on="2031-03-04")
    world.ticket("No priority")
    given = {"project_id": world.project, "priority": "low,high", "sort": "-priority"}
    answer = world.api.get("/tickets.csv", params=given)
    assert answer.headers["content-disposition"] == 'attachment; filename="tickets.csv"'
    first, second = read_rows(answer)
    assert (first["title"], first["due_on"], first["id"]) == ("High", "2031-03-04", high["id"])
    assert second["description"] == 'Two\nlines, "quoted"'
    assert (second["key"], second["labels"], second["column"]) == (low["key"], "cart, ui", low["column"])
    assert (second["created_at"], second["created_by"], second["resolved"]) == (low["created"]["at"], "Ann", "false")
    assert "x-next-cursor" not in answer.headers


def test_pages_of_a_list_continue_with_the_cursor(world: World) -> None:
    for number in range(3):
        world.ticket(f"Ticket {number}")
    first = world.api.get("/tickets.csv", params={"sort": "created", "limit": "2"})
    cursor = first.headers["x-next-cursor"]
    second = world.api.get("/tickets.csv", params={"sort": "created", "limit": "2", "cursor": cursor})
    assert [row["title"] for row in read_rows(first) + read_rows(second)] == ["Ticket 0", "Ticket 1", "Ticket 2"]
    assert "x-next-cursor" not in second.headers
    expect_error(world.api.get("/tickets.csv", params={"sort": "-created", "cursor": cursor}), 400, "invalid_request")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", '=HYPERLINK("https://evil.example")'])
def test_no_cell_is_a_formula(world: World, text: str) -> None:
    world.ticket(text, description=text, labels=[text])
    for answer in (world.api.get("/tickets.csv"), world.api.get("/search.csv", params={"q": "-is:resolved"})):
        for row in read_rows(answer):
            assert (row["title"], row["description"], row["labels"]) == (f"'{text}",) * 3
    assert len(read_rows(world.api.get("/tickets.csv"))) == 1


def test_spaces_before_a_formula_do_not_hide_it(world: World) -> None:
    for before in ("  ", "\ufeff", "\u200b", "\u2060 ", "\ufe0f"):
        ticket = world.ticket("Sum", description=f"{before}=1+1")
        rows = {row["id"]: row["description"] for row in read_rows(world.api.get("/tickets.csv"))}
        assert rows[ticket["id"]] == f"'{before}=1+1"


def test_search_as_csv_has_the_tickets_it_finds(world: World) -> None:
    found = world.ticket("The cart stays empty")
    world.ticket("Something else")
    archived = world.ticket("Old cart")
    ok(world.api.post(f"/tickets/{archived['id']}/archive", json={}))
    (row,) = read_rows(world.api.get("/search.csv", params={"q": "cart"}))
    assert row["id"] == found["id"]
    both = read_rows(world.api.get("/search.csv", params={"q": "cart", "status": "all"}))
    assert [row["status"] for row in both] == ["archived", "active"]
    expect_error(world.api.get("/search.csv", params={"q": "lable:ui"}), 400, "invalid_request")


def test_csv_has_only_visible_tickets(world: World, other: World) -> None:
    mine = world.ticket("Cart")["id"]
    other.ticket("Cart")
    hidden = world.ticket("Cart", project_id=world.new_project("Second"))["id"]
    kept = world.owner.client("read", company_id=world.company, project_ids=[world.project])
    for path, params in (("/tickets.csv", {}), ("/search.csv", {"q": "cart"})):
        assert [row["id"] for row in read_rows(world.api.get(path, params=params))] == [hidden, mine]
        assert [row["id"] for row in read_rows(kept.get(path, params=params))] == [mine]
        foreign = {**params, "company_id": other.company}
        assert read_rows(world.api.get(path, params=foreign)) == []
