"""Repair of the JSON that browsers send: pages log invalid text, which their visitors can't fix."""

import re

_ESCAPES = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<broken>\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
_MARKS = (b"\\u0000", b"\\ud", b"\\uD")


def repair_json(body: bytes) -> bytes:
    """Replace escaped NULs and lone surrogates in JSON by U+FFFD."""
    if not any(sign in body for sign in _MARKS):
        return body
    return _ESCAPES.sub(lambda escape: b"\\ufffd" if escape["broken"] else escape[0], body)
