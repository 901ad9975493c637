"""Traces of Playwright, as the server reads them; hostile files are refused, with the reason."""

import io
import json
import resource
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.pictures import png
from tests.support.traces import CONTEXT, EVENTS, PAGE, REQUEST, build_trace
from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.imports import archive
from ticketbox.domain.captures.imports.recording import ImportProblem, Recording
from ticketbox.domain.captures.imports.trace import read_trace
from ticketbox.domain.captures.steps import describe_action


def list_words(recording: Recording) -> list[str]:
    """The steps of a recording in words."""
    actions = json.loads(recording.encode_streams()[0]["actions"])
    assert [each["seq"] for each in actions] == sorted(each["seq"] for each in actions)
    return [describe_action(each) for each in recording.entries[Stream.ACTIONS].kept]


def expect_problem(data: bytes, *words: str) -> None:
    """Expect that a trace is refused, with these words."""
    with pytest.raises(ImportProblem) as refused:
        read_trace(data)
    for word in words:
        assert word in str(refused.value), str(refused.value)


def test_trace_is_read_with_its_steps_console_requests_errors_and_last_picture() -> None:
    recording = read_trace(build_trace())
    assert list_words(recording) == [
        "Opened /cart",
        "Typed 11–50 characters into “Code”",
        "Pressed Ctrl+A in element input >> nth=0",
        "Clicked button “Pay”",
    ]
    streams, _ = recording.encode_streams()
    (line,), (error,), (request,) = (json.loads(streams[name]) for name in ("console", "errors", "network"))
    assert (line["level"], line["args"], line["source"]) == ("warn", ["slow", "3"], f"{PAGE}:1:10")
    assert (error["name"], error["frames"][0]["function"], error["frames"][0]["line"]) == ("TypeError", "pay", 3)
    assert (request["status"], request["response"]["body"]) == (500, '{"error": "boom"}')
    assert recording.screenshot == png()
    assert (recording.find_title(), recording.page_url) == ("TypeError: cart is null", PAGE)
    assert recording.environment.browser == "Chrome 156.0"
    assert recording.captured_at == 1_795_253_390_060
    assert b"hunter2" not in b"".join(streams.values())


@pytest.mark.parametrize(
    ("selector", "words", "selectors"),
    [
        ('aria-ref=e7 >> internal:describe="Pay now"', "Clicked “Pay now”", []),
        ("aria-ref=e7", "Clicked an element", []),
        ('#pay >> internal:describe="The \\"pay\\" button"', 'Clicked “The "pay" button”', ["#pay"]),
        ('internal:role=button[name="Pay"i] >> internal:describe="x"', "Clicked button “Pay”",
         ['internal:role=button[name="Pay"i]']),
        ("internal:role=button", "Clicked a button", ["internal:role=button"]),
    ],
)  # fmt: skip
def test_described_elements_are_named_and_what_finds_nothing_later_is_left_out(
    selector: str, words: str, selectors: list[str]
) -> None:
    click = {"type": "before", "startTime": 1_010, "class": "Frame", "method": "click"}
    recording = read_trace(build_trace([{**click, "params": {"selector": selector}}]))
    assert list_words(recording) == [words]
    assert recording.entries[Stream.ACTIONS].kept[0].target.selectors == selectors


def test_console_of_a_trace_is_formatted_as_a_console_does() -> None:
    def log(*previews: str, text: str = "") -> dict[str, Any]:
        return {"type": "console", "text": text, "args": [{"preview": each} for each in previews], "time": 1_050}

    lines = [
        log("Order %s failed %c(%d %%)", "A", "color: red", "7", "rest"), log("50 %"), log("%s"), log("%s and %s", "a"),
        log(text="[DOM] Password field is not contained in a form"), log(text="Refused to load the image"),
    ]  # fmt: skip
    recording = read_trace(build_trace(lines))
    assert [each.args for each in recording.entries[Stream.CONSOLE].kept] == [
        ["Order A failed (7 %)", "rest"], ["50 %"], ["%s"], ["a and %s"], ["Refused to load the image"],
    ]  # fmt: skip


