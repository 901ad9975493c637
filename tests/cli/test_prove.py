"""`ticketbox prove` runs a real command and posts its result to a real server (docs/use/criteria.md, "Prove it")."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run
from tests.support.git import commit, git
from tests.support.server import World, find_free_port, ok

Json = dict[str, Any]


class Proving:
    """A ticket, and a repository as the current folder."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.ticket: Json = world.ticket()
        git(folder, "init", "-q", "-b", "main")
        self.head = commit(folder, "cart.js", "x", "Load carts")
        self.environment = {
            "TICKETBOX_URL": world.box.url,
            "SERVICE_API_TOKEN": world.api.headers["Authorization"].removeprefix("Bearer "),
        }

    def add(self, text: str) -> None:
        """Add a criterion."""
        done = run("ticket", "add-criterion", self.ticket["key"], text, **self.environment)
        assert done.exit_code == 0, done.stderr

    def prove(self, *arguments: str, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Prove with a Python program, in a separate process, whose streams are real."""
        command = [sys.executable, "-m", "ticketbox", "prove", self.ticket["key"], *arguments]
        return subprocess.run(
            [*command, "--", sys.executable, "-c", code], cwd=self.folder, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder.parent), **self.environment, **environment},
        )  # fmt: skip

    def read(self) -> list[Json]:
        """The criteria."""
        return ok(self.world.api.get(f"/tickets/{self.ticket['id']}/criteria"))["criteria"]


@pytest.fixture
def proving(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proving:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "shop").mkdir()
    return Proving(world, tmp_path / "shop")


def test_passing_command_meets_the_only_criterion(proving: Proving) -> None:
    proving.add("The total is right")
    secret = "Bearer abcdefghijklmnopqrstuvwxyz0123456789"
    code = f"import sys; print('\\n'.join(map(str, range(60)))); print('Authorization: {secret}', file=sys.stderr)"
    done = proving.prove(code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(number) for number in range(60)]
    assert secret in done.stderr
    (criterion,) = proving.read()
    (evidence,) = criterion["evidence"]
    assert (criterion["state"], evidence["grade"], evidence["passed"]) == ("met", "checked", True)
    assert (evidence["commit"], evidence["dirty"], evidence["exit_status"]) == (proving.head, False, 0)
    assert len(evidence["output"]) == 50
    assert "58" in evidence["output"]
    assert not any("abcdefghij" in line for line in [*evidence["output"], evidence["text"]])


def test_failed_command_is_evidence_too_and_keeps_its_status(proving: Proving) -> None:
    proving.add("The total is right")
    proving.folder.joinpath("cart.js").write_text("y")
    done = proving.prove(code="raise SystemExit(7)")
    assert done.returncode == 7
    (criterion,) = proving.read()
    assert criterion["state"] == "open"
    assert (criterion["evidence"][0]["exit_status"], criterion["evidence"][0]["dirty"]) == (7, True)
    assert proving.prove(code="import os; os.kill(os.getpid(), 9)").returncode == 137
    listed = run("ticket", "criteria", proving.ticket["key"], **proving.environment)
    assert "1. open  The total is right" in listed.stdout
    assert "checked · failed on" in listed.stdout


def test_ambiguous_criterion_is_an_error_before_the_command_runs(proving: Proving) -> None:
    mark = proving.folder / "ran"
    code = f"open({str(mark)!r}, 'w')"
    done = proving.prove(code=code)
    assert (done.returncode, "has no criteria" in done.stderr) == (3, True)
    proving.add("The total is right")
    proving.add("The tax is right")
    for arguments in ((), ("--criterion", "3")):
        done = proving.prove(*arguments, code=code)
        assert done.returncode == 2
        assert "2. open  The tax is right" in done.stderr
    assert proving.prove(code=code, SERVICE_API_TOKEN="").returncode == 4
    assert not mark.exists()
    assert proving.prove("--criterion", "2", code=code).returncode == 0
    assert mark.exists()
    assert [each["state"] for each in proving.read()] == ["open", "met"]
    assert proving.prove(code=code).returncode == 0  # the only open one
    assert [each["state"] for each in proving.read()] == ["met", "met"]


def test_command_runs_and_keeps_its_status_without_the_server(proving: Proving) -> None:
    proving.add("The total is right")
    away = f"http://127.0.0.1:{find_free_port()}"
    for code, status in (("raise SystemExit(7)", 7), ("print('ran')", 16)):
        done = proving.prove(code=code, TICKETBOX_URL=away)
        assert done.returncode == status
        assert "nothing was posted" in done.stderr
    assert done.stdout == "ran\n"
    assert proving.read()[0]["evidence"] == []


def test_command_that_does_not_exist(proving: Proving) -> None:
    proving.add("The total is right")
    done = run("prove", proving.ticket["key"], "--", "no-such-command", **proving.environment)
    assert (done.exit_code, proving.read()[0]["evidence"]) == (127, [])
