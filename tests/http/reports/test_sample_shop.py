"""The sample shop at `/sample/` of every server: pages, each visitor's fault, and the reporter with a report key."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.server import Box, World, ok


@pytest.fixture
def visitor(box: Box) -> Iterator[httpx.Client]:
    """Somebody without an account."""
    with httpx.Client(base_url=box.url, timeout=60) as client:
        yield client


def test_pages_of_the_shop_need_nothing_from_elsewhere_and_no_account(visitor: httpx.Client) -> None:
    moved = visitor.get("/sample")
    assert (moved.status_code, moved.headers["location"]) == (303, "/sample/")
    for path in ("", "cart", "thanks", "shop.css", "shop.js", "fault.js", "pictures/arc.svg", "api/cart"):
        answer = visitor.get(f"/sample/{path}")
        assert (answer.status_code, path) == (200, path)
        assert answer.headers["content-security-policy"] == "default-src 'self'; frame-ancestors 'none'"
    assert "<script src=" not in visitor.get("/sample/").text
    for path in ("nothing", "..%2froutes.py", "cart/more"):
        assert visitor.get(f"/sample/{path}").status_code == 404


def test_each_visitor_breaks_their_own_shop(box: Box, visitor: httpx.Client) -> None:
    assert "'gift-card'" in visitor.get("/sample/fault.js").text
    assert ok(visitor.put("/sample/api/fault", json={"fault": "none"})) == {"fault": "none"}
    visitor.post("/sample/api/cart/lines", json={"sku": "arc"})
    assert "'none'" in visitor.get("/sample/fault.js").text
    assert ok(visitor.get("/sample/api/cart"))["lines"][0]["sku"] == "arc"
    with httpx.Client(base_url=box.url, timeout=60) as other:
        assert "'gift-card'" in other.get("/sample/fault.js", headers={"Cookie": "sample-fault=all"}).text
        assert ok(other.get("/sample/api/cart"))["lines"] == []


def test_calls_that_the_shop_cant_answer_are_500_and_large_ones_refused(visitor: httpx.Client) -> None:
    for method, path, body in (
        ("POST", "orders", b'{"mail": "ann@example.org"}'), ("POST", "orders", b"{"), ("POST", "orders", b"[]"),
        ("PUT", "fault", b'{"fault": "everything"}'), ("PUT", "fault", b""),
    ):  # fmt: skip
        assert visitor.request(method, f"/sample/api/{path}", content=body).status_code == 500
    assert visitor.get("/sample/api/nothing").status_code == 404
    assert visitor.post("/sample/api/orders", content=b"x" * 10_001).status_code == 413
    assert visitor.delete("/sample/api/orders").status_code == 405


def test_pages_embed_the_reporter_only_with_a_report_key(world: World, visitor: httpx.Client) -> None:
    given = {"kind": "script", "name": "Sample shop", "origins": [world.box.url]}
    key = ok(world.owner.web.post(f"/projects/{world.project}/report-keys", json=given))["key"]
    for wrong in ("", "pub_x", "pub_" + '"><script>' * 3, "tok_" + key[4:]):
        visitor.get("/sample/", params={"key": wrong})
        assert "reporter.js" not in visitor.get("/sample/").text
    opened = visitor.get("/sample/", params={"key": key})
    assert (opened.status_code, opened.headers["location"]) == (303, "/sample/")
    assert f'<script src="../reporter.js" data-key="{key}"></script>' in visitor.get("/sample/cart").text
