"""What `ticketbox check` finds, and how it is told."""

from enum import StrEnum

import msgspec


class Level(StrEnum):
    """What a finding means: all is well, worth knowing, worth a change, wrong."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at, what was found, and what to do about it (empty: nothing)."""

    level: Level
    subject: str
    words: str
    advice: str = ""


class Report(msgspec.Struct):
    """What `--json` prints."""

    file: str
    ok: bool
    version: str
    sqlite_version: str
    schema: int = 0
    newest_schema: int = 0
    bytes: int = 0
    free_bytes: int = 0
    given_back: int = 0
    newest_change: int = 0
    rows: dict[str, int] = {}
    findings: list[Finding] = []
