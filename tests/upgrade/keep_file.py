"""Keep a file of this version, which every later one must be able to migrate.

uv run --group dev python -m tests.upgrade.keep_file
"""

import contextlib
import gzip
import json
import sqlite3
import tempfile
from pathlib import Path

from tests.support.seed import capture_parts, create_seed
from tests.support.server import ok
from ticketbox import __version__

FILES = Path(__file__).parent / "files"


def main() -> None:
    """Make the file with the real commands and requests, and note what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        seed = create_seed(Path(folder))
        with seed.box(Path(folder)) as box, box.client(seed.token) as client:
            tickets = [
                ok(client.post("/captures", files=capture_parts(seed.project, number)))["ticket_id"]
                for number in range(3)
            ]
            ok(client.post(f"/tickets/{tickets[0]}/comments", json={"body": "A comment with ünïcode"}))
            ok(client.post(f"/tickets/{tickets[1]}/archive", json={}))
            ok(client.put(f"/tickets/{tickets[2]}/assignees/{seed.user}"))
            ok(client.patch(f"/tickets/{tickets[2]}", json={"labels": ["kept"], "priority": "high"}))
        with contextlib.closing(sqlite3.connect(box.db)) as connection:
            connection.execute("DELETE FROM credential_project")
            connection.execute("UPDATE credential SET revoked_at = created_at, secret_hash = randomblob(32)")
            connection.commit()
            connection.execute("VACUUM")
        FILES.mkdir(exist_ok=True)
        (FILES / f"{__version__}.db.gz").write_bytes(gzip.compress(box.db.read_bytes(), 9, mtime=0))
        notes = {"archived": tickets[1], "assigned": tickets[2], "commented": tickets[0]}
        (FILES / f"{__version__}.json").write_text(json.dumps(notes, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
