"""The key frames of captures: pictures of moments of their replays."""

from collections.abc import Sequence

import msgspec

from ticketbox.domain.captures.records import ReplayFrame
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.file.database import Read, Write


class NewFrame(msgspec.Struct, frozen=True):
    """A frame to store: its time in epoch milliseconds, and the seconds since the replay began."""

    at: int
    second: float
    packed: PackedContent
    media_type: str
    width: int
    height: int


INSERT_FRAME = """
INSERT INTO replay_frame (ticket_id, capture_id, at, second, blob_id, media_type, width, height)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_frames(tx: Write, ticket: int, capture: int, frames: Sequence[NewFrame]) -> None:
    """Insert the frames of a capture."""
    for new in frames:
        blob = blobs.save_blob(tx, new.packed)
        tx.insert(INSERT_FRAME, (ticket, capture, new.at, new.second, blob, new.media_type, new.width, new.height))


SELECT_FRAMES = """
SELECT f.at, f.second, f.media_type, f.width, f.height, b.bytes FROM replay_frame f JOIN blob b ON b.id = f.blob_id
WHERE f.capture_id = ? ORDER BY f.at
"""


def list_frames(tx: Read, capture: int) -> list[ReplayFrame]:
    """List the frames of a capture, oldest first."""
    return [
        ReplayFrame(at=at, second=second, media_type=media_type, width=width, height=height, bytes=size)
        for at, second, media_type, width, height, size in tx.fetch_all(SELECT_FRAMES, (capture,))
    ]


def load_frame(tx: Read, capture: int, at: int) -> bytes:
    """Load the picture of a frame that exists."""
    blob = tx.fetch_value("SELECT blob_id FROM replay_frame WHERE capture_id = ? AND at = ?", (capture, at))
    return blobs.load_content(tx, blob)


def list_blobs(tx: Read, capture: int) -> list[int]:
    """List the keys of the blobs of a capture's frames."""
    return [blob for (blob,) in tx.fetch_all("SELECT blob_id FROM replay_frame WHERE capture_id = ?", (capture,))]
