"""The commands of `ticketbox ticket` that claim tickets and finish work (docs/use/command-line.md, "Claims")."""

import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import httpx2

from ticketbox.cli.client.commands import URL_OPTION, build_command
from ticketbox.cli.client.connection import ExitStatus, Server, connect, decode_body, find_server_url
from ticketbox.cli.client.hooks import find_claim
from ticketbox.cli.client.leases import StoredLease, delete_lease, find_lease, list_leases, save_lease
from ticketbox.cli.client.repository.checkout import describe_repository
from ticketbox.cli.client.terminal import escape_line, print_line
from ticketbox.cli.client.tickets import print_done
from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.work.leases import PROVISIONAL_MS
from ticketbox.operations.core.live.waiting import MAX_WAIT_SECONDS

Json = dict[str, Any]

_HOOK = click.Option(
    ["--hook"], is_flag=True, help="Read the event of an agent's hook on standard input, and keep the claim in it."
)
_DEFAULT_MINUTES = 60
_PROVISIONAL_MINUTES = PROVISIONAL_MS // MINUTE
_NO_LEASE = "this machine holds no claim on the ticket; claim it first"
_RENEW = click.Option(["--renew"], is_flag=True, help="Renew the claim that this machine holds.")
_WAIT = click.Option(
    ["--wait", "wait"], type=click.IntRange(0, 86_400), default=0, help="Wait so many seconds for a ticket."
)
_LEASE = click.Option(
    ["--lease"], envvar="TICKETBOX_LEASE", show_envvar=True, help="Default: the lease that this machine holds."
)
_REPOSITORY = click.Option(
    ["--repository/--no-repository"],
    default=True,
    envvar="TICKETBOX_REPOSITORY",
    show_envvar=True,
    help="Send the branch, commit and remote of the folder's git repository.",
)


def _print_claimed(response: httpx2.Response, _: Json) -> None:
    found = decode_body(response)
    print_done("Claimed", found)
    print_line(escape_line(f"branch {found['branch']}, until {found['claim']['until']}"))


def _claim(server: Server, given: Json, settings: Json) -> httpx2.Response:
    """Claim a ticket and keep its lease, or renew the claim with the lease that was kept."""
    if settings["renew"]:
        stored = find_lease(server.url, given["ticket_id"])
        if stored is None:
            exit_with_error(_NO_LEASE, ExitStatus.NOTHING)
        given = {**given, "ticket_id": stored.ticket_id, "lease": stored.lease}
    response = server.call("start_work", {**_describe_origin(settings), **given})
    keep_lease(server.url, decode_body(response), given.get("lease"))
    return response


def keep_lease(url: str, found: Json, known: str | None) -> None:
    """Keep the lease of a claimed ticket; `known` is the one with which a claim was renewed."""
    lease = found["lease"] or known
    if lease is not None:
        since, folder = datetime.now(UTC).isoformat(), str(Path.cwd())
        save_lease(url, StoredLease(found["id"], found.get("key"), lease, since, found["claim"]["until"], folder))


def _stop(server: Server, given: Json, _: Json) -> httpx2.Response:
    """Release a claim with the lease that was kept."""
    stored = find_lease(server.url, given["ticket_id"])
    if stored is not None:
        given = {**given, "ticket_id": stored.ticket_id, "lease": stored.lease}
    response = server.call("stop_work", given)
    delete_lease(server.url, decode_body(response)["id"])
    return response


def _describe_origin(settings: Json) -> Json:
    """Return where a claim is made: the label of this run, at most 80 characters of its end, and the repository."""
    run = f"{socket.gethostname()}:{Path.cwd()}"[-80:]
    repository = describe_repository() if settings["repository"] else None
    return {"run": run} if repository is None else {"run": run, "repository": repository}


