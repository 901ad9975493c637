"""A page much taller than any window: a numbered grid in known colours, a bar that sticks and one that is fixed."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

from PIL import Image

ROWS, COLUMNS = 40, 4
CELL, WIDE = 120, 200
BAR = 48
BROAD = 1_600
RED, GREEN, BLUE = (200, 0, 0), (0, 200, 0), (0, 0, 200)

HEAD = '<meta charset="utf-8"><title>tall</title><link rel="icon" href="data:,">'
STYLE = f"""<style>
html {{ scroll-behavior: smooth; }}
body {{ margin: 0; }}
header {{ position: sticky; top: 0; height: {BAR}px; background: rgb{RED}; z-index: 2; }}
footer {{ position: fixed; bottom: 0; width: 100%; height: {BAR}px; background: rgb{BLUE}; transition: all 1s; }}
main {{ display: grid; grid-template-columns: repeat({COLUMNS}, {WIDE}px); }}
aside {{ height: 80px; overflow: auto; }}
aside p {{ height: 400px; }}
section {{ height: 100000px; background: linear-gradient(#fff, #000); }}
[dir=rtl] main {{ width: {BROAD}px; background: rgb{GREEN}; }}
main div {{ height: {CELL}px; font: 20px monospace; color: #fff; }}
</style>"""
GRID = f"""<script>
const main = document.querySelector("main");
for (let row = 0; row < {ROWS}; row += 1)
  for (let column = 0; column < {COLUMNS}; column += 1) {{
    const cell = main.appendChild(document.createElement("div"));
    cell.textContent = `${{row}}.${{column}}`;
    cell.style.background = `rgb(${{row * 6}}, ${{column * 60}}, 90)`;
  }}
</script>"""
INNER = '<aside><p>inside</p></aside><iframe src="/grid"></iframe>'


def colour(row: int, column: int) -> tuple[int, int, int]:
    """What the page paints a cell of the grid with."""
    return (row * 6, column * 60, 90)


def check_leftward(taken: Image.Image) -> None:
    """The picture of the page from right to left is whole: its columns begin on the right."""
    assert taken.size == (BROAD, BAR + ROWS * CELL)
    for row in range(ROWS):
        top = BAR + row * CELL
        for column in range(COLUMNS):
            left = BROAD - (column + 1) * WIDE
            for at in ((left + 2, top + 2), (left + 2, top + CELL - 2)):
                assert taken.getpixel(at) == colour(row, column), (row, column)
        assert taken.crop((0, top, BROAD - COLUMNS * WIDE, top + CELL)).getcolors() == [(800 * CELL, GREEN)], row
    assert [y for y in range(taken.height) if taken.getpixel((BROAD - 1, y)) == RED] == list(range(BAR))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        match self.path:
            case "/grid":
                body = f"<header></header><main></main>{GRID}<footer></footer>"
            case "/leftward":
                body = f"<header></header><main></main>{GRID}"
            case "/inner":
                body = f"<main></main>{GRID}{INNER}"
            case "/endless":
                body = "<section></section>"
            case _:
                self.send_error(404)
                return
        direction = "rtl" if self.path == "/leftward" else "ltr"
        head = f'<!doctype html><html lang="en" dir="{direction}"><head>{HEAD}{STYLE}</head>'
        data = f"{head}<body>{body}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        # not even styles in attributes: what the extension sets isn't asked
        self.send_header("Content-Security-Policy", "style-src-elem 'unsafe-inline'; style-src-attr 'none'")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Say nothing."""


class TallSite:
    """The site. `url` has no trailing slash."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
