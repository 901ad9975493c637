"""Inflating gzip data that clients send, in bounded memory."""

import zlib

CHUNK = 256 * 1024
MAGIC = b"\x1f\x8b"


class InflatedTooLarge(Exception):
    """The data is larger than the limit."""


class InvalidGzip(Exception):
    """The data isn't one gzip stream; the message says why."""


def inflate(body: bytes, limit: int) -> bytearray:
    """Inflate gzip data of at most `limit` bytes, inflated. Raises InflatedTooLarge and InvalidGzip."""
    inflater = zlib.decompressobj(wbits=31)
    plain = bytearray()
    try:
        for start in range(0, len(body), CHUNK):
            rest = body[start : start + CHUNK]
            while rest and not inflater.eof:
                plain += inflater.decompress(rest, CHUNK)
                rest = inflater.unconsumed_tail
                if len(plain) > limit:
                    raise InflatedTooLarge
            if rest or inflater.unused_data:
                raise InvalidGzip("data follows the gzip stream")
        plain += inflater.flush()
    except zlib.error:
        raise InvalidGzip("the gzip data is damaged") from None
    if not inflater.eof:
        raise InvalidGzip("the gzip data is truncated")
    return plain
