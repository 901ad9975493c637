"""Running the reproduction of a ticket's bug, and posting the verdict (docs/use/verifications.md)."""

import contextlib
import mimetypes
import tempfile
import uuid
from enum import IntEnum
from pathlib import Path
from typing import Any

import click
import httpx2
import msgspec

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.captures.reproductions import unpack_files
from ticketbox.cli.client.connection import ExitStatus, Server, connect, decode_body, find_server_url, find_token
from ticketbox.cli.client.repository.checkout import clean_branch, find_branch
from ticketbox.cli.client.repository.commit import find_commit, is_current
from ticketbox.cli.client.terminal import escape_line, escape_text, format_count, print_line, style
from ticketbox.cli.client.verify.comment import Result, post_comment
from ticketbox.cli.client.verify.playwright import PlaywrightError, find_trace, prepare_runner, run_rounds
from ticketbox.cli.client.verify.proof import has_proof, save_proof
from ticketbox.cli.client.verify.session import prepare_session
from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.captures.reproduction.expected import ExpectedRun
from ticketbox.domain.captures.reproduction.pack import EXPECTED
from ticketbox.domain.captures.reproduction.verdict import (
    Observation,
    explain_rounds,
    judge_rounds,
    list_console,
    weigh_verdict,
)
from ticketbox.domain.tickets.records import ExpectedWords, Failure, Verdict
from ticketbox.operations.work.verifications import LINE_CHARACTERS, MAX_CONSOLE

Json = dict[str, Any]


class VerdictStatus(IntEnum):
    """The exit statuses of verdicts that weren't expected."""

    REPRODUCED = 10
    GONE = 11
    DIFFERENT_ERROR = 12
    NOT_REACHED = 13
    FLAKY = 14
    UNPROVEN = 15


class Outcome(msgspec.Struct, frozen=True):
    """What a run found out; `posted` is the verification, or null if it wasn't posted.

    `reason` says why it wasn't reached, or what differed. `proven`: the bug is gone, and an earlier run saw it.

    `external` is whether somebody without an account sent the capture, `confirmed` whether a member confirmed it.
    """

    ticket: str
    capture_id: str
    external: bool
    confirmed: bool
    bug: Failure | None
    expectations: list[ExpectedWords]
    commit: str | None
    branch: str | None
    base_url: str
    verdict: Verdict
    reason: str | None
    proven: bool
    rounds: list[Verdict]
    live: bool
    console: list[str]
    posted: Json | None


class Request(msgspec.Struct, frozen=True):
    """What the command was asked for."""

    key: str
    base_url: str
    commit: str | None
    branch: str | None
    rounds: int
    capture: str | None
    pack: Path | None
    expect: Verdict
    storage_state: Path | None
    setup: Path | None
    offline: bool
    live: bool
    sandboxed: bool
    traced: bool
    no_post: bool
    browser: str | None
    wants_json: bool
    url: str | None
    comment: bool
    pictures: bool


def verify_ticket(request: Request) -> None:
    """Run a reproduction, print the outcome, and post it. Exits with the verdict's status unless it was expected."""
    with contextlib.ExitStack() as stack:
        signed_in = request.pack is None or find_token(find_server_url(request.url))
        server = stack.enter_context(connect(request.url)) if signed_in else None
        posts_to = None if request.no_post else server
        commit = request.commit or find_commit()
        if posts_to is not None and commit is None:
            raise click.UsageError("this folder isn't a git repository; say which commit runs there with --commit")
        check_application(request.base_url)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ticketbox-verify-")))
        _load_pack(server, folder, request.pack, request.capture or request.key)
        outcome, picture = _run_rounds(request, server, folder, commit)
        if posts_to is not None:
            outcome = msgspec.structs.replace(outcome, posted=_post(posts_to, outcome, picture, find_trace(folder)))
        if request.comment:
            passed = outcome.verdict is request.expect
            result = Result(
                ticket=request.key, key=request.key, verdict=outcome.verdict, reason=outcome.reason, commit=commit,
                passed=passed,
            )  # fmt: skip
            post_comment(server, outcome.branch, result, _read_file(picture) if request.pictures else None)
    if request.wants_json:
        click.echo(msgspec.json.format(msgspec.json.encode(outcome), indent=2))
    else:
        _print_outcome(outcome)
    if outcome.verdict is not request.expect:
        raise SystemExit(VerdictStatus[outcome.verdict.name])


