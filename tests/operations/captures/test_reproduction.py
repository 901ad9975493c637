"""The reproduction of the largest capture is written in time."""

import io
import time
import zipfile
from typing import Any

import msgspec

from tests.domain.captures.test_reproduction import build_recording
from tests.support.large_capture import BEGIN, REQUESTS, build_streams
from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.operations.captures.reproduction import StoredRecording, render_archive
from ticketbox.store.core import blobs

SECONDS, ACTIONS = 0.3, 500
KINDS: dict[Stream, type] = {
    Stream.CONSOLE: ConsoleEntry, Stream.NETWORK: NetworkEntry, Stream.ERRORS: ErrorEntry, Stream.ACTIONS: ActionEntry,
}  # fmt: skip


def build_actions() -> list[dict[str, Any]]:
    """As many actions as a capture can have."""
    kinds = ("click", "input", "key")
    targets = [
        {"role": "button", "name": f"Pay {n}", "selectors": [f'role=button[name="Pay {n}"]']} for n in range(ACTIONS)
    ]
    return [
        {"seq": 50_000 + n, "ts": BEGIN + 120 * n, "kind": kinds[n % 3], "key": "Enter", "target": target}
        for n, target in enumerate(targets)
    ]


def test_reproduction_of_the_largest_capture_takes_at_most_300_ms() -> None:
    entries = {**build_streams(), "actions": build_actions()}
    encoded = {
        kind: msgspec.json.encode(msgspec.convert(entries[kind.value], list[type_])) for kind, type_ in KINDS.items()
    }
    packed = {kind: blobs.pack_content(data, compress=True) for kind, data in encoded.items()}
    recording = build_recording()
    stored = StoredRecording(
        capture=recording.capture, captured_at=int(BEGIN), key="WEB-42", title=recording.title,
        streams={kind: (each.encoding, each.data) for kind, each in packed.items()},
    )  # fmt: skip
    content = render_archive(stored)
    spent: list[float] = []
    for _ in range(3):  # processor time, because others share the machine; the fastest, because they share its caches
        began = time.process_time()
        render_archive(stored)
        spent.append(time.process_time() - began)
    with zipfile.ZipFile(io.BytesIO(content.data)) as pack:
        assert pack.read("network.har").count(b'"startedDateTime"') == REQUESTS + 1  # the page has one, too
        assert pack.read("reproduce.spec.ts").count(b"await step(") > ACTIONS / 2
    assert min(spent) <= SECONDS, spent
