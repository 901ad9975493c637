"""Source maps of a project: uploaded, listed, deleted, and used to resolve the stacks of captures."""

import json
from typing import Any

import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import NEVER, build_parts, capture_arguments, update_row
from tests.support.server import World, eventually, expect_error, ok
from tests.support.source_maps import SOURCE, build_source_map, encode_mappings

APP = "https://shop.example/assets/app.js"
NEXT = "https://shop.example/assets/next.js"
STACK = f"TypeError: no cart 7\n    at p ({APP}:1:41)\n    at {APP}:1:21"
DEBUG_ID = "5f0c1e3a-77c4-4a51-9a58-0f1f3f4f7c11"


def upload(world: World, name: str = "assets/app.js.map", data: bytes | None = None, **given: str) -> Any:
    files = {"file": (name, build_source_map() if data is None else data)}
    return world.api.post(f"/projects/{world.project}/source-maps", files=files, data={"name": name[:-4], **given})


def capture(
    world: World,
    stack: str = STACK,
    release: str | None = None,
    project: str | None = None,
    source_maps: dict[str, Any] | None = None,
    frames: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    health = {name: {"status": "ok", "captured": 1} for name in ("console", "network", "errors")}
    if source_maps:
        health["source_maps"] = source_maps
    arguments = capture_arguments(project or world.project, environment={"release": release}, health=health)
    entry = {"ts": 1_795_253_399_000, "seq": 2, "stack": stack, "frames": frames or []}
    failure = {**entry, "kind": "error", "name": "TypeError", "message": "no cart 7"}
    arguments["errors"] = json.dumps([failure]).encode()
    arguments["console"] = json.dumps([{**entry, "level": "error", "args": ["no cart"]}]).encode()
    return ok(world.api.post("/captures", files=build_parts(arguments)))


def wait_for_frames(world: World, made: dict[str, Any], file: str = "src/cart.js") -> list[dict[str, Any]]:
    def resolve() -> list[dict[str, Any]]:
        frames = ok(world.api.get(f"/captures/{made['capture_id']}/errors/2"))["frames"]
        return frames if frames and frames[0].get("original", {}).get("file") == file else []

    return eventually(resolve)


def test_new_capture_is_resolved_for_every_reader(world: World) -> None:
    ok(upload(world, release="shop@1"))
    made = capture(world)
    first, second = wait_for_frames(world, made)
    assert (first["function"], first["line"], first["column"]) == ("p", 1, 41)
    assert first["original"] == {
        "file": "src/cart.js", "line": 6, "column": 9, "context": [*SOURCE.split("\n")[3:7], ""],
    }  # fmt: skip
    assert (second["original"]["line"], second["function"]) == (2, None)
    (line,) = ok(world.api.get(f"/captures/{made['capture_id']}/console"))["items"]
    assert [frame["original"]["line"] for frame in line["frames"]] == [6, 2]
    assert line["frames"][0]["original"]["context"] == []

    token = world.owner.token("read")
    ticket = call_tool(world, token, "get_ticket", {"ticket_id": made["ticket_id"]})
    excerpt = json.loads(ticket["content"][0]["text"])["capture"]
    assert excerpt["error_groups"]["items"] == ["2 TypeError: no cart 7 (src/cart.js:6:9)"]
    assert "at p (src/cart.js:6:9)" in excerpt["errors"]["items"][0]["stack"]
    error = call_tool(world, token, "get_error", {"capture_id": made["capture_id"], "entry": 2})["structuredContent"]
    assert error["frames"][0]["original"]["context"][2] == "  throw new TypeError(`no cart ${id}`);"


@pytest.mark.long
def test_captures_that_are_there_already_are_resolved(world: World) -> None:
    made = capture(world)
    assert ok(world.api.get(f"/captures/{made['capture_id']}/errors/2"))["frames"] == []
    ok(upload(world))
    assert wait_for_frames(world, made)[0]["original"]["line"] == 6


def test_another_bundle_of_the_same_source_is_a_similar_bug(world: World) -> None:
    ok(upload(world))
    first = capture(world)
    wait_for_frames(world, first)
    points = [(5, 5, 8), (9, 1, 9)]
    ok(upload(world, "assets/next.js.map", build_source_map(mappings=encode_mappings(points))))
    second = capture(world, f"TypeError: no cart 7\n    at z ({NEXT}:1:6)\n    at {NEXT}:1:10")
    wait_for_frames(world, second)
    found = ok(world.api.get(f"/tickets/{second['ticket_id']}/similar"))["items"]
    assert [(each["id"], each["reasons"][0]["similarity"]) for each in found] == [(first["ticket_id"], "same_error")]


@pytest.mark.parametrize(
    ("uploads", "given", "file"),
    [
        ([{"release": "1", "file": "one"}, {"release": "2", "file": "two"}], {"release": "1"}, "one"),
        ([{"release": "1", "file": "one"}, {"release": "2", "file": "two"}], {"release": "3"}, "two"),
        ([{"release": "1", "file": "one"}, {"release": "1", "file": "again"}], {"release": "1"}, "again"),
        (
            [{"file": "one", "debugId": DEBUG_ID, "name": "other.js"}, {"file": "two"}],
            {"frames": [{"url": APP, "line": 1, "column": 41, "debug_id": DEBUG_ID.upper()}]},
            "one",
        ),
        ([{"file": "one"}, {"file": "two", "name": "b/app.js"}], {}, "one"),
    ],
)
def test_map_is_chosen_by_debug_id_address_and_release(
    world: World, uploads: list[dict[str, str]], given: dict[str, Any], file: str
) -> None:
    for each in uploads:
        data = build_source_map(sources=[each["file"]], debugId=each.get("debugId"))
        fields = {name: each[name] for name in ("release", "name") if name in each}
        ok(upload(world, data=data, **fields))
    assert wait_for_frames(world, capture(world, **given), file)[0]["original"]["file"] == file


def original(file: str, **fields: Any) -> dict[str, Any]:
    return {"file": file, "line": 3, "column": 7, **fields}


def test_uploaded_map_replaces_what_the_page_resolved(world: World) -> None:
    frames = [{"url": APP, "line": 1, "column": 41, "original": original("pa\u202ege\n.js", from_page=False)}]
    made = capture(world, frames=frames)
    before = wait_for_frames(world, made, "page.js")[0]["original"]
    assert before == original("page.js", from_page=True, context=[])
    ok(upload(world))
    assert wait_for_frames(world, made)[0]["original"].get("from_page") is None
    # what an uploaded map resolved stays, as without the page's map
    ok(upload(world, data=build_source_map(sources=["newer.js"])))
    again = capture(world, frames=frames)
    wait_for_frames(world, again, "newer.js")
    assert wait_for_frames(world, made)[0]["original"]["line"] == 6


def test_project_can_refuse_the_maps_of_pages(world: World) -> None:
    project = world.new_project("Private", capture_policy={"page_source_maps": "off"})
    path = f"/projects/{project}"
    changed = ok(world.owner.web.patch(path, json={"capture_policy": {"replay": 60}}))
    assert changed["capture_policy"]["page_source_maps"] == "off"
    expect_error(
        world.owner.web.patch(path, json={"capture_policy": {"page_source_maps": True}}), 400, "invalid_request"
    )
    frames = [{"url": APP, "line": 1, "column": 41, "original": original("page.js")}]
    maps = {"status": "ok", "captured": 2, "dropped": 0}
    made = capture(world, project=project, frames=frames, source_maps=maps)
    for stream in ("errors", "console"):
        (entry,) = ok(world.api.get(f"/captures/{made['capture_id']}/{stream}"))["items"]
        assert entry["frames"] == [{"url": APP, "function": None, "line": 1, "column": 41}]
    stored = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert stored["health"]["source_maps"] == {"status": "disabled", "reason": "policy", "captured": 0, "dropped": 0}


def test_secrets_in_what_the_page_resolved_are_redacted(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    named = original(f"src/{secret}.js", context=[f"const key = '{secret}';"])
    made = capture(world, frames=[{"url": APP, "line": 1, "column": 41, "original": named}])
    (entry,) = ok(world.api.get(f"/captures/{made['capture_id']}/errors"))["items"]
    assert entry["frames"][0]["original"]["from_page"] is True
    assert secret not in json.dumps(entry)


def test_ignored_maps_of_the_page_are_in_the_health(world: World) -> None:
    maps = {"status": "partial", "reason": "limit", "captured": 2, "dropped": 1}
    made = capture(world, source_maps=maps)
    summary = ok(world.api.get(f"/captures/{made['capture_id']}/errors"))["health_summary"]
    assert "1 source map of the page was ignored: too large, too many or too slow." in summary


COPIES = """
INSERT INTO source_map (public_id, project_id, release, name, file, blob_id, created_at, created_by)
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
SELECT public_id || n, project_id, release, name || n, file, blob_id, created_at, created_by
FROM source_map CROSS JOIN number WHERE public_id = ?
"""


def test_project_has_at_most_10_000_source_maps(world: World) -> None:
    first = ok(upload(world))
    update_row(world.box.db, COPIES, 9_998, first["id"])
    ok(upload(world, "assets/last.js.map"))
    refused = expect_error(upload(world, "assets/more.js.map"), 409, "conflict")
    assert "10,000 source maps" in refused["detail"]
    world.api.delete(f"/source-maps/{first['id']}").raise_for_status()
    ok(upload(world, "assets/more.js.map"))


def test_maps_are_listed_without_their_contents_and_deleted(world: World) -> None:
    path = f"/projects/{world.project}/source-maps"
    first = ok(upload(world, release="1"))
    assert first == {**first, "name": "assets/app.js", "release": "1", "debug_id": None}
    assert "src/cart.js" not in json.dumps(first)
    again = ok(upload(world, release="1"))
    other = ok(upload(world, release="2"))
    assert [each["id"] for each in ok(world.api.get(path))["items"]] == [other["id"], again["id"]]
    assert ok(world.api.get(path, params={"release": "1"}))["items"] == [again]
    page = ok(world.api.get(path, params={"limit": 1}))
    assert ok(world.api.get(path, params={"limit": 1, "cursor": page["next_cursor"]}))["items"] == [again]
    world.api.delete(f"/source-maps/{other['id']}").raise_for_status()
    assert ok(world.api.get(path))["items"] == [again]
    expect_error(world.api.delete(f"/source-maps/{NEVER['source_map']}"), 404, "not_found")
    expect_error(world.api.get(f"/source-maps/{again['id']}"), 405, "method_not_allowed")
    types = [each["type"] for each in ok(world.owner.web.get("/events", params={"limit": 100}))["items"]]
    assert [each for each in types if "map" in each] == ["source_map.added"] * 3 + ["source_map.deleted"]


@pytest.mark.parametrize("data", [b"", b"<html>", build_source_map(sections=[]), build_source_map(mappings="A<A")])
def test_what_is_no_map_is_refused(world: World, data: bytes) -> None:
    expect_error(upload(world, data=data), 400, "invalid_request")
    assert ok(world.api.get(f"/projects/{world.project}/source-maps"))["items"] == []


def test_damaged_map_leaves_the_stack_as_it_is(world: World) -> None:
    """Its mappings are decoded when a stack needs them."""
    ok(upload(world, data=build_source_map(mappings="AAA")))
    ok(upload(world, "assets/b.js.map"))
    bad = capture(world)
    good = capture(world, STACK.replace("app.js", "b.js"))
    wait_for_frames(world, good)
    assert ok(world.api.get(f"/captures/{bad['capture_id']}/errors/2"))["frames"] == []


def test_reading_needs_only_read_and_writing_needs_more(world: World) -> None:
    reader = world.box.client(world.owner.token("read"))
    path = f"/projects/{world.project}/source-maps"
    ok(reader.get(path))
    expect_error(reader.post(path, files={"file": ("a.js.map", build_source_map())}), 403, "insufficient_scope")