def _run_rounds(
    request: Request, server: Server | None, folder: Path, commit: str | None
) -> tuple[Outcome, Path | None]:
    """Run all rounds; return the outcome, and the picture of the last round."""
    expected = _read_expected(folder)
    if expected.external:
        state = "a member confirmed it" if expected.confirmed else "no member has confirmed it, so it passes no gate"
        click.echo(f"External capture: somebody without an account sent it, and {state}.", err=True)
    for each in expected.missing:
        click.echo(escape_line(each), err=True)
    is_proven = (
        has_proof(folder, live=request.live)
        if request.pack
        else _was_reproduced(server, request.key, expected, live=request.live)
    )
    if expected.browser:
        click.echo(f"The capture is from {escape_line(expected.browser)}; this run uses Chromium.", err=True)
    seen: list[Observation] = []
    try:
        session = prepare_session(request.storage_state, request.setup, request.base_url, folder)
        runner = prepare_runner(folder, request.browser, session, sandboxed=request.sandboxed, traced=request.traced)
        ran = run_rounds(
            runner, folder, request.base_url, request.rounds, session, offline=request.offline, live=request.live
        )
        for number, observed in enumerate(ran, 1):
            seen.append(observed)
            stopped = "" if observed.stopped_at is None else f", stopped at step {observed.stopped_at}"
            name = _name(weigh_verdict(observed.verdict, is_proven=is_proven))
            reason = f": {escape_line(observed.reason)}" if observed.reason else ""
            click.echo(f"Round {number} of {request.rounds}: {name}{stopped}{reason}", err=True)
    except PlaywrightError as error:
        exit_with_error(escape_text(str(error)))
    console = [line[:LINE_CHARACTERS] for line in list_console(seen[-1])[:MAX_CONSOLE]]
    verdict = weigh_verdict(judge_rounds(seen), is_proven=is_proven)
    if request.pack and verdict is Verdict.REPRODUCED:
        save_proof(request.pack, folder, commit, live=request.live)
    reason = explain_rounds(verdict, seen)
    outcome = Outcome(
        request.key, expected.capture_id, expected.external, expected.confirmed, expected.bug,
        [ExpectedWords(each.id, each.words) for each in expected.expectations], commit,
        _find_branch(request), request.base_url, verdict, reason, verdict is Verdict.GONE,
        [each.verdict for each in seen], request.live, console, posted=None,
    )  # fmt: skip
    return outcome, folder / Path(seen[-1].screenshot).name if seen[-1].screenshot else None


def _was_reproduced(server: Server | None, ticket: str, expected: ExpectedRun, *, live: bool) -> bool:
    """Whether an earlier run of this capture, of the same kind, saw this bug, as the ticket's verifications say."""
    given: Json = {"ticket_id": ticket}
    ids = sorted(each.id for each in expected.expectations)
    wanted = (Verdict.REPRODUCED, expected.capture_id, live, msgspec.to_builtins(expected.bug), ids)
    while server is not None:
        page = decode_body(server.call("list_verifications", given))
        if wanted in map(_read_run, page["items"]):
            return True
        if page["next_cursor"] is None:
            return False
        given["cursor"] = page["next_cursor"]
    return False


def _read_run(verification: Json) -> tuple[str, str | None, bool, Json | None, list[str]]:
    """Read what ran and what it looked for. Older servers know failures only, and no live runs."""
    return (
        verification["verdict"],
        verification["capture_id"],
        verification.get("live", False),
        verification["bug"],
        sorted(each["id"] for each in verification.get("expectations", ())),
    )


def _find_branch(request: Request) -> str | None:
    """Find the branch that the commit is on: the one that the ticket is taken from, or the current one."""
    if request.branch is not None:
        return clean_branch(request.branch) or None
    return (find_branch() or None) if request.commit is None or is_current(request.commit) else None


def check_application(base_url: str) -> None:
    """Exit with a message unless something answers at an address, whatever it answers."""
    try:
        httpx2.get(base_url, timeout=15, headers={"User-Agent": "ticketbox-cli"})
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        exit_with_error(
            f"{escape_line(base_url)} doesn't answer ({type(error).__name__}); start the application there",
            ExitStatus.UNREACHABLE,
        )


