"""The carts of the sample shop's visitors, in memory."""

import itertools
import secrets
from collections import OrderedDict

import msgspec

from ticketbox.http.sample_shop.catalogue import BY_SKU, GiftCard

MAX_CARTS = 500
MAX_QUANTITY = 20


class Line(msgspec.Struct):
    """A product in a cart."""

    sku: str
    name: str
    about: str
    picture: str
    price: int
    quantity: int


class Cart(msgspec.Struct):
    """A visitor's cart."""

    lines: list[Line] = []
    gift_card: GiftCard | None = None

    def change_quantity(self, sku: str, quantity: int) -> None:
        """Set how many of a product the cart has; 0 removes it. Raises KeyError if there is no such product."""
        product = BY_SKU[sku]
        quantity = max(0, min(quantity, MAX_QUANTITY))
        line = next((each for each in self.lines if each.sku == sku), None)
        if line is None:
            line = Line(sku, product.name, product.about, product.picture, product.price, 0)
            self.lines.append(line)
        line.quantity = quantity
        self.lines = [each for each in self.lines if each.quantity]

    def count_product(self, sku: str) -> int:
        """Count how many of a product the cart has."""
        return sum(each.quantity for each in self.lines if each.sku == sku)


class Carts:
    """The carts by the visitor's cookie. The carts used least recently are forgotten."""

    def __init__(self) -> None:
        self._carts: OrderedDict[str, Cart] = OrderedDict()
        self._numbers = itertools.count(10_482)

    def open(self, key: str | None) -> tuple[str, Cart]:
        """Return the cart of a visitor and its key: a new one if the key isn't known."""
        if key is None or key not in self._carts:
            key = secrets.token_urlsafe(12)
            self._carts[key] = Cart()
        self._carts.move_to_end(key)
        while len(self._carts) > MAX_CARTS:
            self._carts.popitem(last=False)
        return key, self._carts[key]

    def place_order(self, key: str) -> str:
        """Empty a cart, and return the number of its order."""
        self._carts[key] = Cart()
        return f"LO-{next(self._numbers)}"
