"""What `ticketbox check` reports."""

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """How severe a finding is; a problem makes the exit status 1."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(msgspec.Struct, frozen=True):
    """What was checked, the result, and what to do about it (empty: nothing)."""

    level: Severity
    subject: str
    words: str
    advice: str = ""


class Report(msgspec.Struct):
    """The output of `--json`."""

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
