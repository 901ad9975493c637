"""`ticketbox sourcemaps`, against a real server."""

import json
from pathlib import Path

from click.testing import Result

from tests.support.cli import run
from tests.support.server import World, ok
from tests.support.source_maps import build_source_map


def call(world: World, *arguments: str | Path) -> Result:
    token = world.api.headers["Authorization"].removeprefix("Bearer ")
    return run("sourcemaps", *arguments, SERVICE_API_TOKEN=token, TICKETBOX_URL=world.box.url)


def test_maps_of_a_folder_are_uploaded_listed_and_deleted(world: World, tmp_path: Path) -> None:
    build = tmp_path / "dist"
    (build / "assets").mkdir(parents=True)
    (build / "assets" / "app.js.map").write_bytes(build_source_map())
    (build / "main.js.map").write_bytes(build_source_map())
    (build / "main.js").write_text("// no map")
    (build / "broken.js.map").write_text("<html>")
    with (build / "huge.js.map").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    outside = tmp_path / "secret.js.map"
    outside.write_bytes(build_source_map())
    (build / "linked.js.map").symlink_to(outside)

    uploaded = call(world, "upload", build, "--project", world.project, "--release", "shop@1")
    assert uploaded.exit_code == 0, uploaded.stderr
    assert uploaded.stdout == "Uploaded 2 source maps\n"
    assert [line.split(":")[0] for line in uploaded.stderr.splitlines()] == ["broken.js", "huge.js"]
    stored = ok(world.api.get(f"/projects/{world.project}/source-maps"))["items"]
    assert {(each["name"], each["release"]) for each in stored} == {("assets/app.js", "shop@1"), ("main.js", "shop@1")}

    listed = json.loads(call(world, "list", world.project, "--release", "shop@1", "--json").stdout)["items"]
    assert listed == stored
    assert call(world, "list", world.project, "--release", "shop@2").exit_code == 0
    assert "Deleted" in call(world, "delete", stored[0]["id"]).stdout
    assert ok(world.api.get(f"/projects/{world.project}/source-maps"))["items"] == stored[1:]


def test_folder_without_maps_and_unknown_project_are_reported(world: World, tmp_path: Path) -> None:
    empty = call(world, "upload", tmp_path, "--project", world.project)
    assert (empty.exit_code, empty.stdout) == (3, "")
    (tmp_path / "app.js.map").write_bytes(build_source_map())
    unknown = call(world, "upload", tmp_path, "--project", "proj_000000000000")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "not found" in unknown.stderr
