"""Write the sample shop's pictures, `ticketbox/http/sample_shop/site/pictures`, from those of `pages/products.html`.

uv run --group dev python packaging/demo/shop_pictures.py
"""

import re
from pathlib import Path

import jinja2

from ticketbox.http.sample_shop.catalogue import PRODUCTS
from ticketbox.http.sample_shop.files import SITE

PAGES = Path(__file__).parent / "pages"
WALLS = ("sage", "sand", "mist", "clay")
PICTURE = """{% from "products.html" import paints, picture with context %}{{ paints() }}{{ picture(kind, wall) }}"""


def main() -> None:
    """Write a picture for each product."""
    template = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True).from_string(PICTURE)
    for number, product in enumerate(PRODUCTS):
        html = template.render(kind=product.picture, wall=WALLS[number % len(WALLS)])
        paints, drawing = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
        used = set(re.findall(r"url\(#([\w-]+)\)", drawing))
        definitions = [
            each[0] for each in re.findall(r'(<(\w+) id="[^"]+".*?</\2>)', paints, re.DOTALL)
            if re.search(r'id="([^"]+)"', each[0])[1] in used  # type: ignore[index]
        ]  # fmt: skip
        content = drawing[drawing.index(">") + 1 : -len("</svg>")]
        root = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 480">'
        text = f"{root}<defs>{''.join(definitions)}</defs>{content}</svg>"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        (SITE / "pictures" / f"{product.picture}.svg").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
