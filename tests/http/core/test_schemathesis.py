"""The project's own OpenAPI document against a real server: schemathesis calls what it describes, and worse.

No 5xx, no status, type or body that the document doesn't name, no operation that forgets to ask for a credential.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.core.test_access_matrix import NOUNS
from tests.support.long_runs import TIMES, choose_rounds
from tests.support.operation_cases import Stage, create_rows, open_stage, operations
from tests.support.server import PASSWORD, Box, ok
from ticketbox.domain.core.access.scopes import Access

# Two checks don't fit: a schema can't say that a cursor belongs to its question or that one of two fields is needed
# (positive_data_acceptance), and a new company's id in a path answers 404 for an unknown project in the body too
# (ensure_resource_availability).
FLAGS = [
    "--checks", "all", "--exclude-checks", "positive_data_acceptance,ensure_resource_availability", "--no-color",
    "--continue-on-failure", "--generation-database", "none", "--no-shrink", "--suppress-health-check", "all",
]  # fmt: skip
# These would end the run's own credentials.
FATAL = {"delete_session", "revoke_session", "delete_company", "change_password"}
SESSIONS = 12


@pytest.fixture
def stage(box: Box) -> Iterator[Stage]:
    """A company with something in it."""
    with open_stage(box) as stage:
        yield stage


def list_operations(kind: str) -> set[str]:
    """The operations to call with a session: what needs one. With a token: all others."""
    ending = [each for each in operations() if not each.live]  # it would wait for a stream's end
    needs_session = {each.name for each in ending if each.scope is Access.SESSION}
    return needs_session - FATAL if kind == "session" else {each.name for each in ending} - needs_session


def sessions(stage: Stage) -> list[str]:
    """The secrets of several sessions of the owner's."""
    secrets: list[str] = []
    for _ in range(SESSIONS):
        web = stage.box.client()
        ok(web.post("/session", json={"email": stage.owner.email, "password": PASSWORD}))
        secrets.append(web.cookies[stage.box.cookie])
    return secrets


def settings(stage: Stage, folder: Path, seed: int | None) -> Path:
    """Schemathesis's own settings: ids of rows that exist, for seven of ten places where an id stands."""
    known_rows = [create_rows(stage), create_rows(stage)]
    lines = [] if seed is None else [f"seed = {seed}"]
    for noun in known_rows[0]:
        lines += [f"[dictionaries.{noun}]", "values = " + json.dumps(sorted({each[noun] for each in known_rows}))]
    lines.append("[parameters]")
    for name, noun in NOUNS.items():
        if not name.endswith("_ids"):
            for place in ("path", "query", "body"):
                lines.append(f'"{place}.{name}" = {{ dictionary = "{noun}", probability = 0.7 }}')
    for place in ("project_ids", "ticket_ids", "user_ids"):
        lines.append(f'"body.{place}[*]" = {{ dictionary = "{NOUNS[place]}", probability = 0.7 }}')
    path = folder / "schemathesis.toml"
    path.write_text("\n".join(lines))
    return path


def run(stage: Stage, folder: Path, kind: str, *flags: str, seed: int | None = None) -> Counter[str]:
    """Run the schemathesis command, which must succeed. Returns how often the server answered each status."""
    credentials = [stage.token] if kind == "token" else sessions(stage)
    more = [part for name in sorted(list_operations(kind)) for part in ("--include-operation-id", name)]
    mark = stage.box.log_size()
    configuration = settings(stage, folder, seed)
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run",
            f"{stage.box.api}/openapi.json", *FLAGS, *flags, *more,
        ],
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "tests.http.core.schemathesis_hooks",
            "FUZZING_KIND": kind,
            "FUZZING_CREDENTIALS": "\n".join(credentials),
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    log = stage.box.log_after(mark)
    assert "Traceback" not in log
    assert not re.search(r"status=5\d\d", log)
    return Counter(re.findall(r"status=(\d+)", log))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["token", "session"])
def test_server_matches_openapi(stage: Stage, tmp_path: Path, kind: str) -> None:
    """With one seed, so that what is found came with a change; with TICKETBOX_TIMES others are drawn."""
    phases = "examples,coverage,fuzzing,stateful"
    flags = ("--phases", phases, "--max-examples", str(choose_rounds(8, 50)))
    statuses = run(stage, tmp_path, kind, *flags, seed=1 if TIMES == 1 else None)
    # It got through to the operations, and wasn't only refused at the door.
    assert statuses["200"] > 20
    assert statuses["201"] > 20


@pytest.mark.long
def test_false_promise_in_openapi_is_detected(stage: Stage, tmp_path: Path) -> None:
    """The checks bite: the same run fails against a document with a false field and a false code of a refusal."""
    document = ok(stage.box.client().get("/openapi.json"))
    document["paths"] = {path: document["paths"][path] for path in ("/me", "/assets/{asset_id}")}
    document["components"]["schemas"]["Me"]["required"].append("shoe_size")
    (unknown,) = document["components"]["responses"]["not_found"]["content"].values()
    unknown["schema"]["allOf"][1]["properties"]["code"]["enum"] = ["lost"]
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document))
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", str(path), "--url", stage.box.api, *FLAGS,
            "--phases", "fuzzing", "--max-examples", "3", "-H", f"Authorization: Bearer {stage.token}",
        ],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "shoe_size" in done.stdout
    assert '"not_found" is not one of "lost"' in done.stdout
