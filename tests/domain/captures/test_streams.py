"""Reading, cutting, filtering and paging capture streams, and their health in words."""

import gzip
import json
import tracemalloc
from typing import Any

import pytest

from tests.support.streams import cut_stream, decode_stream, encode_stream
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    ErrorKind,
    Health,
    HealthReason,
    HealthStatus,
    Level,
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    OmittedReason,
    Redaction,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.filters import filter_console, filter_errors, filter_network
from ticketbox.domain.captures.health import describe_health
from ticketbox.domain.captures.intake import sent_streams
from ticketbox.domain.captures.intake.sent_streams import read_stream
from ticketbox.domain.captures.streams import (
    MAX_BODY,
    MIB,
    is_failure,
    shorten_bodies,
    slice_page,
)
from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge

LINE: dict[str, Any] = {"seq": 1, "ts": 1.5, "level": "log", "args": ["hello"]}
REQUEST: dict[str, Any] = {
    "id": "r1", "ts": 1, "method": "GET", "url": "https://h/", "status": 200, "type": "xhr", "duration_ms": 3,
}  # fmt: skip
FAULT: dict[str, Any] = {"seq": 1, "ts": 1, "kind": "error", "message": "boom"}
ACTION: dict[str, Any] = {"seq": 1, "ts": 1, "kind": "click"}
PACKED = gzip.compress(b"[]", mtime=0)  # the current time would give each worker different test names
SAMPLES = {Stream.CONSOLE: LINE, Stream.NETWORK: REQUEST, Stream.ERRORS: FAULT, Stream.ACTIONS: ACTION}


def line(seq: int, level: Level = Level.LOG, text: str = "x", ts: float | None = None) -> ConsoleEntry:
    return ConsoleEntry(seq=seq, ts=seq if ts is None else ts, level=level, args=[text])


def request(number: int, status: int | None = 200, **more: Any) -> NetworkEntry:
    fields: dict[str, Any] = {"method": "GET", "url": f"https://shop.example/{number}", "ts": number, **more}
    return NetworkEntry(id=f"r{number}", status=status, type="fetch", duration_ms=1, **fields)


