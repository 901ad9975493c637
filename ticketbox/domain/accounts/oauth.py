"""Rules of OAuth that need no database: redirect URIs, PKCE, client names (docs/use/oauth.md).

RFC 6749 as narrowed by OAuth 2.1: only authorization codes, with PKCE (RFC 7636) by S256, for public clients.
"""

import hashlib
import hmac
import re
import secrets
import unicodedata
from base64 import urlsafe_b64encode
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import SplitResult, urlencode, urlsplit

from ticketbox.domain.core.clock import DAY, HOUR, MINUTE
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidRequest

ACCESS_LIFETIME = HOUR
REFRESH_LIFETIME = 90 * DAY
REFRESH_GRACE = ACCESS_LIFETIME  # agents that share a sign-in refresh when their access tokens expire
CODE_LIFETIME = MINUTE
CONSENT_LIFETIME = 10 * MINUTE
MAX_NAME = 100
MAX_ADDRESS = 2_000

CHALLENGE = match_whole(r"[A-Za-z0-9_\-]{43}")
VERIFIER = match_whole(r"[A-Za-z0-9\-._~]{43,128}")

_ADDRESS = re.compile(r"[a-z][a-z0-9+.\-]{0,60}:[\x21-\x7e]+", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9._\-]+|[0-9a-f:.]+")
_LOOPBACK = re.compile(r"(http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)")
# Schemes without a dot that apps for coding have; any other belongs to the system or to another program.
_KNOWN_SCHEMES = frozenset(
    ("claude", "code-oss", "cursor", "jetbrains", "kiro", "raycast", "vscode", "vscode-insiders", "windsurf", "zed")
)


class Audience(StrEnum):
    """Which of this server's resources a grant is for (RFC 8707); each is under the public URL."""

    MCP = "mcp"
    API = "api"


class OAuthError(InvalidRequest):
    """A refusal with an error code of RFC 6749, `error`.

    With `redirect_uri` the error is sent to the client (section 4.1.2.1); without it a page shows it to the user,
    because the address isn't known to be the client's.
    """

    def __init__(self, error: str, detail: str, redirect_uri: str | None = None, state: str | None = None) -> None:
        super().__init__(detail)
        self.error = error
        self.redirect_uri = redirect_uri
        self.state = state


def generate_code() -> str:
    """Generate a code or a consent handle: 256 random bits, without a prefix, because it may be in a URL."""
    return secrets.token_urlsafe(32)


def compute_challenge(verifier: str) -> str:
    """Compute the S256 challenge of a verifier (RFC 7636, 4.2)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def matches_challenge(verifier: str, challenge: str) -> bool:
    """Whether a verifier matches an S256 challenge (RFC 7636, 4.6)."""
    return hmac.compare_digest(compute_challenge(verifier).encode(), challenge.encode())


def sanitize_name(text: str | None, fallback: str) -> str:
    """Make a client's name safe to show: one line, no control or direction characters, at most 100 characters."""
    shown = "".join(letter if unicodedata.category(letter)[0] not in "CZ" else " " for letter in text or "")
    return " ".join(shown.split())[:MAX_NAME].strip() or fallback[:MAX_NAME]


def find_redirect_problem(address: str) -> str | None:
    """Find what is wrong with a redirect_uri; None if it is valid.

    https anywhere; http on this machine only (RFC 8252, 7.3); an app's own scheme (RFC 8252, 7.1). No fragment
    (RFC 6749, 3.1.2) and no user name.
    """
    parts = _split_address(address)
    if parts is None:
        return "it is no absolute address"
    if "#" in address:
        return "it has a fragment"
    if "@" in parts.netloc:
        return "it has a user name"
    if parts.scheme in {"http", "https"} and not _HOST.fullmatch(parts.hostname or ""):
        return "it has no host"
    if parts.scheme == "https":
        return None
    if parts.scheme == "http":
        return None if _is_loopback(parts.hostname or "") else "http is for this machine's own addresses; use https"
    if "." in parts.scheme or parts.scheme in _KNOWN_SCHEMES:
        return None
    return f"{parts.scheme}: can't be an app's own scheme, which has a dot, such as com.example.app (RFC 8252, 7.1)"


def matches_redirect(registered: str, requested: str) -> bool:
    """Whether an address is the registered one; on loopback the port may differ (RFC 8252, 7.3)."""
    if registered == requested:
        return True
    ours, theirs = _LOOPBACK.fullmatch(registered), _LOOPBACK.fullmatch(requested)
    if ours is None or theirs is None or find_redirect_problem(requested) is not None:
        return False
    return ours.groups() == theirs.groups()


def format_host(redirect_uri: str) -> str:
    """Format a redirect_uri's destination for people: a host with its port, or an app's scheme."""
    parts = urlsplit(redirect_uri)
    return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def is_on_this_machine(redirect_uri: str) -> bool:
    """Whether a redirect stays on the user's machine."""
    parts = urlsplit(redirect_uri)
    return parts.scheme not in {"http", "https"} or _is_loopback(parts.hostname or "")


def build_form_source(redirect_uri: str) -> str:
    """Build the form-action source that lets a page's form be answered with this redirect.

    Browsers also check the target of the redirect (Content Security Policy 3, 6.4.1), and the policy's grammar has
    no IPv6 addresses.
    """
    parts = urlsplit(redirect_uri)
    if parts.scheme not in {"http", "https"} or "[" in parts.netloc:
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"


def add_response_parameters(redirect_uri: str, **values: str | None) -> str:
    """Add the parameters of a response to a redirect_uri's query (RFC 6749, 4.1.2)."""
    query = urlencode({name: value for name, value in values.items() if value is not None})
    return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{query}"


def is_metadata_address(client_id: str) -> bool:
    """Whether a client_id names a client-id metadata document (draft-ietf-oauth-client-id-metadata-document, 3).

    https with a path; no fragment, no user name, no `.` or `..` in the path.
    """
    parts = _split_address(client_id)
    if parts is None or parts.scheme != "https" or not client_id.startswith("https://"):
        return False
    segments = parts.path.split("/")
    return (
        _HOST.fullmatch(parts.hostname or "") is not None
        and parts.path not in {"", "/"}
        and "#" not in client_id
        and "@" not in parts.netloc
        and not {".", ".."} & set(segments)
    )


def _split_address(address: str) -> SplitResult | None:
    if len(address) > MAX_ADDRESS or "\\" in address or not _ADDRESS.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
