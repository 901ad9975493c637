"""The key frames of a capture: stored, listed, read, counted and deleted with it, and never a reason for refusal."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tests.support.operation_cases import REPLAY, build_parts, capture_arguments
from tests.support.pictures import png
from tests.support.server import World, eventually, expect_error, ok, run_beside
from ticketbox.store.file.check import StorageFault, open_inspection
from ticketbox.store.file.database import Read

START = REPLAY[0]["timestamp"]
WHOLE = {"status": "ok", "captured": 1}


def draw(color: str, side: int = 64, kind: str = "WEBP") -> bytes:
    file = BytesIO()
    Image.new("RGB", (side, 48), color).save(file, kind)
    return file.getvalue()


def send(world: World, *frames: tuple[str, bytes], **more: Any) -> dict[str, Any]:
    arguments = capture_arguments(world.project, **more)
    parts = build_parts(arguments) + [("frame", frame) for frame in frames]
    return ok(world.api.post("/captures", files=parts))


def read_health(world: World, made: dict[str, Any]) -> dict[str, Any] | None:
    return ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]["health"].get("frames")


def test_frames_are_listed_and_the_nearest_is_read(world: World) -> None:
    first, second = draw("red"), draw("green")
    made = send(world, (f"{START + 1_500}.webp", first), (f"{START + 8_000}.webp", second))
    path = f"/captures/{made['capture_id']}/replay"
    listed = ok(world.api.get(f"{path}/frames"))["items"]
    assert [(each["at"], each["second"]) for each in listed] == [(START + 1_500, 1.5), (START + 8_000, 8.0)]
    assert (listed[0]["width"], listed[0]["height"], listed[0]["bytes"]) == (64, 48, len(first))
    for at, expected in ((None, first), (0, first), (4, first), (5, second), (START + 7_000, second), (2**50, second)):
        answer = world.api.get(f"{path}/frame", params={} if at is None else {"at": at})
        assert answer.status_code == 200
        assert (answer.headers["content-type"], answer.content) == ("image/webp", expected), at
    assert read_health(world, made) == {**WHOLE, "captured": 2, "reason": None, "dropped": 0}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (f"{START - 1}.webp", draw("red"), "limit"),  # before the replay
        (f"{REPLAY[-1]['timestamp'] + 1}.webp", draw("red"), "error"),
        ("soon.webp", draw("red"), "error"),
        (f"{START + 5_000}.webp", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "error"),
        (f"{START + 5_000}.webp", draw("red")[:-9], "error"),
        (f"{START + 5_000}.png", draw("red", 2_001, "PNG"), "limit"),
        (f"{START + 5_000}.png", png() + b"\0" * 200_000, "limit"),
        (f"{START + 1_900}.webp", draw("red"), "error"),  # less than a second after the first
    ],
)
def test_unusable_frame_is_left_out(world: World, name: str, data: bytes, reason: str) -> None:
    made = send(world, (f"{START + 1_000}.webp", draw("blue")), (name, data))
    listed = ok(world.api.get(f"/captures/{made['capture_id']}/replay/frames"))["items"]
    assert [each["second"] for each in listed] == [1.0]
    assert read_health(world, made) == {"status": "partial", "reason": reason, "captured": 1, "dropped": 1}


def test_more_than_five_frames_are_refused(world: World) -> None:
    frames = [("frame", (f"{START + 1_000 * each}.webp", draw("red"))) for each in range(6)]
    parts = [*build_parts(capture_arguments(world.project)), *frames]
    expect_error(world.api.post("/captures", files=parts), 400, "invalid_request")


def test_policy_and_a_missing_replay_leave_frames_out(world: World) -> None:
    frame = (f"{START + 1_000}.webp", draw("red"))
    project = world.new_project("Private", capture_policy={"replay": 0})
    made = send(world, frame, project_id=project)
    assert read_health(world, made) == {"status": "disabled", "reason": "policy", "captured": 0, "dropped": 0}
    parts = [*build_parts({**capture_arguments(world.project), "replay": b"[1"}), ("frame", frame)]
    bare = ok(world.api.post("/captures", files=parts))
    assert (read_health(world, bare) or {})["status"] == "blocked"
    for each in (made, bare):
        assert ok(world.api.get(f"/captures/{each['capture_id']}/replay/frames"))["items"] == []
        expect_error(world.api.get(f"/captures/{each['capture_id']}/replay/frame"), 404, "not_found")


def test_frames_count_as_storage_and_are_deleted_with_their_capture(world: World) -> None:
    data = draw("indigo")

    def count(tx: Read) -> tuple[int, int]:
        frames = tx.fetch_value(
            "SELECT count(*) FROM replay_frame f JOIN blob b ON b.id = f.blob_id WHERE b.data = ?", (data,)
        )
        return frames, tx.fetch_value("SELECT count(*) FROM blob WHERE data = ?", (data,))

    def find_faults() -> list[StorageFault]:
        with open_inspection(world.box.db) as inspection:
            return inspection.list_storage_faults()

    before = find_faults()  # other tests damage files of this server
    made = send(world, (f"{START + 1_000}.webp", data))
    assert run_beside(world.box.db, count) == (1, 1)
    assert find_faults() == before
    ok(world.owner.web.delete(f"/captures/{made['capture_id']}"))
    assert run_beside(world.box.db, count) == (0, 0)
    eventually(lambda: not any(data in each.read_bytes() for each in world.box.db.parent.glob(f"{world.box.db.name}*")))
    assert find_faults() == before
