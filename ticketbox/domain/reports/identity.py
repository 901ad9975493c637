"""Signed identities: the site where somebody reports says who they are (docs/use/reports.md#signed-identity).

An identity is a JSON Web Token (RFC 7519) that the site's server signs with HMAC-SHA256 (`HS256`, RFC 7518, 3.2).
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField

ALGORITHM = "HS256"
MAX_TOKEN = 4_000
MAX_SECONDS = 24 * 3600
LEEWAY_SECONDS = 60

_LINE = match_whole(r"[^\x00-\x1f\x7f]*")


class Identity(msgspec.Struct, frozen=True):
    """The claims of an identity (RFC 7519, 4.1, and OpenID Connect Core 1.0, 5.1). Other claims are ignored.

    `sub` is the person's id at the site, `exp` and `nbf` are seconds since 1970.
    """

    sub: Annotated[str, Meta(min_length=1, max_length=255), _LINE]
    exp: float
    nbf: float = 0
    name: Annotated[str, Meta(max_length=100), _LINE] = ""
    email: Annotated[str, Meta(max_length=254), _LINE] = ""


def verify_identity(token: str, secrets: tuple[str, ...], now: int) -> Identity:
    """Check signature and times; return the claims. `now` is in milliseconds. Raises InvalidField."""
    if not secrets:
        raise InvalidField("identity", "this report key has no identity secret")
    try:
        claims = msgspec.json.decode(_verify_signature(token, secrets), type=Identity)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidField("identity", f"its claims aren't as documented: {error}") from None
    seconds = now / 1000
    if seconds >= claims.exp + LEEWAY_SECONDS:
        raise InvalidField("identity", "it has expired")
    if seconds < claims.nbf - LEEWAY_SECONDS:
        raise InvalidField("identity", "it isn't valid yet")
    if claims.exp > seconds + MAX_SECONDS + LEEWAY_SECONDS:
        raise InvalidField("identity", f"`exp` must be at most {MAX_SECONDS // 3600} hours ahead")
    return claims


def _verify_signature(token: str, secrets: tuple[str, ...]) -> bytes:
    """Return what one of the secrets signed. Raises InvalidField."""
    import jwt  # takes 40 ms

    for secret in secrets:
        try:
            return jwt.PyJWS(algorithms=[ALGORITHM]).decode(token, secret, algorithms=[ALGORITHM])
        except jwt.InvalidSignatureError:
            continue
        except jwt.InvalidTokenError:
            break
    raise InvalidField("identity", f"it isn't a token that this key's identity secret signed with {ALGORITHM}")
