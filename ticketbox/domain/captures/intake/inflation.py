"""Inflating gzip data that clients send, in bounded memory."""

import zlib

CHUNK = 256 * 1024
MAGIC = b"\x1f\x8b"
MAX_RATIO = 1032  # of deflate: 258 bytes take at least two bits (https://zlib.net/zlib_tech.html)


class InflatedTooLarge(Exception):
    """The data is larger than the limit."""


class InvalidGzip(Exception):
    """The data isn't one gzip stream; the message says why."""


def inflate(body: bytes, limit: int) -> bytearray:
    """Inflate gzip data of at most `limit` bytes, inflated. Raises InflatedTooLarge and InvalidGzip.

    The end of the data says how long it is (RFC 1952, section 2.3.1), which zlib checks. So memory is taken once: a
    bytearray that grows is copied, and leaves holes as large as half of it.
    """
    inflater = zlib.decompressobj(wbits=31)
    stated = int.from_bytes(body[-4:], "little")
    plain = bytearray(min(stated, limit, MAX_RATIO * len(body)))
    length = 0
    try:
        for start in range(0, len(body), CHUNK):
            rest = body[start : start + CHUNK]
            while rest and not inflater.eof:
                piece = inflater.decompress(rest, CHUNK)
                rest = inflater.unconsumed_tail
                plain[length : length + len(piece)] = piece
                length += len(piece)
                if length > limit:
                    raise InflatedTooLarge
            if rest or inflater.unused_data:
                raise InvalidGzip("data follows the gzip stream")
        plain[length:] = inflater.flush()
    except zlib.error:
        raise InvalidGzip("the gzip data is damaged") from None
    if not inflater.eof:
        raise InvalidGzip("the gzip data is truncated")
    return plain
