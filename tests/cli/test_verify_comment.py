"""`ticketbox verify --comment` on GitHub, Gitea and GitLab, whose APIs a local server speaks."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.forge import Forge
from tests.support.operation_cases import VERIFICATION, make_capture
from tests.support.pictures import png
from tests.support.server import World, ok
from ticketbox.cli.client.connection import Server
from ticketbox.cli.client.verify.comment import Result, build_comment, post_comment
from ticketbox.domain.tickets.records import Verdict

COMMIT = "9fceb02d0ae598e95dc970b74767f19372d61af8"
GONE = Result(
    ticket="WEB-42", key="WEB-42", verdict=Verdict.GONE, reason=None, commit=COMMIT, passed=True, title="Gift cards",
    url="https://tickets.example/tickets/t-4k7m2q9x", bug="TypeError: rate is undefined", before="a" * 40,
)  # fmt: skip


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No job, and no gh or glab."""
    for name in os.environ:
        if name.startswith(("GITHUB_", "GITLAB_", "CI_", "GH_", "GITEA_", "FORGEJO_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "/nowhere")
    return monkeypatch


@pytest.fixture
def github(job: pytest.MonkeyPatch) -> Iterator[Forge]:
    with Forge("github") as forge:
        for name, value in {
            "ACTIONS": "true", "API_URL": forge.url, "REPOSITORY": "shop/web", "REF": "refs/pull/7/merge",
            "TOKEN": "ghs_job",
        }.items():  # fmt: skip
            job.setenv(f"GITHUB_{name}", value)
        yield forge


@pytest.fixture
def gitlab(job: pytest.MonkeyPatch) -> Iterator[Forge]:
    with Forge("gitlab") as forge:
        for name, value in {
            "GITLAB_CI": "true", "CI_API_V4_URL": forge.url, "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "7",
            "GITLAB_TOKEN": "glpat", "CI_JOB_TOKEN": "job",
        }.items():  # fmt: skip
            job.setenv(name, value)
        yield forge


def check_one_true_comment(forge: Forge) -> None:
    """Two runs leave one comment, which says what the second found, and a status for each."""
    forge.say("Looks good", "ann")
    post_comment(None, None, msgspec.structs.replace(GONE, verdict=Verdict.REPRODUCED, passed=False))
    post_comment(None, None, GONE)
    assert len(forge.comments) == 2
    body = forge.comments[1]["body"]
    assert body.startswith("<!-- ticketbox-verify WEB-42 -->\n")
    assert "[WEB-42](https://tickets.example/tickets/t-4k7m2q9x)" in body
    assert "- Now: **gone** on `9fceb02d0ae5`" in body
    assert "reproduced on `aaaaaaaaaaaa`" in body
    assert "`TypeError: rate is undefined`" in body
    assert [each["commit"] for each in forge.statuses] == [COMMIT, COMMIT]


def test_github_has_one_comment_and_a_status(github: Forge) -> None:
    check_one_true_comment(github)
    assert [each["state"] for each in github.statuses] == ["failure", "success"]
    assert github.statuses[1]["context"] == "ticketbox/WEB-42"
    assert github.statuses[1]["target_url"] == GONE.url
    assert github.tokens == {"token ghs_job"}


def test_gitlab_has_one_note_and_a_status(gitlab: Forge) -> None:
    check_one_true_comment(gitlab)
    assert [each["state"] for each in gitlab.statuses] == ["failed", "success"]
    assert gitlab.statuses[1]["name"] == "ticketbox/WEB-42"
    assert gitlab.tokens == {"glpat"}


def test_github_has_the_picture_on_its_own_branch(github: Forge) -> None:
    for picture in (png(), png(), None):
        post_comment(None, None, GONE, picture)
        (comment,) = github.comments
        shown = re.findall(r"!\[[^]]+\]\((\S+)\)", comment["body"])
        assert [github.pictures[each] for each in shown] == ([picture] if picture else [])
    assert len(github.pictures) == 2
    assert github.branches == {"main", "ticketbox-pictures"}


def test_gitlab_has_the_picture_as_an_upload(gitlab: Forge) -> None:
    post_comment(None, None, GONE, png())
    (address,) = gitlab.pictures
    assert png() in gitlab.pictures[address]
    assert f"]({address})" in gitlab.comments[0]["body"]


def test_comment_is_written_without_a_picture_that_is_refused(
    gitlab: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    gitlab.refused = {"/uploads"}
    post_comment(None, None, GONE, png())
    assert "![" not in gitlab.comments[0]["body"]
    assert "can't add the picture" in capsys.readouterr().err


def test_job_that_cannot_ask_who_it_is_finds_its_comment(github: Forge) -> None:
    github.login = None
    check_one_true_comment(github)


def test_comment_of_somebody_else_with_the_marker_is_left_alone(github: Forge) -> None:
    forged = "<!-- ticketbox-verify WEB-42 -->\nNow: gone"
    github.say(forged, "mallory")
    for number in range(150):
        github.say(f"Comment {number}", "ann")
    post_comment(None, None, GONE)
    post_comment(None, None, GONE)
    assert github.comments[0]["body"] == forged
    assert len(github.comments) == 152


def test_pull_request_of_a_pushed_branch_is_found(github: Forge, job: pytest.MonkeyPatch) -> None:
    job.setenv("GITHUB_REF", "refs/heads/fix/web-42")
    fork = {"id": 8, "number": 8, "head": {"ref": "fix/web-42", "repo": {"full_name": "mallory/web"}}}
    gone = {"id": 9, "number": 9, "head": {"ref": "fix/web-42", "repo": None}}
    github.pulls = [fork, gone]
    post_comment(None, "fix/web-42", GONE)
    assert github.comments == []
    own = {"id": 7, "number": 7, "head": {"ref": "fix/web-42", "repo": {"full_name": "shop/web"}}}
    github.pulls.append(own)
    post_comment(None, "fix/web-42", GONE)
    assert len(github.comments) == 1
    assert len(github.statuses) == 2


def test_refusals_are_said_and_end_no_run(github: Forge, capsys: pytest.CaptureFixture[str]) -> None:
    github.refused = {COMMIT, "/comments"}
    post_comment(None, None, GONE)
    said = capsys.readouterr().err
    assert "can't set the status of the commit" in said
    assert "can't comment on the pull request" in said
    assert said.count("403") == 2
    github.refused = {"/comments"}
    post_comment(None, None, GONE)
    assert len(github.statuses) == 1


def test_without_a_forge_nothing_is_posted(capsys: pytest.CaptureFixture[str]) -> None:
    post_comment(None, "main", GONE)
    assert "can't find the pull request: this isn't a job" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_commands_of_the_forges_are_used_without_a_token(kind: str, job: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Forge(kind) as forge:
        program = tmp_path / ("gh" if kind == "github" else "glab")
        shown = {"nameWithOwner": "shop/web"} if kind == "github" else {"id": 42}
        program.write_text(
            f"#!{sys.executable}\n"
            "import sys, urllib.request\n"
            "if sys.argv[1] == 'repo':\n"
            f"    print({json.dumps(shown)!r})\n"
            "    sys.exit()\n"
            "method, path = sys.argv[3], sys.argv[4]\n"
            "data = sys.stdin.buffer.read() or None\n"
            f"request = urllib.request.Request({forge.url!r} + '/' + path, data, method=method)\n"
            "sys.stdout.buffer.write(urllib.request.urlopen(request).read())\n"
        )
        program.chmod(0o755)
        job.setenv("PATH", str(tmp_path))
        head = {"ref": "fix/web-42", "repo": {"full_name": "shop/web"}}
        forge.pulls = [{"id": 1, "number": 7, "iid": 7, "head": head}]
        post_comment(None, "fix/web-42", GONE)
        post_comment(None, "fix/web-42", GONE)
        assert len(forge.comments) == 1
        assert len(forge.statuses) == 2


def test_texts_of_pages_mean_nothing_in_the_comment() -> None:
    hostile = "`@everyone` <img src=x>\n/close\n[x](https://evil.example) **gone**"
    body = build_comment(msgspec.structs.replace(GONE, bug=hostile, title=hostile, reason=hostile))
    quoted = "`'@everyone' <img src=x> /close [x](https://evil.example) **gone**`"
    assert body.count(quoted) == 3
    assert body.count("`") % 2 == 0
    assert "\n/close" not in body


def test_comment_says_what_the_server_knows(world: World, github: Forge) -> None:
    capture: dict[str, Any] = make_capture(world)
    ticket = ok(world.api.get(f"/tickets/{capture['ticket_id']}"))
    given = {**VERIFICATION, "capture_id": capture["capture_id"], "verdict": "reproduced"}
    for commit in ("b" * 40, COMMIT[:12]):
        ok(world.api.post(f"/tickets/{ticket['id']}/verifications", json={**given, "commit": commit}))
    token = world.api.headers["Authorization"].removeprefix("Bearer ")
    with Server(world.box.url, token) as server:
        post_comment(server, None, Result(
            ticket=ticket["key"], key=ticket["key"], verdict=Verdict.NOT_REACHED, reason="no button", commit=COMMIT,
            passed=False,
        ))  # fmt: skip
    body = github.comments[0]["body"]
    assert body.startswith(f"<!-- ticketbox-verify {ticket['id']} -->")
    assert f"[{ticket['key']}]({ticket['url']})" in body
    assert "reproduced on `bbbbbbbbbbbb`" in body
    assert "- Reason: `no button`" in body
    assert github.statuses[0]["description"] == "not reached: no button"
