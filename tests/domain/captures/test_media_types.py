from urllib.parse import unquote

import pytest

from tests.support import pictures
from ticketbox.domain.captures.images.media_types import (
    INLINE,
    MAX_NAME,
    detect_media_type,
    format_content_disposition,
    sanitize_file_name,
)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (pictures.png(), "image/png"),
        (pictures.jpeg(), "image/jpeg"),
        (pictures.webp(), "image/webp"),
        (pictures.gif(), "image/gif"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"PK\x03\x04rest", "application/zip"),
        (b"\x1f\x8b\x08\0", "application/gzip"),
        (b"\0\0\0\x18ftypisom\0\0\x02\0", "video/mp4"),
        (b"\0\0\0\x18ftypavif\0\0\0\0", "application/octet-stream"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska", "application/octet-stream"),
        (b"<!DOCTYPE html><title>x</title>", "text/html"),
        (b"\xef\xbb\xbf \n<ScRiPt>alert(1)</script>", "text/html"),
        (b"<!-- a comment first --><body onload=x>", "text/html"),
        (b"<x onclick=y><iframe src=z>", "text/html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "text/html"),
        (b'<?xml version="1.0"?>\n<!-- c -->\n<svg xmlns="http://www.w3.org/2000/svg">', "image/svg+xml"),
        (b"<s:svg xmlns:s='http://www.w3.org/2000/svg'>", "image/svg+xml"),
        (b'{"a": 1}', "application/json"),
        (b' [\n{"a": 1}', "application/json"),
        (b"{}", "application/json"),
        (b"[2026-01-01] a line of a log", "text/plain; charset=utf-8"),
        (b"body { color: red }", "text/plain; charset=utf-8"),
        ("Grüße\r\n\t✓".encode(), "text/plain; charset=utf-8"),
        ("cut in the middle of ✓".encode()[:-1], "text/plain; charset=utf-8"),
        (b"a < b and <b> later", "text/plain; charset=utf-8"),
        (b"", "text/plain; charset=utf-8"),
        (b"bell \x07", "application/octet-stream"),
        (b"nul \0", "application/octet-stream"),
        ("<script>".encode("utf-16"), "application/octet-stream"),
        (b"latin-1 \xe9t\xe9", "application/octet-stream"),
    ],
)
def test_types_are_sniffed(head: bytes, media_type: str) -> None:
    assert detect_media_type(head) == media_type


def test_only_raster_images_are_inline() -> None:
    assert {"image/png", "image/jpeg", "image/webp", "image/gif"} == INLINE


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("shot.png", "shot.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\shot.png", "shot.png"),
        ("a\0b\r\nSet-Cookie: x.txt", "abSet-Cookie: x.txt"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("zero\u200bwidth\ufeff.txt", "zerowidth.txt"),
        ("lone\ud800surrogate.txt", "lonesurrogate.txt"),
        ("Grüße.txt", "Grüße.txt"),
        ("..", "file"),
        ("dir/", "file"),
        (" \t ", "file"),
        ("", "file"),
        (".bashrc", ".bashrc"),
        (". ./..hidden. .", ".hidden"),
        ("\u200d.\u200c.txt", ".\u200c.txt"),
        ("\U0001f469\u200d\U0001f4bb.txt", "\U0001f469\u200d\U0001f4bb.txt"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),
        ("x" * 300 + ".tar.gz", "x" * 197 + ".gz"),
        ("x" * 300, "x" * 200),
    ],
)
def test_names_are_sanitized(given: str, safe: str) -> None:
    assert sanitize_file_name(given) == safe
    assert len(safe) <= MAX_NAME


@pytest.mark.parametrize(
    ("name", "inline", "field"),
    [
        ("shot.png", True, 'inline; filename="shot.png"'),
        ("a b.txt", False, 'attachment; filename="a b.txt"'),
        ('a"b.txt', False, "attachment; filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"),
        ("50%41.txt", False, "attachment; filename=\"50_41.txt\"; filename*=UTF-8''50%2541.txt"),
        ("Grüße.txt", False, "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt"),
        ("x\r\nSet-Cookie: a=b", False, 'attachment; filename="xSet-Cookie: a=b"'),
    ],
)
def test_content_disposition(name: str, inline: bool, field: str) -> None:
    assert format_content_disposition(name, inline) == field
    field.encode("ascii")


def test_name_round_trips_through_the_extended_field() -> None:
    name = "Übung; „1“ (ß)'s.txt"
    assert unquote(format_content_disposition(name, inline=False).split("filename*=UTF-8''")[1]) == name
