"""The processor time that a capture may take."""

import json

import msgspec
import pytest

from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy, PageSourceMaps, PageStorage
from ticketbox.domain.core.problems import PayloadTooLarge
from ticketbox.operations.captures.processing.intake import CreateCapture, Envelope, process_capture

STREAMS = {
    "console": [{"seq": 1, "ts": 1, "level": "log", "args": ["a line"]}],
    "network": [
        {"id": "r", "ts": 1, "method": "GET", "url": "https://h/", "status": 200, "type": "xhr", "duration_ms": 3}
    ],
    "errors": [{"seq": 1, "ts": 1, "kind": "error", "message": "m"}],
    "actions": [{"seq": 1, "ts": 1, "kind": "click"}],
}


@pytest.mark.parametrize("stream", STREAMS)
def test_capture_that_takes_too_long_is_refused(stream: str) -> None:
    given = {
        "id": "12345678", "captured_at": 1, "page": {"url": "https://h/"},
        "health": {name: {"status": "ok"} for name in STREAMS},
    }  # fmt: skip
    args = msgspec.structs.replace(
        CreateCapture(msgspec.convert(given, Envelope)), **{stream: json.dumps(STREAMS[stream]).encode()}
    )
    policy = CapturePolicy(Bodies.OFF, [], Actions.ON, 30, [], PageSourceMaps.ON, [], PageStorage.SHAPE)
    assert process_capture(args, None, policy, "http://localhost", 60)
    with pytest.raises(PayloadTooLarge, match="processor time"):
        process_capture(args, None, policy, "http://localhost", 0)


def test_long_text_is_not_redacted_after_the_time() -> None:
    redactor = Redactor((), ProcessorTime(0).check)
    assert redactor.redact_text("short") == "short"
    with pytest.raises(PayloadTooLarge, match="processor time"):
        redactor.redact_text("x" * 10_000)
