"""Fingerprints of bugs: the error, its source and the page, without what differs each time.

Numbers, hashes, ids and addresses are removed, so that `Item 17 of cart 5f0c1e3a is gone` and `Item 3 of cart
77c44a51 is gone` are one message, and `/orders/1729` and `/orders/4104` one page.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ticketbox.domain.captures.capture import THROWN, ErrorEntry
from ticketbox.domain.captures.error_text import RULES, format_error, normalize_message
from ticketbox.domain.captures.source_maps.frames import Frame
from ticketbox.domain.tickets.records import FrequentError, Similarity

MAX_ERRORS = 20
FRAMES = 3
_MAX_LABEL = 200
_MAX_NAME = 60
_FAILURE_LINES = 4
_BUILD = re.compile(RULES["build"])
_SEGMENT = re.compile(rf"[0-9]+|{RULES['id']}|{RULES['hex']}|[a-z]{{1,5}}[-_][0-9a-z]*[0-9][0-9a-z]*")


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """A fingerprint: equal values mean similar bugs. `label` is what people read."""

    similarity: Similarity
    value: int
    label: str


def fingerprint_errors(entries: Iterable[ErrorEntry]) -> list[Fingerprint]:
    """Fingerprint a capture's first 20 different errors: each message, and each message with its frames."""
    fingerprints: dict[tuple[Similarity, int], Fingerprint] = {}
    for entry in entries:
        message = fingerprint_message(format_error(entry))
        frames = [_identify_frame(frame) for frame in entry.frames[:FRAMES]] or [
            _normalize_frame(entry.source or "", None)
        ]
        if message is None:
            continue
        if any(frames):
            fingerprint = Fingerprint(
                Similarity.ERROR, _hash(normalize_message(format_error(entry)), *frames), message.label
            )
            fingerprints.setdefault((fingerprint.similarity, fingerprint.value), fingerprint)
        fingerprints.setdefault((message.similarity, message.value), message)
        if len(fingerprints) >= 2 * MAX_ERRORS:
            break
    return list(fingerprints.values())


def find_main_error(entries: Iterable[ErrorEntry]) -> FrequentError | None:
    """Return the class of thrown errors, else of others, that happened most often; of equal ones, the first.

    `Error` says nothing as a class: the message does.
    """
    thrown, others = Counter[str](), Counter[str]()
    for entry in entries:
        name = entry.name if entry.name != "Error" else None
        counts = thrown if entry.kind in THROWN else others
        counts[name or _clip_line(entry.message) or "Error"] += entry.count
    found = thrown or others
    return FrequentError(*found.most_common(1)[0]) if found else None


def _clip_line(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _MAX_NAME else f"{line[: _MAX_NAME - 1].rstrip()}…"


def fingerprint_message(text: str) -> Fingerprint | None:
    """Fingerprint the first line of an error's message, such as `TypeError: x is undefined`."""
    line = text.strip().partition("\n")[0].strip()
    plain = normalize_message(line)
    return Fingerprint(Similarity.MESSAGE, _hash(plain), line[:_MAX_LABEL]) if plain else None


def fingerprint_failure(project_id: str, test: str, message: str) -> str:
    """Return what failures of a project's test in the same way have in common: the start of the message.

    Runners write what they expected, such as a locator, below the first line.
    """
    lines = [line for line in message.split("\n") if line.strip()][:_FAILURE_LINES]
    plain = " ".join(normalize_message(line) for line in lines)
    return hashlib.sha256("\0".join((project_id, test, plain)).encode()).hexdigest()[:40]


def fingerprint_page(url: str) -> Fingerprint | None:
    """Fingerprint a page's URL: host and path, without ids, query and fragment.

    A fragment that is a path, as in some applications' routing, counts.
    """
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2].lower()
    except ValueError:
        return None
    if not host:
        return None
    path = parts.path + ("#" + parts.fragment.partition("?")[0] if parts.fragment.startswith(("/", "!/")) else "")
    pattern = _replace_ids(path.rstrip("/"))
    label = (host + pattern)[: RULES["longest"]]
    return Fingerprint(Similarity.PAGE, _hash(label), label[:_MAX_LABEL])


def _replace_ids(path: str) -> str:
    return "/".join("*" if _SEGMENT.fullmatch(segment) else segment for segment in path.split("/"))


def _identify_frame(frame: Frame) -> str:
    """Return a frame's file and function, or the author's file and line of code: so a new bundle makes no new bug."""
    original = frame.original
    return _normalize_frame(frame.url, frame.function) if original is UNSET else f"{original.code}@{original.file}"


def _normalize_frame(url: str, function: str | None) -> str:
    """Normalize a stack frame: without its host, line, and the build hash in the file's name."""
    path = url.partition("?")[0].partition("#")[0]
    name = re.sub(r"(?::[0-9]+)+$", "", path.rpartition("/")[2][-_MAX_LABEL:])
    place = f"{function or ''}@{_BUILD.sub('*', name)}"
    return "" if place == "@" else place


def _hash(*texts: str) -> int:
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return int.from_bytes(digest[:7])
