"""Repair of the JSON that browsers send: pages log invalid text, which their visitors can't fix."""

import re

# Begins with a literal backslash, which the engine finds fast.
_ESCAPES = re.compile(
    rb"\\(?:\\(?:\\\\)*+"
    rb"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<broken>u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})))"
)
_MARKS = (b"\\u0000", b"\\ud", b"\\uD")
_CHUNK = 256 * 1024  # other threads run between two chunks


def repair_json(body: bytes | bytearray) -> bytes | bytearray:
    """Replace escaped NULs and lone surrogates in JSON by U+FFFD; a bytearray is changed in place."""
    if not _has_mark(body):
        return body
    repaired = body if isinstance(body, bytearray) else bytearray(body)
    for escape in _ESCAPES.finditer(repaired):
        if escape["broken"]:
            repaired[escape.start() : escape.end()] = b"\\ufffd"  # as long as what it replaces
    return repaired


def _has_mark(body: bytes | bytearray) -> bool:
    longest = max(map(len, _MARKS))
    chunks = (body[start : start + _CHUNK + longest] for start in range(0, len(body), _CHUNK))
    return any(b"\\u" in chunk and any(mark in chunk for mark in _MARKS) for chunk in chunks)
