"""Entries of long streams, compressed: each is what it was, in any order."""

import json
import random

import pytest

from ticketbox.domain.captures.intake.compressed_entries import CompressedEntries
from ticketbox.domain.captures.intake.entry_sequence import split_array


@pytest.mark.parametrize("length", [1, 1_000, 300_000])
def test_entries_are_what_they_were(length: int):
    sent = [{"number": number, "text": "é" * (number % length)} for number in range(3_000_000 // max(length, 1_000))]
    compressed = CompressedEntries(split_array(json.dumps(sent, indent=1, ensure_ascii=False).encode()))
    assert len(compressed) == len(sent)
    numbers = [*range(len(sent)), *random.Random(1).sample(range(len(sent)), len(sent))]
    assert [json.loads(bytes(compressed[number])) for number in numbers] == [sent[number] for number in numbers]


def test_the_stream_is_not_held():
    entries = split_array(b'[{"a":1},{"a":2}]')
    compressed = CompressedEntries(entries)
    assert (len(compressed), entries) == (2, [])


def test_no_entries():
    assert len(CompressedEntries([])) == 0
