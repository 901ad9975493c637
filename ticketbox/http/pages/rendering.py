"""Render pages from templates, and read their forms."""

import functools
import re
from base64 import b64encode
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from ticketbox import __version__
from ticketbox.domain.core.problems import Forbidden, InvalidRequest, Problem, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope, get_header, read_body
from ticketbox.edge.responses import Answer, Page
from ticketbox.edge.site import Site
from ticketbox.operations.core.services import Services

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_FORM = 16 * 1024
FORM_SECONDS = 30.0
_FORMS = b"form-action 'self'"
_STYLES = b"style-src 'self'"
_POLICY = (
    b"default-src 'none'; " + _STYLES + b"; img-src 'self' data:; font-src 'self'; " + _FORMS + b"; base-uri 'none'; "
    b"frame-ancestors 'none'"
)
_SCRIPT = b"; script-src 'self'; connect-src 'self'"
_OWN_PATH = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]*)?")  # no second slash, no backslash, printable ASCII alone


@functools.cache
def _load_templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=PackageLoader("ticketbox.http.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _write_sentence(detail: str) -> str:
    """Write a problem's detail as a sentence of a page. A field's name at its start stays as it is."""
    start = detail[:1] if "_" in detail.partition(" ")[0] else detail[:1].upper()
    return f"{start}{detail[1:]}.".replace("'", "’")


def _write_day(moment: str) -> str:
    """Write the day of a moment in ISO 8601, such as November 26, 2026."""
    day = datetime.fromisoformat(moment)
    return f"{day:%B} {day.day}, {day.year}"


def render_page(
    template: str,
    status: int = 200,
    *,
    form_to: str | None = None,
    scripts: bool = False,
    style: str | None = None,
    **values: Any,
) -> Answer:
    """Render a page under the strict content-security policy.

    With `form_to`, the answer to a form on the page may redirect to that source. With `scripts`, the page may run the
    server's scripts (`static.py`). With `style`, the page contains its style sheet, which the policy allows by
    its hash, and no other.
    """
    policy = _POLICY if form_to is None else _POLICY.replace(_FORMS, _FORMS + b" " + form_to.encode())
    policy += _SCRIPT if scripts else b""
    if style is not None:
        policy = policy.replace(_STYLES, b"style-src 'sha256-" + b64encode(sha256(style.encode()).digest()) + b"'")
        values["style"] = style
    values |= {"version": __version__, "write_sentence": _write_sentence, "write_day": _write_day}
    text = _load_templates().get_template(template).render(**values)
    # Forms need the Origin header, which browsers omit with no-referrer.
    headers = [(b"content-security-policy", policy), (b"referrer-policy", b"same-origin")]
    return Page(status, text.encode(), "text/html; charset=utf-8", headers)


def keep_local_path(text: str) -> str:
    """Return the path if it stays on this site, otherwise `/`."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def render_sign_in_page(
    services: Services,
    then: str,
    email: str = "",
    problem: Problem | None = None,
    form_to: str | None = None,
    *,
    fresh: bool = False,
) -> Answer:
    """Render the sign-in form, which continues to a path of this site.

    `fresh` is for a person who is signed in and must confirm it.
    """
    status = problem.status if problem else 200
    settings = None if services.provider is None else services.provider.settings
    then = keep_local_path(then)
    query = urlencode({"next": then, **({"fresh": "1"} if fresh else {})})
    return render_page(
        "signin.html", status, form_to=form_to, scripts=True,
        then=then, email=email, problem=problem, provider=settings, provider_query=query,
        passwords=settings is None or settings.allows_passwords, mails=services.sends_email,
    )  # fmt: skip


def refuse_cross_site_form(scope: Scope, site: Site) -> None:
    """Refuse a form that another site sends, with or without a session. Raises Forbidden."""
    # Fetch Metadata goes first, because browsers send `Origin: null` from pages without a referrer.
    fetch_site, origin = get_header(scope, b"sec-fetch-site"), get_header(scope, b"origin")
    if fetch_site not in {None, "same-origin", "none"} or (fetch_site is None and origin not in {None, site.origin}):
        raise Forbidden("this form must be sent from a ticketbox page")


async def read_form(scope: Scope, receive: Receive, most_fields: int = 20) -> list[tuple[str, str]]:
    """Read a form's names and values, in order. Raises UnsupportedMediaType, InvalidRequest and as `read_body`."""
    kind = (get_header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UnsupportedMediaType(
            "send the form as application/x-www-form-urlencoded", valid=["application/x-www-form-urlencoded"]
        )
    body = await read_body(scope, receive, MAX_FORM, FORM_SECONDS)
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=most_fields)
    except ValueError:
        raise InvalidRequest("the form isn't valid UTF-8, or has too many fields") from None