class TestDecode:
    @pytest.mark.parametrize("stream", list(Stream))
    def test_plain_and_gzip_read_the_same(self, stream: Any):
        body = json.dumps([SAMPLES[stream]] * 3).encode()
        entries = decode_stream(stream, body)
        assert len(entries) == 3
        assert decode_stream(stream, gzip.compress(body)) == entries
        assert decode_stream(stream, encode_stream(entries)) == entries

    def test_fields_that_a_browser_cannot_know_are_optional(self):
        (entry,) = decode_stream(Stream.NETWORK, json.dumps([REQUEST]).encode())
        assert entry.request.headers == {}
        assert entry.response.bytes is None
        assert entry.from_cache is False
        assert decode_stream(Stream.CONSOLE, b"[]") == []

    @pytest.mark.parametrize("stream", list(Stream))
    def test_every_entry_has_the_index_of_its_document(self, stream: Any):
        entries = decode_stream(stream, json.dumps([SAMPLES[stream], {**SAMPLES[stream], "document": 4}]).encode())
        assert [each.document for each in entries] == [0, 4]

    @pytest.mark.parametrize(
        ("stream", "change", "field"),
        [
            ("console", {"document": -1}, "console[1].document"),
            ("actions", {"document": "1"}, "actions[1].document"),
            ("console", {"ts": "now"}, "console[1].ts"),
            ("console", {"ts": True}, "console[1].ts"),
            ("console", {"seq": 2**63}, "console[1].seq"),
            ("console", {"seq": -1}, "console[1].seq"),
            ("console", {"level": "fatal"}, "console[1].level"),
            ("console", {"args": ["a", 3]}, "console[1].args[1]"),
            ("console", {"colour": "red"}, "console[1]"),
            ("console", {"repeat": 0}, "console[1].repeat"),
            ("console", {"args": ["x" * 262_145]}, "console[1].args[0]"),
            ("network", {"status": 99}, "network[1].status"),
            ("network", {"request": {"headers": {"a": 1}}}, "network[1].request.headers[...]"),
            ("network", {"request": {"omitted_reason": "shy"}}, "network[1].request.omitted_reason"),
            ("network", {"id": ""}, "network[1].id"),
            ("network", {"duration_ms": -1}, "network[1].duration_ms"),
            ("errors", {"frames": [{"function": "f"}]}, "errors[1].frames[0]"),
            ("errors", {"kind": "sad"}, "errors[1].kind"),
        ],
    )
    def test_invalid_part_is_named(self, stream: str, change: dict[str, Any], field: str):
        good = SAMPLES[Stream(stream)]
        with pytest.raises(InvalidRequest) as caught:
            decode_stream(Stream(stream), json.dumps([good, good | change]).encode())
        (error,) = caught.value.extra["errors"]
        assert error.field == field
        assert field in caught.value.detail
        assert "`$" not in error.message

    @pytest.mark.parametrize(
        ("stream", "missing"),
        [(stream, key) for stream, sample in SAMPLES.items() for key in sample],
    )
    def test_required_numbers_are_required(self, stream: str, missing: str):
        short = {key: value for key, value in SAMPLES[Stream(stream)].items() if key != missing}
        with pytest.raises(InvalidRequest, match=missing):
            decode_stream(Stream(stream), json.dumps([short]).encode())

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{}",
            b"null",
            b"[",
            b"[" * 100_000,
            b'[{"seq":1,"ts":1,"level":"log","args":' + b"[" * 100_000,
            b'[{"seq":1,"ts":1e999,"level":"log","args":[]}]',
            b'[{"seq":1,"ts":NaN,"level":"log","args":[]}]',
            b'[{"seq":1,"ts":1,"level":"log","args":["\xed\xa0\x80"]}]',
            b'[{"seq":1,"ts":1,"level":"log","args":["\xff"]}]',
            b'[{"seq":1,"ts":1,"level":"log","args":["\x00"]}]',
            b'[{"seq":9223372036854775808,"ts":1,"level":"log","args":[]}]',
            b'[{"seq":%s,"ts":1,"level":"log","args":[]}]' % (b"9" * 10_000),
            b"\x1f\x8b",
            b"\x1f\x8bgarbage",
            PACKED[:-1],
            PACKED + b"more",
            PACKED + PACKED,
            gzip.compress(b"[" * 300_000, mtime=0),
        ],
    )
    def test_malformed_input_is_an_invalid_request(self, body: bytes):
        with pytest.raises(InvalidRequest) as caught:
            decode_stream(Stream.CONSOLE, body)
        assert caught.value.extra["errors"][0].field.startswith("console")

    def test_nul_becomes_a_replacement_character(self):
        args = ["a\0b", "\0\0", "\\u0000", "\\\0"]
        (entry,) = decode_stream(Stream.CONSOLE, json.dumps([LINE | {"args": args}]).encode())
        assert entry.args == ["a\ufffdb", "\ufffd\ufffd", "\\u0000", "\\\ufffd"]

    def test_gzip_bomb_is_rejected_in_little_memory(self):
        bomb = gzip.compress(bytes(100 * MIB), compresslevel=1)
        tracemalloc.start()
        try:
            with pytest.raises(PayloadTooLarge, match="24 MiB"):
                decode_stream(Stream.CONSOLE, bomb)
            assert tracemalloc.get_traced_memory()[1] < 40 * MIB
        finally:
            tracemalloc.stop()

    def test_too_many_entries_are_rejected_unread(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(sent_streams, "MAX_READ", 10)
        body = json.dumps([LINE] * 11).encode()
        for sent in (body, body.replace(b'"ts"', b'"t\\u0073"')):
            with pytest.raises(PayloadTooLarge, match="10 entries"):
                decode_stream(Stream.CONSOLE, sent)
        assert len(decode_stream(Stream.CONSOLE, json.dumps([LINE] * 10).encode())) == 10

    def test_too_many_strings_are_rejected_unread(self):
        lines = json.dumps([LINE | {"args": [""] * 100}] * 8_000).encode()
        with pytest.raises(PayloadTooLarge, match="strings"):
            decode_stream(Stream.CONSOLE, lines)
        with pytest.raises(InvalidRequest, match=r"console\[0\]: too many strings"):
            decode_stream(Stream.CONSOLE, json.dumps([LINE | {"args": [""] * 6_000}]).encode())

    @pytest.mark.parametrize("stream", Stream)
    def test_worth_is_that_of_the_whole_entry(self, stream: Stream):
        """Entries are chosen by a part of them, before they are decoded."""
        parts: list[dict[str, Any]] = {
            Stream.CONSOLE: [{"level": level.value} for level in Level],
            Stream.NETWORK: [
                {"status": status, "error": error, "response": {"omitted_reason": reason}}
                for status in (None, 200, 399, 400, 500)
                for error in (None, "failed")
                for reason in (None, "policy", "unavailable")
            ],
            Stream.ERRORS: [{}],
            Stream.ACTIONS: [{}],
        }[stream]
        body = json.dumps([SAMPLES[stream] | part for part in parts]).encode()
        failures = sent_streams.find_failures(stream, body)
        assert failures == [is_failure(entry) for entry in decode_stream(stream, body)]

    def test_only_entries_that_are_stored_are_prepared(self):
        prepared: list[float] = []
        body = json.dumps([LINE | {"seq": number} for number in range(20_000)]).encode()
        kept, dropped = read_stream(Stream.CONSOLE, body, lambda entry: prepared.append(entry.seq))
        assert (len(kept), dropped, len(prepared)) == (5_000, 15_000, 5_000)

    def test_stream_is_decoded_in_little_memory(self):
        """Decoded together, these strings need 100 MB."""
        lines = b",".join([b'{"seq":1,"ts":1,"level":"log","args":[%s]}' % b",".join([b'"a"'] * 100)] * 7_000)
        sent = gzip.compress(b"[%s]" % lines)
        del lines
        tracemalloc.start()
        try:
            kept, _ = read_stream(Stream.CONSOLE, sent, lambda _: None)
            assert sum(len(entry.args) for entry in kept) == 500_000
            assert tracemalloc.get_traced_memory()[1] < 20 * MIB
        finally:
            tracemalloc.stop()

    def test_more_entries_than_are_kept_can_be_read(self):
        body = json.dumps([LINE | {"args": ["x" * 200_000]}] * 50).encode()
        kept, dropped = read_stream(Stream.CONSOLE, gzip.compress(body), lambda _: None)
        assert dropped == 9
        assert len(kept.encode()) <= 8 * MIB


class TestCut:
    def test_small_stream_is_unchanged(self):
        entries = [line(seq) for seq in range(5_000)]
        assert cut_stream(entries) == (entries, 0)

    def test_ordinary_lines_are_dropped_first_from_the_middle(self):
        entries = [line(seq, Level.ERROR if seq % 10 == 5 else Level.LOG) for seq in range(1_000)]
        kept, dropped = cut_stream(entries, max_entries=500)
        assert dropped == 500
        assert [entry.seq for entry in kept] == sorted(entry.seq for entry in kept)
        assert [entry for entry in kept if is_failure(entry)] == [e for e in entries if is_failure(e)]
        gone = {entry.seq for entry in entries} - {entry.seq for entry in kept}
        assert min(gone) > 200
        assert max(gone) < 800

    def test_failures_are_dropped_next_and_the_ends_stay(self):
        entries = [request(n, status=500) for n in range(1_000)]
        kept, _ = cut_stream(entries, max_entries=200)
        assert [entry.id for entry in kept] == [f"r{n}" for n in (*range(100), *range(900, 1_000))]

    def test_bytes_are_limited_too(self):
        entries = [line(seq, text="x" * 1_000) for seq in range(300)]
        kept, dropped = cut_stream(entries, max_bytes=100_000)
        assert 90_000 < len(encode_stream(kept)) <= 100_000
        assert dropped + len(kept) == 300

    def test_oversized_entry_drops_no_other(self):
        entries = [line(0), line(1, Level.ERROR, "x" * 20_000), line(2)]
        assert cut_stream(entries, max_bytes=10_000) == ([entries[0], entries[2]], 1)

    def test_single_oversized_entry_leaves_nothing(self):
        assert cut_stream([line(0, text="x" * 1_000)], max_bytes=500) == ([], 1)


@pytest.mark.parametrize(
    ("entry", "failure"),
    [
        (line(1), False),
        (line(1, Level.INFO), False),
        (line(1, Level.WARN), True),
        (line(1, Level.ERROR), True),
        (request(1), False),
        (request(1, 304), False),
        (request(1, 404), True),
        (request(1, None), True),
        (request(1, 200, error="net::ERR_ABORTED"), True),
        (ErrorEntry(seq=1, ts=1, kind=ErrorKind.CSP, message=""), True),
    ],
)
def test_failures(entry: Any, failure: bool):
    assert is_failure(entry) is failure


class TestFilters:
    LINES = (
        line(0, Level.DEBUG, "start", ts=0),
        line(1, Level.WARN, "Cart EMPTY", ts=4_000),
        line(2, Level.ERROR, "boom", ts=12_000),
    )
    REQUESTS = (
        request(0, method="POST", url="https://api.shop.example:8443/cart", ts=0),
        request(1, 404, url="https://cdn.example/Logo.png", ts=9_000),
        request(2, 503, url="https://shop.example/api", ts=12_000),
        request(3, None, url="http://[broken", ts=20_000),
        request(4, 200, url="https://shop.example/", ts=30_000, error="net::ERR_ABORTED"),
    )

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({}, [0, 1, 2]),
            ({"level": Level.DEBUG}, [0, 1, 2]),
            ({"level": Level.WARN}, [1, 2]),
            ({"level": Level.ERROR}, [2]),
            ({"contains": "cart empty"}, [1]),
            ({"contains": "absent"}, []),
            ({"around": 5_000}, [0, 1]),
            ({"around": 5_000, "level": Level.WARN}, [1]),
        ],
    )
    def test_console(self, filters: dict[str, Any], found: list[int]):
        assert [index for index, _ in filter_console(self.LINES, **filters)] == found

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({}, [0, 1, 2, 3, 4]),
            ({"failures_only": True}, [1, 2, 3, 4]),
            ({"status": "404"}, [1]),
            ({"status": "5xx"}, [2]),
            ({"status": "2XX"}, [0, 4]),
            ({"method": "post"}, [0]),
            ({"host": "SHOP.example"}, [2, 4]),
            ({"host": "api.shop.example"}, [0]),
            ({"host": "api.shop.example:8443"}, [0]),
            ({"contains": "logo"}, [1]),
            ({"contains": "err_aborted"}, [4]),
            ({"around": 10_000}, [1, 2]),
        ],
    )
    def test_network(self, filters: dict[str, Any], found: list[int]):
        assert [index for index, _ in filter_network(self.REQUESTS, **filters)] == found

    @pytest.mark.parametrize("status", ["", "4", "999", "4x", "x", "40٤", "404 ", "-1"])
    def test_invalid_status_is_rejected(self, status: str):
        with pytest.raises(InvalidRequest, match="status"):
            filter_network(self.REQUESTS, status=status)

    def test_errors(self):
        faults = [
            ErrorEntry(seq=0, ts=0, kind=ErrorKind.ERROR, name="TypeError", message="x is undefined"),
            ErrorEntry(seq=1, ts=9_000, kind=ErrorKind.RESOURCE, message="", source="https://h/a.css"),
        ]
        assert [index for index, _ in filter_errors(faults, contains="typeerror")] == [0]
        assert [index for index, _ in filter_errors(faults, contains="a.css")] == [1]
        assert [index for index, _ in filter_errors(faults, around=8_000)] == [1]

    def test_pages_follow_without_gap_or_repeat(self):
        entries = [(index, line(index)) for index in range(1, 24, 2)]
        seen: list[int] = []
        after: int | None = -1
        while after is not None:
            items, after = slice_page(entries, after, limit=5)
            seen += [index for index, _ in items]
        assert seen == list(range(1, 24, 2))
        assert slice_page(entries, 23) == ([], None)
        assert slice_page([], -1) == ([], None)
        assert slice_page(entries[:5], limit=5)[1] is None


