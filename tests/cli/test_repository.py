"""Claims on the command line say which repository they are made in; with a real repository and a real server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run
from tests.support.git import commit, git
from tests.support.server import World
from ticketbox.cli.client.repository.checkout import describe_repository, find_branch
from ticketbox.cli.client.repository.commit import is_current


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is current, and no sign-in and no claim."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def start_repository(folder: Path, branch: str = "main") -> str:
    """Start a repository with one commit; return the commit."""
    git(folder, "init", "-q", "-b", branch)
    return commit(folder, "cart.js", "x", "Load carts")


def call(world: World, *arguments: str, **environment: str) -> Any:
    token = world.api.headers["Authorization"].removeprefix("Bearer ")
    done = run("ticket", *arguments, "--json", SERVICE_API_TOKEN=token, TICKETBOX_URL=world.box.url, **environment)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_claims_send_branch_commit_and_remote_without_credentials(world: World, folder: Path) -> None:
    head = start_repository(folder, "fix/cärt")
    git(folder, "remote", "add", "origin", "https://ann:ghp_secret@git.example/shop.git?token=secret")
    wanted = {"branch": "fix/cärt", "commit": head, "remote": "https://git.example/shop.git"}
    ticket = world.ticket()["id"]
    assert call(world, "claim", ticket)["claim"]["repository"] == wanted
    shown = run(
        "ticket", "show", ticket, TICKETBOX_URL=world.box.url,
        SERVICE_API_TOKEN=world.api.headers["Authorization"].removeprefix("Bearer "),
    ).stdout  # fmt: skip
    assert f"in fix/cärt {head[:12]} https://git.example/shop.git" in shown
    world.ticket()
    assert call(world, "next", "--project", world.project)["claim"]["repository"] == wanted
    assert "secret" not in world.api.get("/tickets", params={"project_id": world.project}).text


def test_claim_outside_of_a_repository_sends_none(world: World, folder: Path) -> None:
    assert call(world, "claim", world.ticket()["id"])["claim"]["repository"] is None


def test_claims_send_no_repository_when_it_is_turned_off(world: World, folder: Path) -> None:
    start_repository(folder)
    assert call(world, "claim", world.ticket()["id"], "--no-repository")["claim"]["repository"] is None
    world.ticket()
    claimed = call(world, "next", "--project", world.project, TICKETBOX_REPOSITORY="0")
    assert claimed["claim"]["repository"] is None


def test_renewed_claim_shows_the_new_commit(world: World, folder: Path) -> None:
    start_repository(folder)
    ticket = world.ticket()["id"]
    call(world, "claim", ticket)
    head = commit(folder, "cart.js", "y", "Fix carts")
    assert call(world, "claim", ticket, "--renew")["claim"]["repository"]["commit"] == head


def test_repository_is_described_as_far_as_there_is_one(folder: Path) -> None:
    assert describe_repository() is None
    git(folder, "init", "-q", "-b", "main")
    assert describe_repository() == {"branch": "main"}  # nothing is committed yet
    head = commit(folder, "cart.js", "x", "Load carts")
    assert describe_repository() == {"branch": "main", "commit": head}
    git(folder, "remote", "add", "origin", "/srv/git/secret-project.git")
    assert describe_repository() == {"branch": "main", "commit": head}  # a path is nobody's business
    git(folder, "remote", "set-url", "origin", "git@git.example:shop.git")
    git(folder, "remote", "add", "upstream", "ssh://git:pw@git.example/upstream.git")
    assert describe_repository() == {"branch": "main", "commit": head, "remote": "git@git.example:shop.git"}
    git(folder, "config", "branch.main.remote", "upstream")
    git(folder, "config", "branch.main.merge", "refs/heads/main")
    assert describe_repository() == {"branch": "main", "commit": head, "remote": "ssh://git@git.example/upstream.git"}
    git(folder, "checkout", "-q", "--detach")
    assert describe_repository() == {"commit": head, "remote": "git@git.example:shop.git"}
    git(folder, "checkout", "-q", "-b", "a\u202eb")
    assert "branch" not in (describe_repository() or {})  # the server refuses text that is reordered


def test_branch_belongs_to_a_verification_only_if_its_commit_is_the_current_one(folder: Path) -> None:
    assert (find_branch(), is_current("a" * 40)) == ("", False)
    head = start_repository(folder, "fix/cärt")
    assert find_branch() == "fix/cärt"
    assert [is_current(each) for each in (head, head[:8].upper(), "0" * 40)] == [True, True, False]
    git(folder, "checkout", "-q", "--detach")
    assert find_branch() == ""
