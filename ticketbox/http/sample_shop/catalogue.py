"""What the sample shop sells. Prices and gift cards are in cents."""

import re

import msgspec

_CODE = re.compile(r"[A-Z]{3,10}(\d{1,3})")


class Product(msgspec.Struct, frozen=True):
    """A product; `picture` is the name of a file in `site/pictures`."""

    sku: str
    name: str
    about: str
    picture: str
    price: int


class GiftCard(msgspec.Struct, frozen=True):
    """A gift card."""

    code: str
    amount: int


PRODUCTS = [
    Product("arc", "Arc floor lamp", "Brass, dimmable, 195 cm", "arc", 24900),
    Product("table", "Oak side table", "Natural oil, 45 × 52 cm", "table", 12900),
    Product("dome", "Dome pendant", "Forest green enamel, 40 cm", "dome", 11900),
    Product("globe", "Paper globe", "Rice paper, 50 cm", "globe", 3900),
    Product("tripod", "Oak tripod lamp", "Linen shade, 150 cm", "tripod", 18900),
    Product("stool", "Oak stool", "Natural oil, 46 cm", "stool", 9900),
    Product("reading", "Reading lamp", "Black steel, 140 cm", "reading", 7900),
    Product("mushroom", "Night light", "Terracotta, 24 cm", "mushroom", 5900),
]
BY_SKU = {product.sku: product for product in PRODUCTS}


def find_products(query: str) -> list[Product]:
    """Find the products whose name or description contains a text."""
    wanted = query.strip().casefold()
    return [each for each in PRODUCTS if wanted in f"{each.name} {each.about}".casefold()]


def find_gift_card(code: str) -> GiftCard | None:
    """Find a gift card: every code of letters and an amount is one, such as SPRING50."""
    match = _CODE.fullmatch(code.strip().upper())
    return GiftCard(match[0], int(match[1]) * 100) if match else None
