"""Generates a replay of 30 s of a busy page."""

from typing import Any

SECONDS = 30
_ROWS = 1_500
_CHANGES = 450

_COLUMNS = ("name", "price", "stock")


def build_replay(start: float) -> list[dict[str, Any]]:
    """Generate the events of a page with 1,500 rows whose cells change all the time."""
    count = 3

    def element(tag: str, *children: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        count += 1
        return {"type": 2, "id": count, "tagName": tag, "attributes": {"class": tag}, "childNodes": list(children)}

    def text(content: str) -> dict[str, Any]:
        nonlocal count
        count += 1
        return {"type": 3, "id": count, "textContent": content}

    cells = [[text(f"{column} of lamp {row}") for column in _COLUMNS] for row in range(_ROWS)]
    rows = [element("tr", *(element("td", cell) for cell in row)) for row in cells]
    body = element("body", element("h1", text("Stock")), element("table", element("tbody", *rows)))
    page = {"type": 2, "id": 3, "tagName": "html", "attributes": {}, "childNodes": [element("head"), body]}
    doctype = {"type": 1, "id": 2, "name": "html", "publicId": "", "systemId": ""}
    root = {"type": 0, "id": 1, "childNodes": [doctype, page]}
    size = {"href": "https://shop.example/stock", "width": 1280, "height": 800}
    events: list[dict[str, Any]] = [
        {"type": 4, "timestamp": start, "data": size},
        {"type": 2, "timestamp": start, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}},
    ]
    for change in range(1, _CHANGES + 1):
        texts = [{"id": cells[row][1]["id"], "value": f"{change}.{row} EUR"} for row in range(change, change + 40)]
        data = {"source": 0, "texts": texts, "attributes": [], "removes": [], "adds": []}
        events.append({"type": 3, "timestamp": start + change * SECONDS * 1000 / _CHANGES, "data": data})
    return events
