"""Excerpts that an earlier version stored are rebuilt, newest capture first."""

import json
from functools import partial

from tests.operations.core.test_dispatch import House, on_a_file
from tests.support.operation_cases import capture_arguments
from ticketbox.domain.captures.summaries.excerpt import VERSION
from ticketbox.jobs.excerpts import rebuild_next_excerpt
from ticketbox.store.captures import excerpts
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read, Write


async def create_captures(here: House, count: int) -> list[str]:
    """Create captures, each with a separate ticket; return their ids."""
    secret = await here.token("tickets:write")
    arguments = [capture_arguments(here.project) for _ in range(count)]
    return [(await here.ask(secret, "create_capture", **each)).capture_id for each in arguments]


def load_excerpt(tx: Read, capture: str) -> tuple[int, bytes]:
    """The version and the content of a stored excerpt."""
    row = tx.fetch_one("SELECT excerpt_version, excerpt FROM capture WHERE public_id = ?", (capture,))
    assert row is not None
    return row[0], blobs.load_content(tx, row[1])


def replace_excerpts(tx: Write, content: bytes) -> None:
    """Store what an earlier version would have stored."""
    blob = blobs.save_blob(tx, blobs.pack_content(content, compress=True))
    tx.execute("UPDATE capture SET excerpt = ?, excerpt_version = 0", (blob,))


@on_a_file
async def test_outdated_excerpts_are_rebuilt_once(here: House) -> None:
    services = here.dispatcher.services
    made = await create_captures(here, 2)
    built = [await services.database.read(partial(load_excerpt, capture=each)) for each in made]
    assert [version for version, _ in built] == [VERSION, VERSION]
    assert not await rebuild_next_excerpt(services)
    await services.database.write(partial(replace_excerpts, content=b'{"errors":[]}'))
    for newer in range(2):
        assert await rebuild_next_excerpt(services)
        now = [await services.database.read(partial(load_excerpt, capture=each)) for each in reversed(made)]
        assert now == [*reversed(built)][: newer + 1] + [(0, b'{"errors":[]}')] * (1 - newer)
    assert not await rebuild_next_excerpt(services)


@on_a_file
async def test_capture_without_actions_gets_an_excerpt(here: House) -> None:
    """The streams of a capture that an earlier version stored lack actions."""
    services = here.dispatcher.services
    (capture,) = await create_captures(here, 1)
    await services.database.write(partial(replace_excerpts, content=b"{}"))
    await services.database.write(lambda tx: tx.execute("UPDATE capture SET actions = NULL"))
    assert await rebuild_next_excerpt(services)
    version, content = await services.database.read(partial(load_excerpt, capture=capture))
    excerpt = json.loads(content)
    assert (version, excerpt["errors"]["total"], excerpt["actions"]["total"]) == (VERSION, 1, 0)


@on_a_file
async def test_damaged_stream_keeps_its_excerpt_and_stops_no_other(here: House) -> None:
    services = here.dispatcher.services
    older, newer = await create_captures(here, 2)
    built = await services.database.read(partial(load_excerpt, capture=older))

    def damage(tx: Write) -> None:
        replace_excerpts(tx, b"{}")
        blob = blobs.save_blob(tx, blobs.pack_content(b"no stream", compress=False))
        tx.execute("UPDATE capture SET console = ? WHERE public_id = ?", (blob, newer))

    await services.database.write(damage)
    assert [await rebuild_next_excerpt(services) for _ in range(3)] == [True, True, False]
    assert await services.database.read(partial(load_excerpt, capture=newer)) == (VERSION, b"{}")
    assert await services.database.read(partial(load_excerpt, capture=older)) == built


@on_a_file
async def test_excerpt_that_changed_meanwhile_stays(here: House) -> None:
    """Another job stored a newer one while this one was built."""
    database = here.dispatcher.services.database
    (capture,) = await create_captures(here, 1)
    built = await database.read(partial(load_excerpt, capture=capture))
    await database.write(partial(replace_excerpts, content=b"{}"))
    outdated = await database.read(excerpts.load_outdated_excerpt)
    assert outdated is not None
    await database.write(partial(replace_excerpts, content=built[1]))
    packed = blobs.pack_content(b'{"older":true}', compress=True)
    await database.write(partial(excerpts.replace_excerpt, outdated=outdated, packed=packed))
    assert (await database.read(partial(load_excerpt, capture=capture)))[1] == built[1]
