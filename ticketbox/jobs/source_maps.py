"""Resolve the stacks of captures with the source maps of their projects (docs/use/source-maps.md)."""

import asyncio
import logging
from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.fingerprints import Fingerprint, fingerprint_errors
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap
from ticketbox.domain.captures.source_maps.resolution import Script, list_scripts, resolve_entries
from ticketbox.domain.captures.source_maps.source_map import SourceMap
from ticketbox.domain.captures.streams import MAX_BYTES
from ticketbox.domain.captures.summaries.excerpt import build_excerpt
from ticketbox.jobs.periodic import Waker, get_seconds_until, run_rounds
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import source_maps
from ticketbox.store.captures.source_maps import QueuedCapture
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import similar

log = logging.getLogger("ticketbox.jobs")

MAX_MAPS = 20  # of one capture

PackedMaps = dict[Script, tuple[str, bytes]]


class ResolvedCapture(NamedTuple):
    """What replaces parts of a capture."""

    console: PackedContent
    errors: PackedContent
    excerpt: PackedContent
    fingerprints: list[Fingerprint]


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Resolve the queued captures, one after the other, until the server stops."""
    waker = Waker()
    services.listeners.add_callback(waker.wake)

    async def start() -> float:
        database = services.database
        while not stopping.is_set():
            due = await database.read(source_maps.find_next_due, brief=True)
            if due is None or due > database.clock.now():
                return get_seconds_until(due, database.clock.now())
            await resolve_next_capture(services)
        return 0.0

    await run_rounds(start, waker, stopping, "resolving stacks")


async def resolve_next_capture(services: Services) -> None:
    """Resolve the capture that has been due for longest."""
    database = services.database
    queued = await database.read(lambda tx: source_maps.load_due_capture(tx, database.clock.now()))
    if queued is None:
        return
    resolved = None
    scripts = await asyncio.to_thread(_list_scripts, queued)
    maps = await database.read(
        lambda tx: source_maps.find_map_contents(tx, queued.project, queued.release, scripts, MAX_MAPS)
    )
    if maps:
        resolved = await asyncio.to_thread(resolve_capture, queued, maps)

    def finish(tx: Write) -> None:
        if resolved is not None and source_maps.replace_streams(
            tx, queued, resolved.console, resolved.errors, resolved.excerpt
        ):
            similar.insert_fingerprints(tx, queued.ticket, resolved.fingerprints)
        source_maps.finish_capture(tx, queued.key)

    await database.write(finish)


def _read_stream(queued: QueuedCapture, stream: Stream) -> bytes:
    packed = queued.contents.get(stream)
    return b"[]" if packed is None else blobs.unpack_content(*packed)


def _read_stacks(queued: QueuedCapture) -> tuple[list[ConsoleEntry], list[ErrorEntry]]:
    return (
        msgspec.json.decode(_read_stream(queued, Stream.CONSOLE), type=list[ConsoleEntry]),
        msgspec.json.decode(_read_stream(queued, Stream.ERRORS), type=list[ErrorEntry]),
    )


def _list_scripts(queued: QueuedCapture) -> list[Script]:
    return list_scripts(*_read_stacks(queued))


def resolve_capture(queued: QueuedCapture, packed: PackedMaps) -> ResolvedCapture | None:
    """Resolve the stacks of a capture; None if nothing changes. A map that can't be read is noted in the log."""
    maps: dict[Script, SourceMap] = {}
    for script, content in packed.items():
        try:
            maps[script] = SourceMap(blobs.unpack_content(*content))
        except InvalidSourceMap as error:
            log.warning("the source map of %s is ignored: %s", script.url[-200:], error)
    console, errors = _read_stacks(queued)
    redactor = Redactor(queued.extra_redactions)
    if not resolve_entries(console, errors, maps, redactor.redact_text):
        return None
    encoded = msgspec.json.encode(console), msgspec.json.encode(errors)
    if max(map(len, encoded)) > MAX_BYTES:
        log.warning("the stacks of %s aren't resolved: the stream would be too large", queued.id)
        return None
    excerpt = build_excerpt(
        console,
        msgspec.json.decode(_read_stream(queued, Stream.NETWORK), type=list[NetworkEntry]),
        errors,
        msgspec.json.decode(_read_stream(queued, Stream.ACTIONS), type=list[ActionEntry]),
        capture_id=queued.id,
    )
    return ResolvedCapture(
        blobs.pack_content(encoded[0], compress=True),
        blobs.pack_content(encoded[1], compress=True),
        blobs.pack_content(msgspec.json.encode(excerpt), compress=True),
        fingerprint_errors(errors),
    )