def _load_pack(server: Server | None, folder: Path, pack: Path | None, wanted: str) -> None:
    try:
        if pack is not None and pack.is_dir():
            for file in pack.iterdir():
                if file.is_file():
                    folder.joinpath(file.name).write_bytes(file.read_bytes())
        elif pack is not None:
            unpack_files(pack.read_bytes(), folder)
        elif server is not None:
            capture = find_capture_id(server, wanted)
            unpack_files(server.call("get_reproduction", {"capture_id": capture}).content, folder)
    except (OSError, ValueError) as error:
        exit_with_error(f"can't read the pack: {escape_line(str(error))}")


def _read_expected(folder: Path) -> ExpectedRun:
    try:
        expected = msgspec.json.decode(folder.joinpath(EXPECTED).read_bytes(), type=ExpectedRun)
    except (OSError, msgspec.DecodeError) as error:
        exit_with_error(f"can't read {EXPECTED} of the pack: {escape_line(str(error))}")
    if expected.is_empty:
        missing = "\n".join(map(escape_line, expected.missing))
        reason = "the capture has no failure and no confirmed expectation, so a run proves nothing"
        exit_with_error(f"{reason}\n{missing}".strip(), ExitStatus.NOTHING)
    return expected


def _post(server: Server, outcome: Outcome, picture: Path | None, trace: Path | None) -> Json:
    """Post a verification with the picture and the trace of the last round."""
    given: Json = {
        "ticket_id": outcome.ticket,
        "commit": outcome.commit,
        "base_url": outcome.base_url,
        "verdict": outcome.verdict.value,
        "reason": outcome.reason and outcome.reason[:LINE_CHARACTERS],
        "rounds": len(outcome.rounds),
        "live": outcome.live,
        "branch": outcome.branch,
        "capture_id": outcome.capture_id,
        "bug": msgspec.to_builtins(outcome.bug),
        "expectations": [each.id for each in outcome.expectations],
        "console": outcome.console,
        "idempotency_key": str(uuid.uuid4()),
    }
    for field, file in (("screenshot", picture), ("trace", trace)):
        attached = _attach(server, outcome, field, file)
        if attached is not None:
            given[field] = attached
    return decode_body(server.call("add_verification", given))


def _attach(server: Server, outcome: Outcome, field: str, file: Path | None) -> str | None:
    """Attach a file to the ticket, and return its id; None without one, or if the ticket has no room for it."""
    data = _read_file(file)
    if file is None or not data:
        return None
    name = f"verify-{(outcome.commit or '')[:7]}-{outcome.verdict.value}{file.suffix}"
    media_type = mimetypes.types_map[file.suffix]
    response = server.send("add_attachment", {"ticket_id": outcome.ticket}, {"file": (name, data, media_type)})
    if response.is_success:
        return decode_body(response)["id"]
    click.echo(f"The {field} couldn't be attached to the ticket.", err=True)
    return None


def _read_file(file: Path | None) -> bytes:
    try:
        return b"" if file is None else file.read_bytes()
    except OSError:
        return b""


def _print_outcome(outcome: Outcome) -> None:
    colour = {Verdict.REPRODUCED: "red", Verdict.GONE: "green"}.get(outcome.verdict, "yellow")
    commit = f" on {outcome.commit[:12]}" if outcome.commit else ""
    print_line(
        f"{style(_name(outcome.verdict), fg=colour, bold=True)}{escape_line(commit)}, "
        f"{format_count(len(outcome.rounds), 'round')}{', live' if outcome.live else ''}"
    )
    for each in outcome.expectations:
        print_line(f"  {escape_line(each.words)}")
    if outcome.reason:
        print_line(f"  {escape_line(outcome.reason)}")
    if outcome.verdict is Verdict.UNPROVEN:
        print_line("  Run it on the commit that has the bug, with --expect reproduced, then here again.")
    for line in outcome.console:
        print_line(style(f"  {escape_line(line.partition(chr(10))[0])}", dim=True))
    print_line(
        f"Posted {escape_line(outcome.posted['id'])} to {escape_line(outcome.ticket)}"
        if outcome.posted
        else "Not posted"
    )


def _name(verdict: Verdict) -> str:
    return verdict.value.replace("_", " ")
