"""Cookies: read those of a request, and build the header that sets one (RFC 6265)."""

from http.cookies import CookieError, SimpleCookie

from ticketbox.edge.asgi import Scope, get_header
from ticketbox.edge.site import Site


def read_cookies(scope: Scope, site: Site) -> dict[str, str]:
    """Read the cookies of a request, if any is the site's."""
    text = get_header(scope, b"cookie")
    if text is None or site.cookie not in text:
        return {}
    if site.path:
        # Browsers send the cookie with the longest path first (RFC 6265, 5.4); SimpleCookie keeps the last of a name.
        text = ";".join(reversed(text.split(";")))
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(text).items()}
    except CookieError:
        return {}


def build_cookie(site: Site, name: str, secret: str, lifetime: int) -> tuple[bytes, bytes]:
    """Build the header that sets a cookie, or deletes it with a lifetime of 0 seconds."""
    jar = SimpleCookie()
    jar[name] = secret
    morsel = jar[name]
    morsel["path"], morsel["max-age"] = site.path or "/", lifetime
    morsel["samesite"], morsel["httponly"] = "Lax", True
    if site.secure:
        morsel["secure"] = True
    return b"set-cookie", morsel.OutputString().encode()
