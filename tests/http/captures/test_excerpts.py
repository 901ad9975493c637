"""The excerpt of a capture in its ticket, also of a capture that an earlier version stored."""

import msgspec

from tests.support.operation_cases import make_capture
from tests.support.server import World, ok, run_beside
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read, Write

STREAMS = ("errors", "network", "console")


def test_excerpt_of_an_earlier_version_gets_an_overview(world: World) -> None:
    receipt = make_capture(world)
    ticket = receipt["ticket_id"]
    before = ok(world.api.get(f"/tickets/{ticket}"))["capture"]
    assert before["error_groups"]["total"] == before["failed_requests"]["total"] == 1

    def store_earlier_excerpt(tx: Write) -> None:
        content = msgspec.json.encode({name: before[name] for name in STREAMS})
        blob = blobs.save_blob(tx, blobs.pack_content(content, compress=True))
        tx.execute("UPDATE capture SET excerpt = ? WHERE public_id = ?", (blob, receipt["capture_id"]))

    run_beside(world.box.db, store_earlier_excerpt)
    assert run_beside(world.box.db, lambda tx: load_stored_excerpt(tx, receipt["capture_id"])).keys() == {*STREAMS}
    assert ok(world.api.get(f"/tickets/{ticket}"))["capture"] == before
    assert ok(world.api.post(f"/projects/{world.project}/claim-next", json={}))["capture"] == before


def load_stored_excerpt(tx: Read, capture: str) -> dict[str, object]:
    key = tx.fetch_value("SELECT excerpt FROM capture WHERE public_id = ?", (capture,))
    return msgspec.json.decode(blobs.load_content(tx, key))
