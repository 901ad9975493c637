"""The sample shop's API: what each route answers, and what can be broken in the pages. Bodies are JSON."""

import threading
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import msgspec

from ticketbox.http.sample_shop.carts import Cart, Carts
from ticketbox.http.sample_shop.catalogue import find_gift_card, find_products

_SLOWEST_SEARCH = 0.9
_FASTEST_SEARCH = 0.1

Answer = tuple[HTTPStatus, Any]


def compute_delay(parameters: dict[str, str]) -> float:
    """Return how many seconds a call takes: the fewer letters are searched, the longer, so that answers overtake."""
    query = parameters.get("q", "")
    return max(_FASTEST_SEARCH, _SLOWEST_SEARCH - 0.3 * len(query.strip())) if query else 0


class Fault(StrEnum):
    """What is broken in the shop's pages."""

    NONE = "none"
    GIFT_CARD = "gift-card"
    ORDER = "order"
    SEARCH = "search"
    TOTAL = "total"


class ShopApi:
    """The shop: its carts, and what is broken in it."""

    def __init__(self) -> None:
        self.fault = Fault.NONE
        self._carts = Carts()
        self._lock = threading.Lock()

    def open_cart(self, key: str | None) -> str:
        """Return the key of a visitor's cart."""
        with self._lock:
            return self._carts.open(key)[0]

    def answer(self, method: str, path: list[str], parameters: dict[str, str], body: Any, cart_key: str) -> Answer:
        """Answer a call. Raises KeyError, TypeError or ValueError if the body isn't what the route expects."""
        if (method, path) == ("GET", ["products"]):
            return HTTPStatus.OK, {"items": find_products(parameters.get("q", ""))}
        with self._lock:
            key, cart = self._carts.open(cart_key)
            match method, path:
                case "GET", ["cart"]:
                    return HTTPStatus.OK, cart
                case "POST", ["cart", "lines"]:
                    cart.change_quantity(body["sku"], cart.count_product(body["sku"]) + 1)
                    return HTTPStatus.CREATED, cart
                case "PATCH", ["cart", "lines", sku]:
                    cart.change_quantity(sku, int(body["quantity"]))
                    return HTTPStatus.OK, cart
                case "POST", ["cart", "gift-card"]:
                    return _add_gift_card(cart, str(body["code"]))
                case "POST", ["orders"]:
                    return self._place_order(key, body["email"], body["postcode"])
                case "PUT", ["fault"]:
                    self.fault = Fault(body["fault"])
                    return HTTPStatus.OK, {"fault": self.fault}
                case _:
                    return HTTPStatus.NOT_FOUND, {"error": "There is nothing at this address."}

    def _place_order(self, key: str, email: str, postcode: str) -> Answer:
        if "@" not in email or not postcode.strip():
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"error": "Enter an email address and a postcode."}
        return HTTPStatus.CREATED, {"order": self._carts.place_order(key)}


def _add_gift_card(cart: Cart, code: str) -> Answer:
    card = find_gift_card(code)
    if card is None:
        return HTTPStatus.NOT_FOUND, {"error": "There is no gift card with this code."}
    cart.gift_card = card
    return HTTPStatus.OK, {"card": card, "cart": msgspec.to_builtins(cart)}
