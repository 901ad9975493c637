"""Files of earlier versions: each becomes what a fresh one is, and what it held is served.

`0.1.0` is of that version, `schema-0010` was written by the last commit whose newest migration was number 10. No commit
of the main branch ended with one of the numbers that are missing.
"""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.long_runs import select_cases
from tests.support.seed import EMAIL, capture_parts, faults
from tests.support.server import Box, ok
from tests.upgrade.keep_file import FILES
from tests.upgrade.test_migrations import schema
from ticketbox.cli.core.operations import run_operation
from ticketbox.store.file.migrate import prepare_file

VERSIONS = sorted(path.name.removesuffix(".db.gz") for path in FILES.glob("*.db.gz"))


def test_file_of_the_first_version_exists() -> None:
    assert "0.1.0" in VERSIONS


@pytest.mark.parametrize("version", select_cases(VERSIONS, 13))
def test_file_of_an_earlier_version_is_migrated_and_served(tmp_path: Path, version: str) -> None:
    db = tmp_path / "old.db"
    db.write_bytes(gzip.decompress((FILES / f"{version}.db.gz").read_bytes()))
    notes = json.loads((FILES / f"{version}.json").read_text("utf-8"))
    prepare_file(db)
    prepare_file(tmp_path / "fresh.db")
    assert schema(db) == schema(tmp_path / "fresh.db")
    assert faults(db) == {}
    token = run_operation(db, "issue_token", {"user": EMAIL, "label": "reader", "scopes": ["tickets:write"]}).secret
    with Box(db) as box, box.client(token) as client:
        assigned = ok(client.get(f"/tickets/{notes['assigned']}"))
        assert (assigned["labels"], assigned["priority"], len(assigned["assignees"])) == (["kept"], "high", 1)
        assert assigned["capture"]["console"]["items"][0]["args"] == ["line 2"]
        assert ok(client.get(f"/tickets/{notes['archived']}?status=archived"))["status"] == "archived"
        (comment,) = ok(client.get(f"/tickets/{notes['commented']}/comments"))["items"]
        assert comment["body"] == "A comment with ünïcode"
        assert client.get(f"/tickets/{notes['assigned']}/screenshot").status_code == 200
        assert [each["id"] for each in ok(client.get("/search?q=ünïcode"))["items"]] == [notes["commented"]]
        project = assigned["project_id"]
        ok(client.post("/captures", files=capture_parts(project, 99)))
    assert faults(db) == {}
