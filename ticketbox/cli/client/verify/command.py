"""`ticketbox verify` (docs/use/verifications.md)."""

from pathlib import Path

import click

from ticketbox.domain.tickets.records import Verdict
from ticketbox.domain.work.verifications import MAX_ROUNDS


@click.command()
@click.option("--url", help="The server's address.  [default: that of the last sign-in]")
@click.argument("key", required=False)
@click.option("--branch", help="Verify the ticket whose key or id is in the name of this branch, if there is one.")
@click.option("--base-url", required=True, help="Where the application runs, such as http://localhost:3000.")
@click.option("--commit", help="The commit that runs there.  [default: HEAD of the repository in this folder]")
@click.option("--rounds", type=click.IntRange(1, MAX_ROUNDS), default=3, show_default=True, help="How often to run it.")
@click.option("--capture", help="The capture to replay.  [default: the newest one of the ticket]")
@click.option(
    "--pack", type=click.Path(exists=True, path_type=Path),
    help="Run this pack, a folder or .zip file of `ticketbox capture reproduce`, instead of the server's.",
)  # fmt: skip
@click.option(
    "--expect", type=click.Choice([each.value for each in Verdict]), default=Verdict.GONE.value, show_default=True,
    help="The verdict with exit status 0.",
)  # fmt: skip
@click.option(
    "--storage-state", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Start with the cookies and local storage in this file, which Playwright writes.",
)  # fmt: skip
@click.option(
    "--setup", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Run this script before the first step: its default export gets `page`, `context` and `baseURL`.",
)  # fmt: skip
@click.option("--offline", is_flag=True, help="Also refuse scripts, styles, fonts and images of other sites.")
@click.option(
    "--live", is_flag=True,
    help="Send all calls to the server at --base-url, also those that write. Without it, the server gets only calls "
    "that failed there, and those that depend on them.",
)  # fmt: skip
@click.option(
    "--no-sandbox", is_flag=True, help="Run Chromium without its sandbox, which doesn't start as root or in containers."
)
@click.option("--trace", is_flag=True, help="Also attach Playwright's trace of the last round, with nothing removed.")
@click.option("--no-post", is_flag=True, help="Only print the verdict.")
@click.option(
    "--comment", is_flag=True,
    help="Keep a comment on the pull request and a status of the commit up to date, with the job's token, gh or glab.",
)  # fmt: skip
@click.option(
    "--pictures", is_flag=True,
    help="Add the picture of the last round to the comment, where everybody who can read the repository sees it.",
)  # fmt: skip
@click.option("--browser", envvar="TICKETBOX_BROWSER", show_envvar=True, help="The path of another Chromium.")
@click.option("--json", "wants_json", is_flag=True, help="Print the outcome as JSON.")
def verify(
    key: str | None, branch: str | None, base_url: str, commit: str | None, rounds: int, capture: str | None,
    pack: Path | None, expect: str, storage_state: Path | None, setup: Path | None, offline: bool, live: bool,
    no_sandbox: bool, trace: bool, no_post: bool, comment: bool, pictures: bool, browser: str | None, wants_json: bool,
    url: str | None,
) -> None:  # fmt: skip
    """Run the reproduction of a ticket's bug against an application, and post the verdict to the ticket.

    It runs with the Playwright that is installed here. If the bug is an answer of the server, that call and those that
    depend on it go to --base-url, writes included, so run it against data that may change. Without a token it needs
    --pack, and posts nothing. A pack remembers that it reproduced the bug (proof.json); until then, its runs without
    the bug are unproven. Exit status:
    0 the verdict is the expected one, 10 reproduced, 11 gone, 12 different_error, 13 not_reached, 14 flaky,
    15 unproven; 1 the test didn't run, 2 wrong usage, 3 nothing to replay, 4 not signed in, 5 server or application not
    reachable.
    """
    if browser in {"firefox", "webkit"}:
        raise click.UsageError("reproductions run in Chromium: nothing keeps other browsers inside the application")
    from ticketbox.cli.client.verify.outcome import Request, verify_ticket
    from ticketbox.domain.core.ids import find_ticket_in_branch

    ticket = key or find_ticket_in_branch(branch or "")
    if pictures and not comment:
        raise click.UsageError("--pictures adds to the comment of --comment")
    if (key is None) == (branch is None):
        raise click.UsageError("name a ticket, or a branch with --branch")
    if ticket is None:
        click.echo("The branch names no ticket, so there is nothing to verify.", err=True)
        return
    verify_ticket(
        Request(
            key=ticket, base_url=base_url, commit=commit, branch=branch, rounds=rounds, capture=capture, pack=pack,
            expect=Verdict(expect), storage_state=storage_state, setup=setup, offline=offline, live=live,
            sandboxed=not no_sandbox, traced=trace, no_post=no_post,
            browser=browser, wants_json=wants_json, url=url, comment=comment,
            pictures=pictures,
        )
    )  # fmt: skip
