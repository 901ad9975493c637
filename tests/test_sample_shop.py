"""The sample shop of `ticketbox demo --shop`: its pages, its API, and what can be broken in it."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import httpx
import pytest

from ticketbox.http.sample_shop.api import Fault
from ticketbox.http.sample_shop.carts import MAX_CARTS, MAX_QUANTITY, Carts
from ticketbox.http.sample_shop.catalogue import PRODUCTS, find_gift_card, find_products
from ticketbox.http.sample_shop.files import SITE
from ticketbox.http.sample_shop.server import serve_shop
from ticketbox.server import listen


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a running shop."""
    with listen("127.0.0.1", 0) as listener, serve_shop(listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def visitor(address: str) -> Iterator[httpx.Client]:
    """A visitor with an empty cart."""
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_every_product_has_a_picture_and_is_found() -> None:
    assert {f"{each.picture}.svg" for each in PRODUCTS} == {path.name for path in (SITE / "pictures").iterdir()}
    assert [each.sku for each in find_products("OAK")] == ["table", "tripod", "stool"]
    assert find_products("") == PRODUCTS
    assert find_products("sofa") == []


@pytest.mark.parametrize(("code", "amount"), [("SPRING50", 5_000), (" gift5 ", 500), ("50", None), ("SPRING", None)])
def test_gift_cards_are_letters_and_an_amount(code: str, amount: int | None) -> None:
    card = find_gift_card(code)
    assert (card and card.amount) == amount


def test_carts_used_least_recently_are_forgotten() -> None:
    carts = Carts()
    first, cart = carts.open(None)
    cart.change_quantity("arc", MAX_QUANTITY + 1)
    assert cart.count_product("arc") == MAX_QUANTITY
    for _ in range(MAX_CARTS - 1):
        carts.open(None)
    assert carts.open(first)[1] is cart
    carts.open(None)
    assert carts.open(first)[1] is cart  # not the oldest any more
    for _ in range(MAX_CARTS):
        carts.open(None)
    assert carts.open(first)[1].lines == []


def test_pages_need_nothing_from_elsewhere(visitor: httpx.Client) -> None:
    for path in ("/", "/cart", "/thanks"):
        page = visitor.get(path)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["content-security-policy"].startswith("default-src 'self'")
        named = [urljoin(path, each) for each in re.findall(r'(?:href|src)="([^"]+)"', page.text)]
        assert named
        assert {visitor.get(each).status_code for each in named} == {200}
    for file in SITE.rglob("*.*"):
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", file.read_text("utf-8")), file.name
    for path in ("/nothing", "/../server.py", "/shop.css/x"):
        assert visitor.get(path).status_code == 404


def test_visitor_orders_what_is_in_the_cart(visitor: httpx.Client, address: str) -> None:
    assert visitor.get("/api/cart").json() == {"lines": [], "gift_card": None}
    visitor.post("/api/cart/lines", json={"sku": "arc"})
    added = visitor.post("/api/cart/lines", json={"sku": "arc"})
    assert (added.status_code, added.json()["lines"][0]["quantity"]) == (201, 2)
    visitor.post("/api/cart/lines", json={"sku": "stool"})
    left = visitor.patch("/api/cart/lines/arc", json={"quantity": 0}).json()
    assert [(each["sku"], each["quantity"]) for each in left["lines"]] == [("stool", 1)]
    applied = visitor.post("/api/cart/gift-card", json={"code": "SPRING50"}).json()
    assert applied["card"] == applied["cart"]["gift_card"] == {"code": "SPRING50", "amount": 5_000}
    assert visitor.post("/api/cart/gift-card", json={"code": "50"}).status_code == 404
    assert httpx.get(f"{address}/api/cart", timeout=60).json()["lines"] == []  # another visitor
    assert visitor.post("/api/orders", json={"email": "ann", "postcode": "11120"}).status_code == 422
    ordered = visitor.post("/api/orders", json={"email": "ann@example.org", "postcode": "11120"})
    assert ordered.status_code == 201
    assert re.fullmatch(r"LO-\d{5}", ordered.json()["order"])
    assert visitor.get("/api/cart").json()["lines"] == []


def test_fault_is_in_a_script_and_can_be_changed(visitor: httpx.Client) -> None:
    for fault in (Fault.GIFT_CARD, Fault.NONE):
        assert visitor.put("/api/fault", json={"fault": fault}).json() == {"fault": fault}
        assert visitor.get("/fault.js").text == f"export const fault = '{fault}';\n"
    offered = set(re.findall(r"\['([\w-]+)', '\w", (SITE / "shop.js").read_text("utf-8")))
    assert offered == set(Fault)


def test_broken_calls_are_answered_500_and_large_ones_refused(
    visitor: httpx.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = visitor.post("/api/orders", json={"mail": "ann@example.org", "postcode": "11120"})
    assert (broken.status_code, broken.json()) == (500, {"error": "Internal error"})
    assert "POST /api/orders: KeyError" in capfd.readouterr().err
    assert visitor.post("/api/orders", content=b"{").status_code == 500
    assert visitor.put("/api/fault", json={"fault": "everything"}).status_code == 500
    assert visitor.get("/api/nothing").status_code == 404
    assert visitor.post("/api/orders", content=b"x" * 10_001).status_code == 413
    assert visitor.get("/").status_code == 200
