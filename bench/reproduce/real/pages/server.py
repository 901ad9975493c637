"""Serves the small pages: `python server.py FOLDER PORT`. Each file is a page; what calls answer is below."""

import json
import sys
import time
from pathlib import Path

from flask import Flask, Response, redirect, request, send_from_directory  # pyright: ignore[reportMissingImports]

FOLDER, PAGES = Path(sys.argv[1]), Path(__file__).parent
IMPORTS = {
    "lit": "lit/index.js", "lit/": "lit/", "lit-html": "lit-html/lit-html.js", "lit-html/": "lit-html/",
    "lit-element/lit-element.js": "lit-element/lit-element.js",
    "@lit/reactive-element": "@lit/reactive-element/reactive-element.js",
    "preact": "preact/dist/preact.mjs", "preact/hooks": "preact/hooks/dist/hooks.mjs",
    "solid-js": "solid-js/dist/solid.js", "solid-js/web": "solid-js/web/dist/web.js",
    "solid-js/html": "solid-js/html/dist/html.js",
}  # fmt: skip
MAP = json.dumps({"imports": {name: f"/node_modules/{file}" for name, file in IMPORTS.items()}})
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{}</title><script type="importmap">{}</script>\n'
ROWS = [{"id": 7, "name": "Arc lamp", "owner": None}, {"id": 8, "name": "Oak table", "owner": {"name": "Ida"}}]
app = Flask(__name__, static_folder=None)


def show(name: str) -> str:
    return HEAD.format(name.replace("-", " ").capitalize(), MAP) + (PAGES / f"{name}.html").read_text()


@app.get("/node_modules/<path:path>")
def send_module(path: str) -> Response:
    return send_from_directory(FOLDER / "node_modules", path)


@app.get("/<name>/")
def show_page(name: str) -> Response | str:
    if name == "session-before" and request.cookies.get("sid") != "1":
        return redirect("/sign-in/")
    return show(name)


@app.post("/sign-in/")
def sign_in() -> Response:
    answer = redirect("/session-before/")
    answer.set_cookie("sid", "1", httponly=True)
    return answer


@app.get("/api/rows")
def list_rows() -> dict[str, object]:
    return {"items": ROWS}


@app.get("/api/row-markup")
def list_markup() -> str:
    return "".join(f"<li>{each['name']}</li>" for each in ROWS)


@app.get("/api/board")
def describe_board() -> dict[str, object]:
    return {"panels": [{"id": 3, "kind": "bar_chart", "title": "Sales of the week", "values": [3, 5, 8]}]}


@app.get("/api/panels/<name>")
def show_panel(name: str) -> dict[str, object]:
    return {"name": name, "values": [1, 2, 3]}


@app.post("/api/session")
def start_session() -> dict[str, object]:
    return {"token": "9f31c2aa7be04d5188aa03c1d2e7f650", "user": {"name": "Ann Berg"}}


@app.post("/api/query")
def answer_query() -> dict[str, object]:
    return {"data": {"lamp": {"__typename": "Lamp", "id": "7", "name": "Arc lamp"}}}


@app.get("/api/prices")
def stream_prices() -> Response:
    def send() -> object:
        for price in (20, 19, None):
            time.sleep(0.3)
            yield f"data: {json.dumps({'price': price})}\n\n"
        time.sleep(30)

    return Response(send(), mimetype="text/event-stream")


@app.post("/orders")
def add_order() -> Response:
    return redirect("/form-post/?saved=1")


app.run(port=int(sys.argv[2]), threaded=True)
