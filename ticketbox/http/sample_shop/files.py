"""The sample shop's files, and `fault.js`, which says what is broken in the pages.

A fault is in a script, not in an answer of the API, because a reproduction answers the API's calls from its recording
(docs/use/reproduce.md, "Answers").
"""

from pathlib import Path

from ticketbox.http.sample_shop.api import Fault

SITE = Path(__file__).with_name("site")
POLICY = "default-src 'self'; frame-ancestors 'none'"
File = tuple[bytes, str]

_PAGES = {"/": "index.html", "/cart": "cart.html", "/thanks": "thanks.html"}
_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}


def load_files() -> dict[str, File]:
    """Load the bytes and the media type of all files by their address, from the shop's first page at `/`."""
    files = {
        f"/{path.relative_to(SITE).as_posix()}": (path.read_bytes(), _TYPES[path.suffix]) for path in SITE.rglob("*.*")
    }
    return {**files, **{address: files[f"/{name}"] for address, name in _PAGES.items()}}


def write_fault(fault: Fault) -> bytes:
    """Write the script `fault.js`."""
    return f"export const fault = '{fault}';\n".encode()
