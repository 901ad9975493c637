"""`ticketbox capture blame`, with a real repository and a real server."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.http.captures.test_source_maps import capture, upload, wait_for_frames
from tests.support.cli import run
from tests.support.git import commit, git
from tests.support.server import World, ok
from tests.support.source_maps import SOURCE


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose file was changed once more after its first commit; the current folder is inside of it."""
    git(tmp_path, "init", "-q")
    commit(tmp_path, "shop/src/cart.js", SOURCE.replace("no cart", "nothing"), "Load carts")
    commit(tmp_path, "other/cart.js", "", "Add another file of the name")
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path


@pytest.fixture
def receipt(world: World) -> dict[str, Any]:
    """A capture with an error whose frames are in src/cart.js, lines 6 and 2."""
    ok(upload(world))
    receipt = capture(world)
    wait_for_frames(world, receipt)
    return receipt


def blame(world: World, *arguments: str) -> Result:
    token = world.api.headers["Authorization"].removeprefix("Bearer ")
    return run("capture", "blame", *arguments, SERVICE_API_TOKEN=token, TICKETBOX_URL=world.box.url)


def read_lines(world: World, *arguments: str) -> list[dict[str, Any]]:
    done = blame(world, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["items"]


def test_lines_of_an_error_have_their_commits(world: World, repository: Path, receipt: dict[str, Any]) -> None:
    changed = commit(repository, "shop/src/cart.js", SOURCE, "Say which cart is missing")
    first, second = read_lines(world, receipt["ticket_id"])
    assert (first["file"], first["line"], first["function"]) == ("shop/src/cart.js", 6, "parse")
    assert first["commit"]["commit"] == changed
    assert first["commit"]["summary"] == "Say which cart is missing"
    assert (second["line"], second["commit"]["summary"]) == (2, "Load carts")

    table = blame(world, receipt["capture_id"]).stdout
    assert table.splitlines()[0] == "no cart 7"
    assert f"shop/src/cart.js:6  parse     {changed[:12]}" in table
    assert "Ann\\u202e Example" in table  # escaped: a name can't reorder the line


def test_line_that_moved_or_is_gone_is_reported(world: World, repository: Path, receipt: dict[str, Any]) -> None:
    captured = commit(repository, "shop/src/cart.js", SOURCE, "Say which cart is missing")
    commit(repository, "shop/src/cart.js", f"// a café\n\n{SOURCE.replace('throw', 'return')}", "Return errors")
    first, second = read_lines(world, receipt["capture_id"])
    assert (first["line"], first["changed"], first["commit"]) == (6, True, None)
    assert (second["line"], second["moved"], second["commit"]["summary"]) == (4, True, "Load carts")
    assert "isn't in the revision any more" in blame(world, receipt["capture_id"]).stdout
    then = read_lines(world, receipt["capture_id"], "--revision", captured)
    assert [(each["line"], each["moved"], each["changed"]) for each in then] == [(6, False, False), (2, False, False)]


def test_what_git_cannot_say_is_an_error(
    world: World, repository: Path, receipt: dict[str, Any], tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for revision in ("nothing", "--output=stolen", "HEAD:shop/src/cart.js"):
        refused = blame(world, receipt["capture_id"], "--revision", revision)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "doesn't have this revision" in refused.stderr
    assert not (repository / "shop" / "stolen").exists()
    commit(repository, "shop/index.js", "// a shop", "Add a page")
    git(repository, "rm", "-q", "shop/src/cart.js", "other/cart.js")
    git(repository, "commit", "-q", "-m", "Remove the cart")
    nothing = blame(world, receipt["capture_id"])
    assert (nothing.exit_code, nothing.stdout) == (3, "")
    assert "no frame" in nothing.stderr
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    outside = blame(world, receipt["capture_id"])
    assert (outside.exit_code, outside.stdout) == (1, "")
    assert "isn't in a git repository" in outside.stderr
