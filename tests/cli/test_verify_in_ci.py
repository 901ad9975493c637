"""The GitHub Action and the GitLab job that run `ticketbox verify` (docs/use/verifications.md, "In CI")."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.cli import run
from ticketbox.cli.client.verify.command import verify

ROOT = Path(__file__).parents[2] / "packaging" / "ci"

yaml: Any = pytest.importorskip("yaml")


def read_script(name: str) -> tuple[str, Any]:
    """The command that a file runs, and the file's contents."""
    document = yaml.safe_load(ROOT.joinpath(name).read_text())
    if name.endswith("action.yml"):
        (step,) = document["runs"]["steps"]
        return step["run"], document
    (script,) = document["verify-fix"]["script"]
    return script, document


@pytest.mark.parametrize("name", ["verify-fix/action.yml", "verify-fix.gitlab-ci.yml"])
def test_job_calls_the_command_with_options_that_exist(name: str) -> None:
    script, _ = read_script(name)
    words = shlex.split(script)
    assert words[:2] == ["ticketbox", "verify"]
    known = {option for each in verify.params if isinstance(each, click.Option) for option in each.opts}
    used = set(re.findall(r"--[a-z-]+", script))
    assert {"--branch", "--base-url", "--commit", "--pack"} <= used <= known


def test_action_passes_each_input_and_no_input_into_the_script() -> None:
    script, document = read_script("verify-fix/action.yml")
    (step,) = document["runs"]["steps"]
    assert "${{" not in script  # a branch's name must not become code
    assert {f"${{{{ inputs.{name} }}}}" for name in document["inputs"]} == set(step["env"].values())
    assert set(re.findall(r"\$\{?([A-Z_]+)", script)) <= set(step["env"])


def test_branch_without_a_ticket_has_nothing_to_verify() -> None:
    done = run("verify", "--branch", "fix-2", "--base-url", "http://localhost:9")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing to verify" in done.stderr
    for wrong in (["verify"], ["verify", "WEB-1", "--branch", "WEB-1"]):
        assert run(*wrong, "--base-url", "http://localhost:9").exit_code == 2
