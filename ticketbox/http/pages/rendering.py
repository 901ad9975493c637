"""What pages that the server renders have in common: their frame and policy, and reading a form safely."""

import functools
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ticketbox import __version__
from ticketbox.domain.core.problems import Forbidden, InvalidRequest, Problem, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope, header, whole_body
from ticketbox.edge.edge import Site
from ticketbox.edge.responses import Answer

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_FORM = 16 * 1024
FORM_SECONDS = 30.0
_FORMS = b"form-action 'self'"
_POLICY = (
    b"default-src 'none'; style-src 'self'; img-src 'self' data:; " + _FORMS + b"; base-uri 'none'; "
    b"frame-ancestors 'none'"
)
_OWN_PATH = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]*)?")  # no second slash, no backslash, printable ASCII alone


@functools.cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=PackageLoader("ticketbox.http.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(template: str, status: int = 200, *, form_to: str | None = None, **values: Any) -> Answer:
    """Render a page under the strict content-security policy.

    With `form_to`, a form on it may be answered with a redirect to that source.
    """
    policy = _POLICY if form_to is None else _POLICY.replace(_FORMS, _FORMS + b" " + form_to.encode())
    text = _templates().get_template(template).render(version=__version__, **values)
    # Forms need their Origin, which browsers hide from a site with no-referrer.
    headers = [(b"content-security-policy", policy), (b"referrer-policy", b"same-origin")]
    return Answer(status, text.encode(), "text/html; charset=utf-8", headers)


def own_path(text: str) -> str:
    """A path of this site to go on to; the first page for whatever could lead elsewhere."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def sign_in_page(then: str, email: str = "", problem: Problem | None = None, form_to: str | None = None) -> Answer:
    """The sign-in form, which goes on to a path of this site."""
    status = problem.status if problem else 200
    return page("signin.html", status, then=own_path(then), email=email, problem=problem, form_to=form_to)


def refuse_foreign(scope: Scope, site: Site) -> None:
    """Refuse a form that another site's page sends, with a session or without. Raises Forbidden."""
    # browsers send `Origin: null` here, because these pages send no referrer: it only counts without Fetch Metadata
    fetch_site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
    if fetch_site not in {None, "same-origin", "none"} or (
        fetch_site is None and origin not in {None, site.public_url}
    ):
        raise Forbidden("this form must be sent from its own page")


async def form_pairs(scope: Scope, receive: Receive, most_fields: int = 20) -> list[tuple[str, str]]:
    """The names and values of a form, in order. Raises UnsupportedMediaType, InvalidRequest and as `whole_body`."""
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UnsupportedMediaType("send the form as a browser does", valid=["application/x-www-form-urlencoded"])
    body = await whole_body(scope, receive, MAX_FORM, FORM_SECONDS)
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=most_fields)
    except ValueError:
        raise InvalidRequest("the form isn't valid UTF-8, or has too many fields") from None
