"""Ceilings: what the operator allows accounts and companies at most (docs/operate/configuration.md, "Ceilings")."""

import random
from collections.abc import Iterator

import httpx
import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts, capture_arguments, make_capture
from tests.support.seed import capture_parts, faults
from tests.support.server import Box, World, expect_error, ok, run_beside, run_server
from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.domain.core.problems import Forbidden

STORAGE = 20_000


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server with low ceilings; the proxy's address is that of the tests."""
    flags = (
        "--trusted-proxy", "127.0.0.1/32", "--max-reads-per-minute", "500", "--max-writes-per-minute", "50",
        "--max-companies-per-account", "2", "--max-storage-per-company", "20kB",
    )  # fmt: skip
    with run_server(tmp_path_factory.mktemp("ceilings"), *flags) as running:
        yield running


@pytest.fixture
def world(box: Box) -> World:
    """A company on that server."""
    return World(box)


def set_limits(world: World, reads: int | None, writes: int | None) -> httpx.Response:
    """Answer of an owner's attempt to set the company's limits."""
    limits = {"reads_per_minute": reads, "writes_per_minute": writes}
    return world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits})


def storage(world: World) -> dict[str, int]:
    """What the company sees of its storage; the same as what its rows add up to."""
    assert faults(world.box.db) == {}
    companies = {each["id"]: each for each in ok(world.owner.web.get("/companies"))["items"]}
    return companies[world.company]["storage"]


def attach(world: World, ticket: str, data: bytes) -> httpx.Response:
    """Answer of an attempt to attach a file."""
    return world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("x.bin", data)})


def noise(size: int) -> bytes:
    """Bytes that no two files share, and that don't get smaller."""
    return b"\x01" + random.randbytes(size - 1)


def test_owner_cannot_set_limits_above_the_ceilings(world: World) -> None:
    refused = expect_error(set_limits(world, 501, 50), 400, "invalid_request")
    assert refused["detail"] == "limits.reads_per_minute: the operator of this server allows at most 500 a minute"
    refused = expect_error(set_limits(world, 500, 51), 400, "invalid_request")
    assert [each["field"] for each in refused["errors"]] == ["limits.writes_per_minute"]
    assert ok(set_limits(world, 500, 50))["limits"] == {"reads_per_minute": 500, "writes_per_minute": 50}
    ok(set_limits(world, None, None))


def test_higher_figures_of_before_and_defaults_are_capped_when_used(world: World) -> None:
    def read_limits() -> tuple[int, int]:
        budgets = ok(world.api.get("/me"))["budgets"]
        return budgets["reads"]["limit"], budgets["writes"]["limit"]

    assert read_limits() == (500, 50)  # instead of 600 and 60
    raising = "UPDATE company SET reads_per_minute = 1000000, writes_per_minute = 1000000 WHERE public_id = ?"
    run_beside(world.box.db, lambda tx: tx.execute(raising, (world.company,)))
    assert read_limits() == (500, 50)
    lowering = "UPDATE company SET reads_per_minute = 7, writes_per_minute = 3 WHERE public_id = ?"
    run_beside(world.box.db, lambda tx: tx.execute(lowering, (world.company,)))
    assert read_limits() == (7, 3)
    assert ok(world.owner.web.get("/me"))["budgets"]["writes"]["limit"] == 600


def test_account_creates_only_so_many_companies(world: World) -> None:
    web = world.owner.web
    second = ok(web.post("/companies", json={"name": "Second"}))["id"]
    refused = expect_error(web.post("/companies", json={"name": "Third"}), 403, "forbidden")
    assert "an account can create at most 2 companies on this server" in refused["detail"]
    guest = world.join("Bob", "owner")  # joining isn't creating
    for name in ("His first", "His second"):
        ok(guest.web.post("/companies", json={"name": name}))
    ok(web.delete(f"/companies/{second}"))
    ok(web.post("/companies", json={"name": "Third"}))
    assert len(ok(web.get("/companies"))["items"]) == 2


def test_handing_a_company_over_makes_no_room_for_another(world: World) -> None:
    bob = world.join("Bob", "owner")
    ok(bob.web.patch(f"/companies/{world.company}/members/{world.owner.id}", json={"role": "viewer"}))
    ok(world.owner.web.post("/companies", json={"name": "Second"}))
    expect_error(world.owner.web.post("/companies", json={"name": "Third"}), 403, "forbidden")


