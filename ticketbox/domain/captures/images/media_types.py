"""Detect media types by content, and make file names safe.

The order of the checks follows the WHATWG MIME Sniffing Standard where it applies.
"""

import codecs
import re
import unicodedata
from urllib.parse import quote

from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.unsafe_characters import JOINERS

PNG = "image/png"
JPEG = "image/jpeg"
WEBP = "image/webp"
GIF = "image/gif"
SVG = "image/svg+xml"
HTML = "text/html"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
BINARY = "application/octet-stream"

INLINE = frozenset({PNG, JPEG, WEBP, GIF})
"""Types that a browser may display; everything else is sent as a download."""

MAX_NAME = 200
DEFAULT_NAME = "file"

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
)
_MP4_BRANDS = (b"iso", b"mp4", b"avc1", b"M4V ", b"MSNV", b"dash", b"f4v ")
_WEBM = re.compile(rb"\x1a\x45\xdf\xa3.{0,60}?\x42\x82[\x84\x88]webm", re.DOTALL)
_SVG = re.compile(r"<(?:\w+:)?svg[\s/>]", re.IGNORECASE)
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|img|meta|link"
    r"|form|object|embed)(?:[\s/>]|\Z)|http://www\.w3\.org/1999/xhtml",
    re.IGNORECASE,
)
_JSON = re.compile(r'\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}\s*\Z)|\[\s*(?:[{"]|\]\s*\Z))')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_NOT_QUOTABLE = re.compile(r'[^ -~]|["\\%]')


def detect_media_type(head: bytes) -> str:
    """Detect the media type of a file by its first bytes (a few kilobytes are enough).

    HTML and SVG are detected anywhere in these bytes, so that neither is taken for plain text. Unknown types are
    `application/octet-stream`.
    """
    for magic, media_type in _MAGIC:
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return WEBP
    if head[4:8] == b"ftyp" and head[8:12].startswith(_MP4_BRANDS):
        return "video/mp4"
    if _WEBM.match(head):
        return "video/webm"
    return _detect_text_type(head)


def _detect_text_type(head: bytes) -> str:
    try:
        # The first bytes may end inside a character; an incremental decoder waits for the rest.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return BINARY
    if _CONTROL.search(text):
        return BINARY
    if text.lstrip().startswith("<"):
        if _SVG.search(text):
            return SVG
        if _HTML.search(text):
            return HTML
    return JSON if _JSON.match(text) else TEXT


def sanitize_file_name(name: str) -> str:
    """Make an uploaded file's name safe to display and to send back.

    Keeps its last path segment, without control, format, direction and unknown characters, without spaces at either
    end, dots at the end, and several dots at the start, and shortened to 200 characters with the extension.
    """
    name = normalize_text(name)
    name = "".join(" " if unicodedata.category(c) == "Zs" else c for c in name)
    name = "".join(c for c in name if c.isprintable() or c in JOINERS)
    name = re.split(r"[/\\]", name)[-1].strip(" " + JOINERS).rstrip(". " + JOINERS)
    name = re.sub(r"\A\.[. ]+", ".", name)
    if len(name) > MAX_NAME:
        stem, dot, extension = name.rpartition(".")
        ending = dot + extension if stem and len(extension) <= 16 else ""
        name = name[: MAX_NAME - len(ending)].rstrip(". " + JOINERS) + ending
    return name.strip() or DEFAULT_NAME


def format_content_disposition(name: str, inline: bool) -> str:
    """Build the Content-Disposition of a file (RFC 6266), with its name in UTF-8 (RFC 8187).

    Programs that don't support `filename*` use the name in ASCII.
    """
    name = sanitize_file_name(name)
    plain = _NOT_QUOTABLE.sub("_", name)
    field = f'{"inline" if inline else "attachment"}; filename="{plain}"'
    if plain == name:
        return field
    return f"{field}; filename*=UTF-8''{quote(name, safe='!#$&+-.^_`|~')}"
