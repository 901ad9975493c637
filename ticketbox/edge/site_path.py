"""The path of the public URL (docs/decisions/0021-under-a-path.md).

Only here and in the web app's `core/navigation/base.ts` is it known: requests lose it before anything else reads their
path, and redirects, pages and cookies get it when they are sent.
"""

import re

from ticketbox.edge.asgi import Scope

SITE_PATH = "ticketbox.site_path"
_ADDRESS = re.compile(rb'\b(href|src|action)="/(?!/)')


class SitePath:
    """A path that is not empty, such as `/tickets`; none of its characters is ever percent-encoded."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pattern = re.compile(rb"(/\.well-known/[a-z-]+)?" + re.escape(path.encode()) + rb"(?:/.*)?", re.DOTALL)

    def remove(self, scope: Scope) -> bool:
        """Remove the path from a request's; return whether it was there.

        Under `/.well-known`, it follows the name of the document (RFC 8414, 3.1, and RFC 9728, 3.1).
        """
        found = self._pattern.fullmatch(scope["raw_path"])
        if found is None:
            return False
        start = len(found[1] or b"")
        end = start + len(self._path)
        scope["path"] = (scope["path"][:start] + scope["path"][end:]) or "/"
        scope["raw_path"] = (scope["raw_path"][:start] + scope["raw_path"][end:]) or b"/"
        scope[SITE_PATH] = self._path
        return True

    def lacks_slash(self, method: str, path: str) -> bool:
        """Whether a page is asked for at the site's address without the slash at its end."""
        return path == self._path and method in {"GET", "HEAD"}

    def add_to_location(self, location: bytes) -> bytes:
        """Return the target of a redirect with the path, if it is a page of the site."""
        return self._path.encode() + location if location.startswith(b"/") else location


def add_to_page(html: bytes, path: str) -> bytes:
    """Return a page with the site's path before the paths in its links, forms and files.

    What people entered can't look like an attribute: templates and JSON escape its quotation marks.
    """
    return _ADDRESS.sub(lambda found: found[0][:-1] + path.encode() + b"/", html)