def test_ceiling_of_zero_companies_leaves_them_to_the_operator() -> None:
    ceilings = Ceilings(companies_per_account=0)
    with pytest.raises(Forbidden, match="only the operator of this server can create companies"):
        ceilings.require_company(0)
    assert ceilings.refusals == {"companies_per_account": 1}


def test_write_that_exceeds_the_storage_of_a_company_stores_nothing(world: World) -> None:
    ticket, other = world.ticket()["id"], World(world.box, "Eve")
    assert storage(world) == {"bytes": 0, "max_bytes": STORAGE}
    ok(attach(world, ticket, noise(STORAGE - 5_000)))
    kept = ok(attach(world, ticket, noise(5_000)))["id"]
    assert storage(world) == {"bytes": STORAGE, "max_bytes": STORAGE}
    refused = expect_error(attach(world, ticket, b"x"), 507, "company_storage_full")
    assert "20,000 bytes of captures and attachments" in refused["detail"]
    parts = build_parts(capture_arguments(world.project))
    expect_error(world.api.post("/captures", files=parts), 507, "company_storage_full")
    unread = [capture_parts(world.project, 1)[0], ("console", (None, "not a stream"))]  # known before it is read
    expect_error(world.api.post("/captures", files=unread), 507, "company_storage_full")
    given = {"ticket_id": ticket, "file": {"name": "x.txt", "data": "eA=="}}
    told = call_tool(world, world.owner.token("tickets:write"), "add_attachment", given)
    assert told["isError"]
    assert told["structuredContent"]["code"] == "company_storage_full"
    assert len(ok(world.api.get("/tickets"))["items"]) == 1
    assert storage(world)["bytes"] == STORAGE
    ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Words are always accepted."}))
    make_capture(other)
    ok(world.owner.web.delete(f"/assets/{kept}"))
    expect_error(world.api.post("/captures", files=unread), 400, "invalid_request")
    ok(attach(world, ticket, noise(5_000)))


def test_storage_follows_every_deletion(world: World) -> None:
    capture, spare = make_capture(world), world.new_project("Spare")
    ticket = capture["ticket_id"]
    with_capture = storage(world)["bytes"]
    assert with_capture > 0
    note = noise(3_000)
    first, second = (ok(attach(world, ticket, note))["id"] for _ in range(2))  # stored once, counted twice
    assert storage(world)["bytes"] == with_capture + 6_000
    ok(world.owner.web.delete(f"/assets/{first}"))
    assert storage(world)["bytes"] == with_capture + 3_000
    ok(world.owner.web.delete(f"/captures/{capture['capture_id']}"))
    assert storage(world)["bytes"] == 3_000
    make_capture(world, spare)
    ok(world.owner.web.delete(f"/projects/{spare}"))
    assert storage(world)["bytes"] == 3_000
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    ok(world.owner.web.delete(f"/tickets/{ticket}"))
    assert storage(world)["bytes"] == 0
    assert second


def test_drawing_over_a_screenshot_keeps_the_storage_right(world: World) -> None:
    shot = ok(world.api.get(f"/tickets/{make_capture(world)['ticket_id']}"))["capture"]["screenshot"]["id"]
    before = storage(world)["bytes"]
    mark = {"kind": "redact", "geometry": {"x": 0, "y": 0, "width": 2, "height": 2}, "color": "#000000", "text": ""}
    ok(world.api.put(f"/assets/{shot}/annotations", json={"annotations": [mark]}))
    assert storage(world)["bytes"] != before


def test_refusals_are_counted_by_ceiling(world: World) -> None:
    def read_figures() -> dict[str, float]:
        lines = httpx.get(f"{world.box.url}/metrics").text.splitlines()
        return {name: float(figure) for name, _, figure in (line.rpartition(" ") for line in lines if line[0] != "#")}

    expect_error(set_limits(world, 501, None), 400, "invalid_request")
    expect_error(attach(world, world.ticket()["id"], noise(STORAGE + 1)), 507, "company_storage_full")
    make_capture(world)
    figures = read_figures()
    assert figures['ticketbox_ceiling_refusals_total{ceiling="reads_per_minute"}'] >= 1
    assert figures['ticketbox_ceiling_refusals_total{ceiling="storage_per_company"}'] >= 1
    assert figures["ticketbox_stored_bytes"] >= figures["ticketbox_largest_company_bytes"] >= storage(world)["bytes"]
