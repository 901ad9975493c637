"""Pages taller than any window: a grid in known colours, with a sticky header and a fixed footer."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

from PIL import Image

ROWS, COLUMNS = 40, 4
CELL_HEIGHT, CELL_WIDTH = 120, 200
BAR = 48
RTL_WIDTH = 1_600
RED, GREEN, BLUE = (200, 0, 0), (0, 200, 0), (0, 0, 200)

HEAD = '<meta charset="utf-8"><title>tall</title><link rel="icon" href="data:,">'
STYLE = f"""<style>
html {{ scroll-behavior: smooth; }}
body {{ margin: 0; }}
header {{ position: sticky; top: 0; height: {BAR}px; background: rgb{RED}; z-index: 2; }}
footer {{ position: fixed; bottom: 0; width: 100%; height: {BAR}px; background: rgb{BLUE}; transition: all 1s; }}
main {{ display: grid; grid-template-columns: repeat({COLUMNS}, {CELL_WIDTH}px); }}
aside {{ height: 80px; overflow: auto; }}
aside p {{ height: 400px; }}
section {{ height: 100000px; background: linear-gradient(#fff, #000); }}
[dir=rtl] main {{ width: {RTL_WIDTH}px; background: rgb{GREEN}; }}
main div {{ height: {CELL_HEIGHT}px; font: 20px monospace; color: #fff; }}
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
    """The colour of a cell of the grid."""
    return (row * 6, column * 60, 90)


def check_right_to_left(screenshot: Image.Image) -> None:
    """Check the full-page screenshot of the right-to-left page, whose columns start on the right."""
    assert screenshot.size == (RTL_WIDTH, BAR + ROWS * CELL_HEIGHT)
    for row in range(ROWS):
        top = BAR + row * CELL_HEIGHT
        for column in range(COLUMNS):
            left = RTL_WIDTH - (column + 1) * CELL_WIDTH
            for at in ((left + 2, top + 2), (left + 2, top + CELL_HEIGHT - 2)):
                assert screenshot.getpixel(at) == colour(row, column), (row, column)
        assert screenshot.crop((0, top, RTL_WIDTH - COLUMNS * CELL_WIDTH, top + CELL_HEIGHT)).getcolors() == [
            (800 * CELL_HEIGHT, GREEN)
        ], row
    assert [y for y in range(screenshot.height) if screenshot.getpixel((RTL_WIDTH - 1, y)) == RED] == list(range(BAR))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        match self.path:
            case "/grid":
                body = f"<header></header><main></main>{GRID}<footer></footer>"
            case "/right-to-left":
                body = f"<header></header><main></main>{GRID}"
            case "/inner":
                body = f"<main></main>{GRID}{INNER}"
            case "/endless":
                body = "<section></section>"
            case _:
                self.send_error(404)
                return
        direction = "rtl" if self.path == "/right-to-left" else "ltr"
        head = f'<!doctype html><html lang="en" dir="{direction}"><head>{HEAD}{STYLE}</head>'
        data = f"{head}<body>{body}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        # forbids style attributes; the extension sets styles through the DOM, which no policy forbids
        self.send_header("Content-Security-Policy", "style-src-elem 'unsafe-inline'; style-src-attr 'none'")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Log nothing."""


class TallSite:
    """The running site. `url` has no trailing slash."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
