"""Ranges of files, so that a download can be continued and a video can be searched (RFC 9110, 14)."""

import re

_RANGE = re.compile(r"bytes=([0-9]{0,19})-([0-9]{0,19})")


def parse_range(header: str | None, length: int) -> tuple[int, int] | None:
    """Return the first byte that a Range header asks for, and the one after the last.

    None means the whole file: for no header, one with several ranges, and one that the file can't satisfy.
    """
    found = _RANGE.fullmatch("" if header is None else header.strip())
    if found is None or found[1] == found[2] == "":
        return None
    if found[1]:
        first = int(found[1])
        end = min(int(found[2]) + 1, length) if found[2] else length
    else:
        first, end = max(0, length - int(found[2])), length
    return (first, end) if first < end else None
