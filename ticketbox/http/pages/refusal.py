"""The page for a request of a browser that was refused, in place of a problem document.

It contains its style sheet and its icon, because requests for files may be refused as well.
"""

import functools
import re
from importlib import resources

import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.edge.asgi import Scope, get_header
from ticketbox.edge.responses import Answer, build_problem_answer
from ticketbox.http.pages.rendering import keep_local_path, render_page

_PROGRAMS = ("/api/", "/mcp", "/oauth/token")
_TITLES = {
    403: "This isn’t allowed",
    404: "Page not found",
    405: "Page not found",
    421: "ticketbox isn’t at this address",
    429: "Too many requests",
    500: "Something went wrong",
    503: "ticketbox isn’t available",
    507: "The server’s disk is full",
}
_OTHER = "This request isn’t valid"
_FOLDER = resources.files("ticketbox.http.pages") / "templates"
_TOKEN = re.compile(r"^  (--[\w-]+): ([^;]+);", re.MULTILINE)
_USE = re.compile(r"var\((--[\w-]+)\)")


class _Document(msgspec.Struct):
    detail: str
    request_id: str = ""


def is_navigation(scope: Scope) -> bool:
    """Whether a browser opens the address as a page or sends a form, rather than a script or a program."""
    return (
        "text/html" in (get_header(scope, b"accept") or "")
        and get_header(scope, b"authorization") is None
        and not scope["path"].startswith(_PROGRAMS)
    )


def build_refusal_page(scope: Scope, problem: Problem) -> Answer | None:
    """Render a problem for the person at the browser; None for other clients, which get the problem document."""
    if not is_navigation(scope):
        return None
    document = build_problem_answer(problem)
    shown = msgspec.json.decode(document.body, type=_Document)
    can_retry = scope["method"] == "GET" and (problem.status == 429 or problem.status >= 500)
    link = keep_local_path(scope["path"]) if can_retry else "/"
    page = render_page(
        "problem.html",
        problem.status,
        status_code=problem.status,
        title=_TITLES.get(problem.status, _OTHER),
        detail=shown.detail,
        request_id=shown.request_id,
        retry_after=problem.extra.get("retry_after") if problem.status == 429 else None,
        can_retry=can_retry,
        link="" if problem.status == 421 else link,  # every page at this address is refused
        icon=_load_icon(),
        style=_load_style(),
    )
    page.headers += document.headers
    return page


@functools.cache
def _load_icon() -> str:
    """Load the icon, as SVG."""
    return (_FOLDER / "icon.svg").read_text()


@functools.cache
def _load_style() -> str:
    """Load the page's style sheet, with the design tokens that it uses and no others."""
    rules = (_FOLDER / "problem.css").read_text()
    tokens = dict(reversed(_TOKEN.findall((_FOLDER / "tokens.css").read_text())))
    used: dict[str, str] = {}
    names = _USE.findall(rules)
    while names:
        name = names.pop()
        used[name] = tokens[name]
        names += _USE.findall(tokens[name])
    declarations = "".join(f" {name}: {value};" for name, value in sorted(used.items()))
    return f":root {{ color-scheme: light dark;{declarations} }}\n{rules}"
