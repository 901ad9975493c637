"""`ticketbox verify --comment`: the result on the pull request (docs/use/verifications.md, "On the pull request")."""

import contextlib
import uuid
from collections.abc import Generator
from typing import Any

import click
import msgspec

from ticketbox.cli.client.connection import Server, decode_body
from ticketbox.cli.client.forges.environment import Place, find_place
from ticketbox.cli.client.forges.pull_requests import Status
from ticketbox.cli.client.forges.transport import ForgeError
from ticketbox.cli.client.terminal import escape_line
from ticketbox.domain.tickets.records import Verdict
from ticketbox.domain.work.verifications import is_same_commit

Json = dict[str, Any]

_LONGEST_TEXT = 300
_LONGEST_STATUS = 140  # of a status on GitHub


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found out, and what is known of its ticket, as the comment says it.

    `before` is the commit of the last run that saw the bug, on another commit. Without a server, `ticket` and `key` are
    what the command was given.
    """

    ticket: str
    key: str
    verdict: Verdict
    reason: str | None
    commit: str | None
    passed: bool
    title: str = ""
    url: str | None = None
    bug: str | None = None
    before: str | None = None


def post_comment(server: Server | None, branch: str | None, result: Result, picture: bytes | None = None) -> None:
    """Set the status of the commit, and comment on the pull request, with a PNG picture if one is given.

    Says what it couldn't do; that ends no run.
    """
    known = result if server is None else _complete(server, result)
    with _report("find the pull request"):
        place = find_place()
        with _report("set the status of the commit"):
            _set_status(place, known)
        with _report("comment on the pull request"):
            _write_comment(place, branch, known, picture)


@contextlib.contextmanager
def _report(what: str) -> Generator[None]:
    try:
        yield
    except ForgeError as error:
        click.echo(f"ticketbox: can't {what}: {escape_line(str(error))}", err=True)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        click.echo(f"ticketbox: can't {what}: unexpected answer ({type(error).__name__})", err=True)


def _set_status(place: Place, result: Result) -> None:
    if result.commit:
        status = Status(f"ticketbox/{result.key}", result.passed, _describe_status(result), result.url)
        place.repository.set_status(result.commit, status)


def _write_comment(place: Place, branch: str | None, result: Result, picture: bytes | None) -> None:
    number = place.number or (place.repository.find_pull_request(branch) if branch else None)
    if number is None:
        click.echo("The branch has no open pull request, so there is no comment.", err=True)
        return
    body = build_comment(result)
    if picture:
        with _report("add the picture"):
            address = place.repository.store_picture(f"{result.key}/{uuid.uuid4()}.png", picture)
            body += f"\n![What the page showed at the end]({address})\n"
    marker = f"<!-- ticketbox-verify {result.ticket} -->"
    place.repository.write_comment(number, marker, f"{marker}\n{body}")
    click.echo(f"Commented on pull request {number}.", err=True)


def _complete(server: Server, result: Result) -> Result:
    """Add what the server knows: the ticket's key, title and address, its bug, and where it was reproduced before."""
    response = server.send("get_ticket", {"ticket_id": result.ticket, "status": "all", "include": ["verifications"]})
    if not response.is_success:
        return result
    found: Json = decode_body(response)
    capture: Json = found["capture"] or {}
    bug: Json | None = capture.get("bug")
    before = [
        each["commit"]
        for each in found["verifications"]
        if each["verdict"] == "reproduced" and not (result.commit and is_same_commit(each["commit"], result.commit))
    ]
    return msgspec.structs.replace(
        result, ticket=found["id"], key=found["key"], title=found["title"], url=found["url"], bug=bug and bug["text"],
        before=before[0] if before else None,
    )  # fmt: skip


def build_comment(result: Result) -> str:
    """Build the comment in Markdown. Texts of people and pages are quoted as code, where nothing has a meaning."""
    name = f"[{result.key}]({result.url})" if result.url else result.key
    before = f"reproduced on `{result.before[:12]}`" if result.before else "not reproduced yet"
    lines = [
        f"**{name}** {_quote(result.title)}".strip(),
        "",
        f"- Before: {before}",
        f"- Now: **{_name(result.verdict)}**" + (f" on `{result.commit[:12]}`" if result.commit else ""),
    ]
    if result.bug:
        lines.append(f"- Bug: {_quote(result.bug)}")
    if result.reason:
        lines.append(f"- Reason: {_quote(result.reason)}")
    if result.verdict is Verdict.UNPROVEN:
        lines.append("- Run it on the commit that has the bug, too: nothing shows yet that this test can see it.")
    return "\n".join(lines) + "\n"


def _describe_status(result: Result) -> str:
    reason = f": {' '.join(result.reason.split())}" if result.reason else ""
    return f"{_name(result.verdict)}{reason}"[:_LONGEST_STATUS]


def _quote(text: str) -> str:
    plain = " ".join(text.replace("`", "'").split())[:_LONGEST_TEXT]
    return f"`{plain}`" if plain else ""


def _name(verdict: Verdict) -> str:
    return verdict.value.replace("_", " ")
