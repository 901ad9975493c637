"""Check ID tokens (OpenID Connect Core 1.0, 3.1.3.7)."""

import hmac
from typing import Any

import msgspec

# Signatures with the provider's own key. None of them can be made with the client secret or with a public key.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
LEEWAY_SECONDS = 60


class InvalidIdToken(Exception):
    """An ID token that isn't accepted; the text says why."""


class UnknownKey(InvalidIdToken):
    """None of the keys signed it: the provider may have new ones."""


class TokenExpectation(msgspec.Struct, frozen=True):
    """What an ID token must contain."""

    issuer: str
    client_id: str
    nonce: str


def verify_id_token(token: str, keys: list[dict[str, Any]], expected: TokenExpectation) -> dict[str, Any]:
    """Check signature, issuer, audience, times and nonce; return the claims. Raises InvalidIdToken and UnknownKey."""
    import jwt  # takes 40 ms

    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError:
        raise InvalidIdToken("the ID token isn't a signed token") from None
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        raise InvalidIdToken("the ID token isn't signed with a supported algorithm")
    for key in _select_keys(keys, header.get("kid"), algorithm):
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=expected.client_id,
                issuer=expected.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except jwt.InvalidSignatureError:
            continue
        except jwt.InvalidTokenError as error:
            raise InvalidIdToken(f"the ID token isn't valid: {error}") from None
        return _check_claims(claims, expected)
    raise UnknownKey("the ID token isn't signed by a key of the provider")


def _select_keys(keys: list[dict[str, Any]], kid: Any, algorithm: str) -> list[Any]:
    """Return the keys that can have signed with this algorithm: the one with the id, or all without an id."""
    import jwt

    selected: list[Any] = []
    for each in keys:
        if (kid is not None and each.get("kid") != kid) or each.get("use", "sig") != "sig":
            continue
        try:
            selected.append(jwt.PyJWK(each, algorithm=algorithm).key)
        except jwt.PyJWTError:
            continue  # a key of another kind
    return selected


def _check_claims(claims: dict[str, Any], expected: TokenExpectation) -> dict[str, Any]:
    several = claims["aud"] not in (expected.client_id, [expected.client_id])
    if claims.get("azp", None if several else expected.client_id) != expected.client_id:
        raise InvalidIdToken("the ID token is for another application")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise InvalidIdToken("the ID token belongs to another sign-in")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
        raise InvalidIdToken("the ID token names nobody")
    return claims
