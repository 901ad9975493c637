"""How many tokens of a model's context the tools' answers take, on the largest capture."""

import base64
import json
import os
import re
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PIL import Image

from tests.support.large_capture import ERRORS, FAILED, GROUPS, REQUESTS, create_large_capture
from tests.support.mcp_client import call_tool
from tests.support.server import Box, World, ok
from tests.support.tokens import count_result_tokens

LIMIT, FULL_LIMIT, LIST_LIMIT, TIMELINE_LIMIT = 8_000, 24_000, 5_000, 4_000
PAGE = Path(__file__).parents[2] / "docs" / "use" / "agents.md"
LONG = "A long comment about the cart, the voucher and what happened to both of them. " * 60
FULL = {"detail": "full"}


class Scene(NamedTuple):
    """A ticket with the largest capture and long comments, among fifty tickets, and a token for all of it."""

    world: World
    ticket: str
    capture: str
    asset: str
    token: str


pytestmark = pytest.mark.long  # the scene takes seconds to build


@pytest.fixture(scope="module")
def scene(box: Box) -> Scene:
    world = World(box)
    limits = {"reads_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    token = world.owner.token("tickets:write", "tickets:assign", company_id=world.company)
    world.api = box.client(token)
    receipt = create_large_capture(world)
    ticket = receipt["ticket_id"]
    for number in range(20):
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": f"{number} {LONG}"}))
    for number in range(49):
        world.ticket(f"Ticket {number}: the cart stays empty after the update", description=LONG, priority="high",
                     labels=["checkout", "regression"])  # fmt: skip
    for each in ok(world.api.get("/tickets", params={"project_id": world.project, "limit": 30}))["items"]:
        ok(world.api.put(f"/tickets/{each['id']}/assignees/me"))
        ok(world.api.post(f"/tickets/{each['id']}/work", json={}))
    asset = ok(world.api.get(f"/tickets/{ticket}"))["capture"]["screenshot"]["id"]
    marks = [
        {"kind": "text", "geometry": {"x": 10, "y": 10 * number, "size": 14}, "text": f"{number} {LONG}"[:400]}
        for number in range(100)
    ]
    ok(world.api.put(f"/assets/{asset}/annotations", json={"annotations": marks}))
    return Scene(world, ticket, receipt["capture_id"], asset, token)


def list_calls(scene: Scene) -> dict[str, tuple[str, dict[str, Any]]]:
    """The calls that are measured, by the name in the table of the documentation."""
    ticket, capture = {"ticket_id": scene.ticket}, {"capture_id": scene.capture}
    return {
        "`get_ticket`": ("get_ticket", ticket),
        "`get_ticket`, `include: []`": ("get_ticket", {**ticket, "include": []}),
        "`get_ticket`, `detail: \"full\"`": ("get_ticket", {**ticket, **FULL}),
        "`get_errors`": ("get_errors", capture),
        "`get_errors`, `detail: \"full\"`": ("get_errors", {**capture, **FULL}),
        "`get_error`": ("get_error", {**capture, "entry": 10_003}),
        "`get_network`": ("get_network", capture),
        "`get_network`, `failures_only`": ("get_network", {**capture, "failures_only": True}),
        "`get_network`, `detail: \"full\"`": ("get_network", {**capture, **FULL}),
        "`get_network_request`": ("get_network_request", {**capture, "entry": "r13"}),
        "`get_console`": ("get_console", capture),
        "`get_console`, `detail: \"full\"`": ("get_console", {**capture, **FULL}),
        "`get_timeline`": ("get_timeline", capture),
        "`get_timeline`, `detail: \"full\"`": ("get_timeline", {**capture, **FULL}),
        "`get_screenshot`": ("get_screenshot", ticket),
        "`list_tickets` of 50": ("list_tickets", {"project_id": scene.world.project, "limit": 50}),
        "`search_tickets`": ("search_tickets", {"q": "cart"}),
        "`list_comments`": ("list_comments", ticket),
        "`get_ticket_history`": ("get_ticket_history", ticket),
        "`list_annotations`": ("list_annotations", {"asset_id": scene.asset}),
        "`update_ticket`": ("update_ticket", {**ticket, "priority": "high"}),
    }  # fmt: skip


def ask(scene: Scene, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool call as JSON."""
    answer = call_tool(scene.world, scene.token, name, arguments)
    assert not answer.get("isError"), answer["content"]
    return answer


def test_answers_of_the_largest_capture_fit_a_context(scene: Scene) -> None:
    """The table in the documentation has the same figures; TICKETBOX_SNAPSHOTS=write updates it."""
    sizes = {label: count_result_tokens(ask(scene, *call)) for label, call in list_calls(scene).items()}
    limits = {label: FULL_LIMIT if "full" in label else LIMIT for label in sizes}
    limits |= {"`list_tickets` of 50": LIST_LIMIT, "`get_timeline`": TIMELINE_LIMIT}
    assert {label: size for label, size in sizes.items() if size > limits[label]} == {}
    begin, end = "<!-- answer sizes -->\n", "<!-- end of answer sizes -->"
    head, _, rest = PAGE.read_text("utf-8").partition(begin)
    documented, _, tail = rest.partition(end)
    rows = ["| call | tokens |", "|---|---:|", *(f"| {label} | {size:,} |" for label, size in sizes.items())]
    if os.environ.get("TICKETBOX_SNAPSHOTS") == "write":
        documented = "\n".join([*rows, ""])
        PAGE.write_text(f"{head}{begin}{documented}{end}{tail}", "utf-8")
    written = dict(re.findall(r"^\| (`.+) \| ([\d,]+) \|$", documented, re.MULTILINE))
    assert written.keys() == sizes.keys()
    for label, size in sizes.items():  # ids are random and each entry repeats them, so the figures differ a little
        assert abs(int(written[label].replace(",", "")) - size) <= 30 + size // 10, label


def test_ticket_lists_all_failures_before_details(scene: Scene) -> None:
    text = ask(scene, "get_ticket", {"ticket_id": scene.ticket})["content"][0]["text"]
    capture = json.loads(text)["capture"]
    assert len(capture["error_groups"]["items"]) == capture["error_groups"]["total"] == GROUPS
    assert sum(int(line.rpartition("×")[2]) for line in capture["error_groups"]["items"]) == 79
    failed = capture["failed_requests"]["items"]
    assert [line.split()[0] for line in failed] == [f"r{10 * number + 3}" for number in range(FAILED)]
    order = [text.index(f'"{name}":{{') for name in ("error_groups", "failed_requests", "errors", "network", "console")]
    assert order == sorted(order)
    assert capture["errors"]["items"][0]["stack"].startswith("TypeError: Cannot read")
    for stream, total in (("errors", ERRORS), ("network", REQUESTS)):
        assert capture[stream]["total"] == total == len(capture[stream].get("items", [])) + capture[stream]["omitted"]
        assert capture[stream]["next"] == f'get_{stream}(capture_id="{scene.capture}")'


def test_light_read_has_no_streams_and_no_picture(scene: Scene) -> None:
    result = ask(scene, "get_ticket", {"ticket_id": scene.ticket, "include": []})
    assert [part["type"] for part in result["content"]] == ["text"]
    assert "error_groups" not in json.loads(result["content"][0]["text"])["capture"]


def test_stream_lists_have_one_short_line_for_each_entry(scene: Scene) -> None:
    for name in ("get_console", "get_network", "get_errors"):
        page = ask(scene, name, {"capture_id": scene.capture})["structuredContent"]
        assert page["items"]
        for line in page["items"]:
            assert isinstance(line, str)
            assert len(line) <= 400
            assert "\n" not in line
    lines = ask(scene, "get_network", {"capture_id": scene.capture, "failures_only": True})["structuredContent"]
    assert (len(lines["items"]), lines["matched"], lines["total"]) == (FAILED, FAILED, REQUESTS)


def test_full_pages_end_at_an_entry_and_name_the_next_call(scene: Scene) -> None:
    seen: list[str] = []
    given: dict[str, Any] = {"capture_id": scene.capture, "failures_only": True, "detail": "full"}
    while True:
        page = ask(scene, "get_network", given)["structuredContent"]
        assert all({"id", "request", "response"} <= entry.keys() for entry in page["items"])
        seen += [entry["id"] for entry in page["items"]]
        if "next_cursor" not in page:
            break
        call = f'get_network(capture_id="{scene.capture}", failures_only=true, detail="full", cursor=next_cursor)'
        assert page["next"] == call
        assert page["omitted"] > 0
        given["cursor"] = page["next_cursor"]
    assert seen == [f"r{10 * number + 3}" for number in range(FAILED)]


def test_single_entries_are_complete(scene: Scene) -> None:
    request = ask(scene, "get_network_request", {"capture_id": scene.capture, "entry": "r13"})["structuredContent"]
    rest = ok(scene.world.api.get(f"/captures/{scene.capture}/network/r13"))
    assert request["response"]["body"] == rest["response"]["body"]
    assert request["request"]["headers"] == rest["request"]["headers"]
    error = ask(scene, "get_error", {"capture_id": scene.capture, "entry": 10_003})["structuredContent"]
    rest = ok(scene.world.api.get(f"/captures/{scene.capture}/errors/10003"))
    assert (error["stack"], len(error["frames"])) == (rest["stack"], 25)


def test_picture_is_small_by_default(scene: Scene) -> None:
    (picture,) = [
        base64.b64decode(part["data"])
        for part in ask(scene, "get_screenshot", {"ticket_id": scene.ticket})["content"]
        if part["type"] == "image"
    ]
    with Image.open(BytesIO(picture)) as image:
        assert max(image.size) == 1568
    assert len(picture) < 900_000
    assert len(scene.world.api.get(f"/tickets/{scene.ticket}/screenshot").content) > 4_000_000
