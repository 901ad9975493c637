"""The reproduction pack in a real browser: it fails on the bug, and passes on the fix, without the API."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.e2e.sites.shop_with_bug import MESSAGE, build_capture, serve_shop
from tests.support.cli import run
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts
from tests.support.playwright_test import run_test
from tests.support.server import World, ok
from tests.support.tokens import count_result_tokens, count_tokens

MOST_TOKENS = 8_000


def load_pack(world: World, folder: Path, **parts: bytes) -> Path:
    """Capture the bug with bodies, or with other `parts`, and unpack its reproduction; return the test's file."""
    policy = {"capture_policy": {"bodies": "on"}}
    ok(world.owner.web.patch(f"/projects/{world.project}", json=policy))
    made = ok(world.api.post("/captures", files=build_parts({**build_capture(world.project), **parts})))
    answer = world.api.get(f"/captures/{made['capture_id']}/reproduction")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as pack:
        pack.extractall(folder)
    return folder / "reproduce.spec.ts"


@pytest.mark.long
def test_pack_fails_on_the_bug_and_passes_on_the_fix(world: World, shell: str, tmp_path: Path) -> None:
    spec, result = load_pack(world, tmp_path), tmp_path / "result.json"
    with serve_shop(fixed=False) as base:
        done = run_test(spec, shell, BASE_URL=base, REPRODUCTION_RESULT=str(result))
    assert done.returncode == 1, done.stdout
    assert f"Reproduced: TypeError: {MESSAGE}" in done.stderr
    observed = json.loads(result.read_text())
    assert (observed["verdict"], observed["stopped_at"]) == ("reproduced", None)
    assert [(each["name"], each["message"]) for each in observed["errors"]] == [("TypeError", MESSAGE)]
    assert (observed["failed_requests"], observed["console_errors"]) == ([], [])
    assert Path(observed["screenshot"]).read_bytes().startswith(b"\x89PNG")

    with serve_shop(fixed=True) as base:
        done = run_test(spec, shell, BASE_URL=base, REPRODUCTION_RESULT=str(result))
    assert done.returncode == 0, done.stderr
    observed = json.loads(result.read_text())
    assert (observed["verdict"], observed["errors"]) == ("gone", [])


@pytest.mark.long
def test_pack_says_which_step_is_not_possible(world: World, shell: str, tmp_path: Path) -> None:
    spec, result = load_pack(world, tmp_path), tmp_path / "result.json"
    with serve_shop(fixed=True) as base:
        pass  # its port is free again
    done = run_test(spec, shell, BASE_URL=base, REPRODUCTION_RESULT=str(result))
    assert done.returncode == 1
    assert "Step 1 isn't possible" in done.stderr
    observed = json.loads(result.read_text())
    assert (observed["verdict"], observed["stopped_at"]) == ("not_reached", 1)
    assert "Set BASE_URL" in run_test(spec, shell, BASE_URL="").stderr


@pytest.mark.long
def test_step_without_its_element_is_never_gone_until_somebody_adds_it(
    world: World, shell: str, tmp_path: Path
) -> None:
    actions = [each for each in json.loads(build_capture(world.project)["actions"]) if each["kind"] != "submit"]
    actions[2]["target"] = None
    spec = load_pack(world, tmp_path, actions=json.dumps(actions).encode())
    for fixed in (False, True):
        with serve_shop(fixed=fixed) as base:
            done = run_test(spec, shell, BASE_URL=base)
        assert done.returncode == 1
        assert "Step 3 wasn't reached: the capture doesn't say what to act on" in done.stderr

    written = spec.read_text()
    comment = "  // 3. Clicked the page (the record doesn't say which element; add it here)\n"
    added = "  await step(3, page.getByRole('button', { name: 'Apply gift card' }), (it) => it.click());\n"
    assert comment in written
    spec.write_text(written.replace(comment, added))
    with serve_shop(fixed=False) as base:
        assert f"Reproduced: TypeError: {MESSAGE}" in run_test(spec, shell, BASE_URL=base).stderr
    with serve_shop(fixed=True) as base:
        assert run_test(spec, shell, BASE_URL=base).returncode == 0


@pytest.mark.long
def test_unknown_calls_reach_the_application_unless_the_test_lets_them_fail(
    world: World, shell: str, tmp_path: Path
) -> None:
    spec, result = load_pack(world, tmp_path), tmp_path / "result.json"
    asks = """  await page.evaluate("fetch('/unknown').catch(() => {})");\n  await finish();"""
    written = spec.read_text().replace("  await finish();", asks)
    for options, status, error in (("", 404, ""), (", { unknown: 'fail' }", None, "net::ERR_BLOCKED_BY_CLIENT")):
        spec.write_text(written.replace("(page, testInfo)", f"(page, testInfo{options})"))
        with serve_shop(fixed=True) as base:
            run_test(spec, shell, BASE_URL=base, REPRODUCTION_RESULT=str(result))
        (failed,) = json.loads(result.read_text())["failed_requests"]
        assert (failed["url"], failed["status"]) == (f"{base}/unknown", status)
        assert (failed["error"] or "").startswith(error)


@pytest.mark.long
def test_agent_gets_from_the_ticket_to_a_failing_test_in_three_calls(world: World, shell: str, tmp_path: Path) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"bodies": "on"}}))
    ticket = ok(world.api.post("/captures", files=build_parts(build_capture(world.project))))["ticket_id"]
    token = world.owner.token("read")
    read = call_tool(world, token, "get_ticket", {"ticket_id": ticket})
    found = json.loads(read["content"][0]["text"])
    pack = call_tool(world, token, "get_reproduction", {"capture_id": found["capture"]["id"]})
    files = {each["name"]: each.get("text", "") for each in json.loads(pack["content"][0]["text"])["files"]}
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": token}
    written = run("capture", "reproduce", found["key"], "--output", str(tmp_path / "reproduction"), **environment)
    assert written.exit_code == 0, written.output
    assert count_result_tokens(read) + count_result_tokens(pack) + count_tokens(written.output) <= MOST_TOKENS

    spec = tmp_path / "reproduction" / "reproduce.spec.ts"
    assert spec.read_text() == files[spec.name]  # what the agent has read is what runs
    with serve_shop(fixed=False) as base:
        done = run_test(spec, shell, BASE_URL=base)
    assert done.returncode == 1
    assert f"Reproduced: TypeError: {MESSAGE}" in done.stderr
