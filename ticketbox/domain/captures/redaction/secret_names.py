"""Names whose values are secret: of keys, query parameters and headers (docs/operate/security.md)."""

import re
from functools import lru_cache


def split_words(text: str) -> frozenset[str]:
    """Split a text into a set of words."""
    return frozenset(text.split())


_CONTAINS = split_words(
    """password passwd passphrase passcode secret apikey accesskey privatekey authorization credential
    sessionid sessid sessiontoken csrf xsrf jwt creditcard cardnumber ccnumber cardno securitycode cvv
    socialsecurity samlresponse assertion setcookie"""
)
_LAST = split_words(
    """token tokens session auth pwd pw pass cookie cookies otp totp pin ssn sid sig signature card cvc cvn
    cred creds verifier"""
)
_QUERY_NAMES = split_words("key code")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# every secret name contains one of these, so a search for them finds all candidates
STEMS = (
    r"p(?:ass|w|in)|s(?:ecret|ess|sn|i[dg]|aml|ocial)|to(?:ken|tp)|key|a(?:uth|pi[ _-]?key|ssertion)|verifier"
    r"|c(?:red|srf|ard|cn|v[vcn]|o(?:okie|de))|xsrf|jwt|otp"
)

REMOVED_HEADERS = split_words("cookie set-cookie cookie2 set-cookie2 authorization proxy-authorization x-authorization")
_HARMLESS_HEADERS = split_words(
    """accept age allow alt-svc cache-control connection date dnt etag expect expect-ct expires host
    keep-alive last-modified link location nel origin origin-agent-cluster permissions-policy pragma
    priority proxy-authenticate range referer referrer-policy report-to reporting-endpoints retry-after
    server server-timing sourcemap strict-transport-security te timing-allow-origin traceparent trailer
    transfer-encoding upgrade upgrade-insecure-requests user-agent vary via warning www-authenticate
    cf-cache-status cf-ray x-amz-cf-id x-amz-cf-pop x-amzn-requestid x-amzn-trace-id x-cache
    x-content-type-options x-correlation-id x-dns-prefetch-control x-frame-options x-powered-by
    x-request-id x-requested-with x-response-time x-robots-tag x-runtime x-sourcemap x-trace-id
    x-xss-protection"""
)
_HARMLESS_PREFIXES = (
    "accept-", "access-control-", "content-", "cross-origin-", "if-", "ratelimit", "sec-ch-", "sec-fetch-",
    "x-ratelimit-",
)  # fmt: skip


def is_harmless_header(name: str) -> bool:
    """Whether a header's value is harmless, by its lower-case name; others are redacted."""
    return name in _HARMLESS_HEADERS or name.startswith(_HARMLESS_PREFIXES)


def normalize_name(name: str) -> str:
    """Normalize case and separators: `Customer-Ref`, `customerRef` and `customer_ref` become equal."""
    return "".join(filter(str.isalnum, name)).lower()


@lru_cache(maxsize=8192)
def is_secret_key(key: str, *, in_query: bool) -> bool:
    """Whether a key's name says that its value is secret; `in_query` if it is the name of a query parameter."""
    parts = [part.lower() for part in _WORDS.findall(key)]
    whole = "".join(parts)
    if any(part in whole for part in _CONTAINS):
        return True
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] == "value"):
        parts.pop()
    return bool(parts) and (parts[-1] in _LAST or (in_query and whole in _QUERY_NAMES))