def renew_claims(url: str | None, hook: bool) -> None:
    """Renew the claims that were made in this folder, when half of their time has passed.

    Prints nothing if there is nothing to renew, so that an agent can call it after each step.
    """
    address, folder, now = find_server_url(url), str(Path.cwd()), datetime.now(UTC)
    if hook and (claimed := find_claim(sys.stdin.buffer.read())) is not None:
        with connect(url) as server:  # it refuses a lease that isn't the one of the ticket's claim
            keep_lease(address, decode_body(server.call("start_work", claimed)), claimed["lease"])
    for stored in list(list_leases(address)):
        since, until = datetime.fromisoformat(stored.since), datetime.fromisoformat(stored.until)
        if now > until:
            delete_lease(address, stored.ticket_id)  # the claim has ended, and the lease with it
        elif stored.folder == folder:
            minutes = max(1, round((until - since).total_seconds() / 60))
            if minutes <= _PROVISIONAL_MINUTES:  # it was made after a wait, and its agent is there
                _renew_claim(address, stored, _DEFAULT_MINUTES)
            elif now >= since + (until - since) / 2:
                _renew_claim(address, stored, minutes)


def _renew_claim(url: str, stored: StoredLease, minutes: int) -> None:
    given = {"ticket_id": stored.ticket_id, "lease": stored.lease, "lease_minutes": minutes}
    with connect(url) as server:
        try:
            response = server.call("start_work", given)
        except SystemExit as refused:
            if refused.code == ExitStatus.CONFLICT:  # the work ended elsewhere
                delete_lease(url, stored.ticket_id)
            raise
    keep_lease(url, decode_body(response), stored.lease)


def _claim_next(server: Server, given: Json, settings: Json) -> httpx2.Response:
    """Claim the next ready ticket and keep its lease; wait for one in calls as long as the server allows."""
    origin = _describe_origin(settings)
    deadline = time.monotonic() + settings["wait"]
    while True:
        left = max(0, round(deadline - time.monotonic()))
        wait = {"wait_seconds": min(left, MAX_WAIT_SECONDS)}
        response = server.call("claim_next_ticket", {**origin, **given, **wait})
        found = decode_body(response)
        if found is not None:
            if wait["wait_seconds"]:
                response = _confirm_claim(server, found, given)
            keep_lease(server.url, decode_body(response), None)
            return response
        if left <= MAX_WAIT_SECONDS:
            exit_with_error("no ticket is ready", ExitStatus.NOTHING)


def _confirm_claim(server: Server, found: Json, given: Json) -> httpx2.Response:
    """Renew a claim that was made after a wait, which lasts only five minutes; return the complete answer."""
    minutes = given.get("lease_minutes", _DEFAULT_MINUTES)
    renewal = {"ticket_id": found["id"], "lease": found["lease"], "lease_minutes": minutes}
    renewed = decode_body(server.call("start_work", renewal))
    return httpx2.Response(200, json={**found, "claim": renewed["claim"]})


def _print_next(response: httpx2.Response, given: Json) -> None:
    _print_claimed(response, given)
    print_line(escape_line(f"lease {decode_body(response)['lease']}"))


def _finish(server: Server, given: Json, settings: Json) -> httpx2.Response:
    """Finish work with the given lease, or with the one that was kept."""
    stored = find_lease(server.url, given["ticket_id"])
    lease = settings["lease"] or (None if stored is None else stored.lease)
    if lease is None:
        exit_with_error(_NO_LEASE, ExitStatus.NOTHING)
    response = server.call("finish_work", {**given, "lease": lease})
    found = decode_body(response)
    if found["finished"]:
        delete_lease(server.url, found["id"])
    return response


def _print_finished(response: httpx2.Response, _: Json) -> None:
    found = decode_body(response)
    print_done("Finished" if found["finished"] else "Asked a person to accept", found)


def _print_stopped(response: httpx2.Response, _: Json) -> None:
    print_done("Released", decode_body(response))


claim = build_command(
    "claim", "start_work", _print_claimed, hidden=("lease",), options=[_RENEW, _REPOSITORY], call=_claim
)
next_ = build_command(
    "next",
    "claim_next_ticket",
    _print_next,
    arguments=(),
    hidden=("wait_seconds",),
    options=[_WAIT, _REPOSITORY],
    call=_claim_next,
)
finish = build_command("finish", "finish_work", _print_finished, hidden=("lease",), options=[_LEASE], call=_finish)
stop = build_command("stop", "stop_work", _print_stopped, hidden=("lease",), call=_stop)
renew = click.Command("renew", callback=renew_claims, params=[_HOOK, URL_OPTION], help=renew_claims.__doc__)
