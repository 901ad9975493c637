"""Repair of the JSON that browsers send: pages log invalid text, which their visitors can't fix."""

import re

# Begins with a literal backslash, which the engine finds fast.
_ESCAPES = re.compile(
    rb"\\(?:\\(?:\\\\)*+"
    rb"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<broken>u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})))"
)
_MARK = re.compile(rb"\\u(?:0000|[dD])")


def repair_json(body: bytes | bytearray) -> bytes | bytearray:
    """Replace escaped NULs and lone surrogates in JSON by U+FFFD; a bytearray is changed in place."""
    if not _MARK.search(body):
        return body
    repaired = body if isinstance(body, bytearray) else bytearray(body)
    for escape in _ESCAPES.finditer(repaired):
        if escape["broken"]:
            repaired[escape.start() : escape.end()] = b"\\ufffd"  # as long as what it replaces
    return repaired