class TestHealth:
    OK = StreamHealth(HealthStatus.OK, captured=3)

    def describe(self, **changes: Any) -> str:
        parts = {"console": self.OK, "network": self.OK, "errors": self.OK, **changes}
        return describe_health(Health(**parts))

    def test_complete_capture_has_a_short_summary(self):
        assert self.describe() == "Console, network and errors were collected in full."
        whole = "Console, network, errors and actions were collected in full."
        assert self.describe(actions=self.OK) == whole
        assert len(self.describe(history_started_at=1_000.5, page_loaded_at=1_000)) < 60

    def test_blocked_page(self):
        blocked = StreamHealth(HealthStatus.BLOCKED, HealthReason.CSP)
        assert self.describe(console=blocked, network=blocked, errors=blocked) == (
            "The console, network requests and errors could not be collected: the page's content-security "
            "policy blocks the extension's script. The screenshot is not affected."
        )

    def test_page_opened_before_the_extension(self):
        late = StreamHealth(HealthStatus.EMPTY, HealthReason.LATE_START)
        description = self.describe(console=late, history_started_at=70_000, page_loaded_at=10_000)
        assert "The console: nothing was recorded: the extension started after the page had loaded." in description
        assert "History starts 60.0 s after the page loaded" in description

    def test_omissions_are_counted(self):
        description = self.describe(network=StreamHealth(HealthStatus.PARTIAL, HealthReason.LIMIT, 5_000, 1_234))
        assert "Network requests could be collected only in part: the size limit was reached." in description
        assert "Network requests: 1,234 entries were left out to keep the limits." in description

    @pytest.mark.parametrize("status", list(HealthStatus))
    @pytest.mark.parametrize("reason", [None, *HealthReason])
    def test_every_status_and_reason_has_a_text(self, status: HealthStatus, reason: HealthReason | None):
        description = self.describe(errors=StreamHealth(status, reason))
        assert description.endswith(".")
        assert "None" not in description
        assert "_" not in description


def test_redaction_counts_add_up():
    one = Redaction(headers=1, query=2, keys=3, patterns=4, extra=5)
    assert one.total == 15
    assert one.add(one).total == 30


def test_bodies_are_cut_to_what_is_kept() -> None:
    whole = NetworkRequest(body="x" * MAX_BODY)
    long = NetworkResponse(body="y" * (MAX_BODY + 1))
    entry = NetworkEntry(
        id="r1", ts=1, method="GET", url="https://a.example/", status=200, type="fetch", duration_ms=1.0,
        request=whole, response=long,
    )  # fmt: skip
    shorten_bodies(entry)
    assert (len(entry.request.body or ""), entry.request.omitted_reason) == (MAX_BODY, None)
    assert (len(entry.response.body or ""), entry.response.omitted_reason) == (MAX_BODY, OmittedReason.LIMIT)