@pytest.mark.parametrize(("has_snapshots", "status"), [(True, "ok"), (False, "disabled")])
def test_requests_of_a_trace_without_snapshots_were_not_recorded(has_snapshots: bool, status: str) -> None:
    snapshot = {"type": "frame-snapshot", "snapshot": {"isMainFrame": True, "frameUrl": PAGE, "wallTime": 1}}
    events = [*([snapshot] if has_snapshots else []), *EVENTS]
    _, health = read_trace(build_trace(events, network="")).encode_streams()
    assert (health["network"].status, health["console"].status) == (status, "ok")


def test_request_that_cannot_be_read_is_left_out_of_the_trace() -> None:
    snapshot = REQUEST["snapshot"]
    assert isinstance(snapshot, dict)
    broken = {**REQUEST, "snapshot": {**snapshot, "startedDateTime": "soon"}}
    recording = read_trace(
        build_trace(network="\n".join(map(json.dumps, [broken, REQUEST, {**REQUEST, "snapshot": 5}])))
    )
    assert [each.url for each in recording.entries[Stream.NETWORK].kept] == ["https://shop.example/api/pay"]


def test_stream_keeps_its_newest_entries_and_counts_the_others() -> None:
    lines = [{"type": "console", "messageType": "log", "text": str(n), "time": 1_000 + n} for n in range(5_003)]
    recording = read_trace(build_trace(lines))
    assert recording.entries[Stream.CONSOLE].kept[0].args == ["3"]
    health = recording.encode_streams()[1]["console"]
    assert (health.status, health.reason, health.captured, health.dropped) == ("partial", "limit", 5_000, 3)


def test_stream_of_long_entries_keeps_those_that_a_stream_may_have() -> None:
    lines = [{"type": "console", "text": f"{n} {'x' * 200_000}", "time": 1_000 + n} for n in range(200)]
    streams, health = read_trace(build_trace(lines)).encode_streams()
    assert len(streams["console"]) < 17 << 20
    assert health["console"].captured + health["console"].dropped == 200
    assert json.loads(streams["console"])[-1]["args"][0].startswith("199 ")


@pytest.mark.parametrize("version", [6, 11])
def test_trace_of_another_format_is_refused_with_the_version_of_playwright(version: int) -> None:
    data = build_trace(context={**CONTEXT, "version": version, "playwrightVersion": "1.99.0"})
    expect_problem(data, "Playwright 1.99.0", f"format {version}", "7 to 10")


def test_torn_and_damaged_zips_are_refused() -> None:
    whole = build_trace()
    for size in range(30, len(whole) - 1, 97):
        expect_problem(whole[:size], "torn or damaged")
    at = whole.index(b"trace.trace") + 40
    expect_problem(whole[:at] + bytes(20) + whole[at + 20 :], "torn or damaged")


def test_zip_without_a_trace_is_refused() -> None:
    for name, content, words in (("photo.png", png(), "no trace"), ("x.trace", b"not json\n", "isn't a trace")):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as made:
            made.writestr(name, content)
        expect_problem(buffer.getvalue(), words)


@pytest.mark.parametrize("name", ["../trace.trace", "/etc/x.trace", "a/../../x.trace", "..\\x.trace"])
def test_zip_that_names_files_outside_of_it_is_refused(name: str) -> None:
    expect_problem(build_trace(extra=name), "leads out of it")


def test_file_of_a_picture_outside_of_the_zip_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    events = [{"type": "screencast-frame", "file": str(secret), "timestamp": 1}]
    assert read_trace(build_trace(events)).screenshot is None


def test_zip_bomb_is_refused_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_INFLATED", 64 * archive.MIB)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made, made.open("trace.trace", "w") as file:
        file.write(json.dumps(CONTEXT).encode() + b"\n")
        for _ in range(65):
            file.write(bytes(archive.MIB))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expect_problem(buffer.getvalue(), "holds more than 64 MB")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_zip_with_a_huge_list_of_files_is_refused_before_it_is_loaded() -> None:
    data = b"PK\x03\x04" + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 9, 9, 5 << 20, 4, 0)
    expect_problem(data, "lists too many files")
