"""Processor time of a capture's redaction and of its whole intake: `uv run --group dev python -m bench.redaction`."""

import gc
import time
from collections.abc import Callable

import msgspec

from bench.machine import describe_machine, format_table
from bench.uploads import screenshot, streams
from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.intake.sent_streams import read_stream
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy, PageSourceMaps
from ticketbox.operations.captures.processing.intake import CreateCapture, Envelope, process_capture
from ticketbox.operations.core.workers.worker_loop import GC_THRESHOLD

ROUNDS = 7


def main() -> None:
    """Print the least processor time of each step over the rounds."""
    parts = streams()
    picture = screenshot()
    envelope = {
        "id": "bench-redaction", "captured_at": 1_790_000_000_000,
        "page": {"url": "https://shop.example/", "title": "Shop"},
        "health": {name: {"status": "ok"} for name in parts},
    }  # fmt: skip

    def redact() -> float:
        console = list(read_stream(Stream.CONSOLE, parts["console"], lambda _: None)[0])
        network = list(read_stream(Stream.NETWORK, parts["network"], lambda _: None)[0])
        redactor = Redactor()
        started = time.process_time()
        redactor.redact_console(console)
        redactor.redact_network(network)
        return time.process_time() - started

    def take_in() -> float:
        capture = msgspec.convert(envelope, Envelope)
        args = CreateCapture(capture, screenshot=picture, console=parts["console"], network=parts["network"])
        gc.set_threshold(GC_THRESHOLD)  # as in the worker process
        started = time.process_time()
        process_capture(
            args,
            None,
            CapturePolicy(Bodies.ON, [], Actions.ON, 0, [], PageSourceMaps.ON, []),
            "https://tickets.example",
        )
        return time.process_time() - started

    def least(measure: Callable[[], float]) -> float:
        return min(measure() for _ in range(ROUNDS))

    print(describe_machine())
    rows: list[list[object]] = [
        ["redaction", f"{least(redact) * 1000:.0f}"],
        ["whole intake", f"{least(take_in) * 1000:.0f}"],
    ]
    print(format_table(["5 MB of streams", "processor time, ms"], rows))


if __name__ == "__main__":
    main()
