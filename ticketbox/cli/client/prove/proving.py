"""Running a command, and posting its result as evidence (docs/use/criteria.md, "Prove it")."""

import shlex
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import IO, Any, BinaryIO, NoReturn, TypeVar

import click
import msgspec

from ticketbox.cli.client.connection import ExitStatus, Server, connect, decode_body
from ticketbox.cli.client.criteria import print_criteria
from ticketbox.cli.client.repository.commit import find_commit, is_dirty
from ticketbox.cli.client.terminal import escape_line
from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.operations.work.evidence import LINE_CHARACTERS, MAX_OUTPUT, TEXT_CHARACTERS

Json = dict[str, Any]
T = TypeVar("T")

NOT_POSTED = 16
NOT_FOUND = 127  # as shells say it


class Result(msgspec.Struct, frozen=True):
    """How a command ended, and the last lines of its output."""

    exit_status: int
    duration_ms: int
    output: list[str]


def prove_criterion(key: str, wanted: str | None, command: list[str], url: str | None) -> NoReturn:
    """Run a command, post its result, and exit with its status, also if the server can't be reached."""
    with connect(url) as server:
        chosen = _reach(lambda: _choose_criterion(server, key, wanted))
        commit, dirty = find_commit(), is_dirty()
        result = _run_command(command)
        if chosen is None:
            chosen = _reach(lambda: _choose_criterion(server, key, wanted))
        if chosen is None or not _post(server, chosen[1], command, result, commit, dirty=dirty):
            click.echo(f"ticketbox: nothing was posted to {escape_line(key)}", err=True)
            sys.exit(result.exit_status or NOT_POSTED)
    outcome = "passed" if result.exit_status == 0 else f"failed with exit status {result.exit_status}"
    click.echo(f"{escape_line(key)}, criterion {chosen[0]}: posted that the command {outcome}.", err=True)
    sys.exit(result.exit_status)


def _reach(call: Callable[[], T]) -> T | None:
    """Call a server; None, after a message, if it can't be reached."""
    try:
        return call()
    except SystemExit as error:
        if error.code != ExitStatus.UNREACHABLE:
            raise
        return None


def _choose_criterion(server: Server, key: str, wanted: str | None) -> tuple[int, str]:
    """Return the number and the id of the criterion that a command checks. Exits with a message if that isn't clear."""
    listed: list[Json] = decode_body(server.call("list_criteria", {"ticket_id": key}))["criteria"]
    if not listed:
        exit_with_error(
            f'{escape_line(key)} has no criteria; add one: ticketbox ticket add-criterion {escape_line(key)} "…"',
            ExitStatus.NOTHING,
        )
    numbered = [(number, each["id"]) for number, each in enumerate(listed, 1)]
    if wanted is not None:
        found = [each for each in numbered if wanted in {str(each[0]), each[1]}]
    elif len(listed) == 1:
        found = numbered
    else:
        found = [each for each, criterion in zip(numbered, listed, strict=True) if criterion["state"] == "open"]
    if len(found) == 1:
        return found[0]
    print_criteria(listed, err=True)
    what = "say which criterion the command checks" if wanted is None else f"there is no criterion {wanted}"
    raise click.UsageError(f"{what}: --criterion with a number from 1 to {len(listed)}")


def _run_command(command: list[str]) -> Result:
    """Run a command whose output passes through. Exits with a message if there is no such command."""
    lines: deque[bytes] = deque(maxlen=MAX_OUTPUT)
    started = time.monotonic()
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 (the caller's)
    except OSError as error:
        exit_with_error(f"can't run {escape_line(command[0])}: {error.strerror}", NOT_FOUND)
    assert process.stdout is not None
    assert process.stderr is not None
    pairs = ((process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer))
    copies = [threading.Thread(target=_copy_lines, args=(*pair, lines)) for pair in pairs]
    for each in copies:
        each.start()
    for each in copies:
        each.join()
    status = process.wait()
    duration_ms = round((time.monotonic() - started) * 1000)
    redactor = Redactor()
    output = [redactor.redact_text(_decode_line(line), LINE_CHARACTERS) for line in lines]
    return Result(status if status >= 0 else 128 - status, duration_ms, output)  # a signal, as shells say it


def _copy_lines(source: IO[bytes], target: BinaryIO, lines: deque[bytes]) -> None:
    for line in iter(source.readline, b""):
        target.write(line)
        target.flush()
        lines.append(line)


def _decode_line(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n").replace("\0", "�")


def _post(
    server: Server, criterion: str, command: list[str], result: Result, commit: str | None, *, dirty: bool
) -> bool:
    given: Json = {
        "criterion_id": criterion,
        "kind": "command",
        "text": Redactor().redact_text(shlex.join(command), TEXT_CHARACTERS),
        "exit_status": result.exit_status,
        "duration_ms": result.duration_ms,
        "output": result.output,
        "dirty": dirty,
        "idempotency_key": str(uuid.uuid4()),
        **({"commit": commit} if commit else {}),
    }
    try:
        return server.call("add_evidence", given).is_success
    except SystemExit:
        return False
