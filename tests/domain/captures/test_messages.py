"""Messages of WebSockets and event streams: their limits, redaction, stand-ins, and what HAR files and agents get."""

import json

import msgspec
import pytest

from tests.support.redaction_corpus import list_secrets
from ticketbox.domain.captures.capture import NetworkEntry, OmittedReason, Page, SocketMessage
from ticketbox.domain.captures.filters import filter_network
from ticketbox.domain.captures.har import encode_har
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.redaction.body_shape import shape_bodies
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.streams import MAX_MESSAGE, MAX_MESSAGES, remove_bodies, shorten_bodies


def build_socket(*bodies: str) -> NetworkEntry:
    """A WebSocket that received these messages."""
    messages = [SocketMessage(float(index), body=body, bytes=len(body)) for index, body in enumerate(bodies)]
    return NetworkEntry("r1", 0.0, "GET", "wss://shop.example/", 101, "websocket", 9.0, messages=messages)


def read_bodies(entry: NetworkEntry) -> list[str | None]:
    """The texts of an entry's messages."""
    return [each.body for each in entry.messages or ()]


def test_newest_messages_are_kept_and_long_ones_are_cut() -> None:
    entry = build_socket(*(f"{number:04}" for number in range(MAX_MESSAGES)), "x" * (MAX_MESSAGE + 1))
    shorten_bodies(entry)
    assert read_bodies(entry) == [*(f"{number:04}" for number in range(1, MAX_MESSAGES)), "x" * MAX_MESSAGE]
    assert entry.messages
    assert entry.messages[-1].omitted_reason is OmittedReason.LIMIT
    assert entry.messages[-2].omitted_reason is None


def test_policy_without_bodies_keeps_sizes_and_times() -> None:
    entry = build_socket("tea")
    remove_bodies(entry)
    assert entry.messages == [SocketMessage(0.0, bytes=3, omitted_reason=OmittedReason.POLICY)]


@pytest.mark.parametrize("sample", list_secrets()[::7], ids=lambda sample: sample.text[:30])
def test_secrets_in_messages_are_redacted_as_in_other_texts(sample) -> None:
    entry = build_socket(sample.text)
    Redactor().redact_network([entry])
    assert read_bodies(entry) == [Redactor().redact_text(sample.text)]


def test_messages_get_stand_ins_that_other_bodies_of_the_capture_share() -> None:
    entry = build_socket('{"name":"Ada Lovelace","total":12}')
    entry.response.body = '{"name":"Ada Lovelace"}'
    entries: EntrySequence[NetworkEntry] = EntrySequence(NetworkEntry)
    entries.extend([entries.hold(msgspec.json.encode(entry), entry)])
    shape_bodies(entries, lambda _: None)
    (shaped,) = entries
    (message,) = read_bodies(shaped)
    assert message is not None
    assert shaped.response.body is not None
    assert "Lovelace" not in message
    assert json.loads(message)["name"] == json.loads(shaped.response.body)["name"]


def test_har_has_messages_as_chrome_writes_them() -> None:
    entry = build_socket("the kettle is on")
    log = json.loads(encode_har(Page("https://shop.example/"), 0.0, [entry], "1"))["log"]
    (message,) = log["entries"][0]["_webSocketMessages"]
    assert (message["type"], message["opcode"], message["data"]) == ("receive", 1, "the kettle is on")
    entry.messages = msgspec.UNSET
    assert "_webSocketMessages" not in str(json.loads(encode_har(Page("https://shop.example/"), 0.0, [entry], "1")))


def test_requests_are_found_by_the_text_of_a_message() -> None:
    entries = [build_socket("the kettle is on"), build_socket("nothing")]
    assert [index for index, _ in filter_network(entries, contains="kettle")] == [0]


def test_request_without_messages_says_nothing_of_them() -> None:
    assert b"messages" not in msgspec.json.encode(NetworkEntry("r1", 0.0, "GET", "/", 200, "fetch", 1.0))
