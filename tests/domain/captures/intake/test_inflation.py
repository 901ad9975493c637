"""Inflating gzip data: whole, damaged, or with a wrong length at its end."""

import gzip
import random
import tracemalloc

import pytest

from ticketbox.domain.captures.intake.inflation import InflatedTooLarge, InvalidGzip, inflate

PLAIN = b"ticket" * 200_000 + random.Random(1).randbytes(300_000)
PACKED = gzip.compress(PLAIN, mtime=0)


def test_data_is_inflated():
    assert inflate(PACKED, len(PLAIN)) == PLAIN
    assert inflate(gzip.compress(b""), 10) == b""


@pytest.mark.parametrize("stated", [0, 1, len(PLAIN) - 1, len(PLAIN) + 1, 2**32 - 1])
def test_wrong_length_is_refused(stated: int):
    with pytest.raises(InvalidGzip, match="damaged"):
        inflate(PACKED[:-4] + stated.to_bytes(4, "little"), 2 * len(PLAIN))


@pytest.mark.parametrize("stated", [0, len(PLAIN), 2**32 - 1])
def test_more_than_the_limit_is_refused_whatever_its_length_claims(stated: int):
    with pytest.raises(InflatedTooLarge):
        inflate(PACKED[:-4] + stated.to_bytes(4, "little"), len(PLAIN) // 2)


@pytest.mark.parametrize("length", [0, 1, 10, 20, 1_000, len(PACKED) - 1])
def test_truncated_data_is_refused(length: int):
    with pytest.raises(InvalidGzip, match="truncated"):
        inflate(PACKED[:length], 2 * len(PLAIN))


def test_data_after_the_end_is_refused():
    with pytest.raises(InvalidGzip, match="follows"):
        inflate(PACKED + b"more", 2 * len(PLAIN))


def test_short_data_that_claims_to_be_long_takes_little_memory():
    sent = gzip.compress(b"a")[:-4] + (2**32 - 1).to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises(InvalidGzip):
            inflate(sent, 1 << 30)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
