"""Read the deliveries of GitHub, Gitea and Forgejo, which have the same form.

The kind of a delivery is read from its body, because its headers aren't signed.
https://docs.github.com/en/webhooks/webhook-events-and-payloads, https://forgejo.org/docs/latest/user/webhooks
"""

from urllib.parse import quote

import msgspec

from ticketbox.domain.git.changes import (
    MAX_NAME,
    MAX_TITLE,
    CheckChange,
    GitChanges,
    LinkChange,
    clean_commit,
    clean_count,
    clean_text,
    clean_url,
    cut_branch,
    read_time,
)
from ticketbox.domain.git.commits import Commit, read_commits
from ticketbox.domain.git.records import Checks, GitLinkKind, GitState
from ticketbox.domain.git.signatures import Provider
from ticketbox.domain.git.ticket_references import read_branch, read_message

_FAILED = {"failure", "cancelled", "timed_out", "action_required", "startup_failure", "error", "warning"}
_STATES = {"pending": Checks.PENDING, "success": Checks.PASSING}


class _Repository(msgspec.Struct, frozen=True):
    html_url: str = ""
    default_branch: str = ""


class _Side(msgspec.Struct, frozen=True):
    ref: str = ""
    sha: str = ""


class _PullRequest(msgspec.Struct, frozen=True):
    html_url: str
    number: int
    title: str = ""
    body: str | None = None
    state: str = "open"
    merged: bool | None = None
    merged_at: str | None = None
    updated_at: str | None = None
    head: _Side = _Side()
    base: _Side = _Side()


class _App(msgspec.Struct, frozen=True):
    name: str | None = None


class _Run(msgspec.Struct, frozen=True):
    """A check suite or a workflow run."""

    head_sha: str = ""
    status: str | None = None
    conclusion: str | None = None
    name: str | None = None
    app: _App | None = None
    updated_at: str | None = None
    latest_check_runs_count: int | None = None


class _Payload(msgspec.Struct, frozen=True):
    repository: _Repository = _Repository()
    ref: str | None = None
    ref_type: str | None = None
    after: str | None = None
    deleted: bool = False
    commits: list[Commit] | None = None
    master_branch: str | None = None
    sha: str | None = None
    state: str | None = None
    context: str | None = None
    updated_at: str | None = None
    pull_request: _PullRequest | None = None
    check_suite: _Run | None = None
    workflow_run: _Run | None = None


_decoder = msgspec.json.Decoder(_Payload)


def read_payload(provider: Provider, body: bytes) -> GitChanges:
    """Read what a delivery says. Raises msgspec.DecodeError and RecursionError."""
    payload = _decoder.decode(body)
    if payload.pull_request is not None:
        return _read_pull_request(payload.repository, payload.pull_request)
    for run, fallback in ((payload.check_suite, "checks"), (payload.workflow_run, "workflow")):
        if run is not None:
            return _read_run(run, fallback)
    if payload.sha is not None and payload.state is not None and payload.context is not None:
        state = _STATES.get(payload.state, Checks.FAILING)
        return _build_check(payload.sha, payload.context, state, payload.updated_at, count=1)
    if payload.ref_type == "branch" and payload.ref is not None:
        created = payload.master_branch is not None or payload.sha is not None
        return _read_branch(provider, payload.repository, payload.ref, payload.sha, deleted=not created)
    branch = cut_branch(payload.ref)
    return GitChanges() if branch is None else _read_push(provider, payload, branch)


def _read_pull_request(repository: _Repository, request: _PullRequest) -> GitChanges:
    url = clean_url(request.html_url)
    if url is None:
        return GitChanges()
    merged = bool(request.merged or request.merged_at)
    state = GitState.MERGED if merged else GitState.OPEN if request.state == "open" else GitState.CLOSED
    references = read_message(f"{request.title}\n\n{request.body or ''}")
    link = LinkChange(
        GitLinkKind.PULL_REQUEST,
        url,
        f"#{request.number}",
        clean_text(request.title, MAX_TITLE),
        state,
        clean_commit(request.head.sha),
        read_time(request.updated_at),
        list(dict.fromkeys([*read_branch(request.head.ref), *references.named])),
        references.fixed,
        lands=merged and request.base.ref == repository.default_branch,
    )
    return GitChanges([link])


def _read_push(provider: Provider, payload: _Payload, branch: str) -> GitChanges:
    deleted = payload.deleted or clean_commit(payload.after) is None
    changes = _read_branch(provider, payload.repository, branch, payload.after, deleted=deleted)
    lands = branch == payload.repository.default_branch
    return GitChanges([*changes.links, *read_commits(payload.commits or [], lands=lands)])


def _read_branch(
    provider: Provider, repository: _Repository, branch: str, head: str | None, *, deleted: bool
) -> GitChanges:
    path = "src/branch" if provider is Provider.GITEA else "tree"
    url = clean_url(f"{repository.html_url}/{path}/{quote(branch)}")
    tickets = read_branch(branch)
    if url is None or not tickets:
        return GitChanges()
    state = GitState.CLOSED if deleted else GitState.OPEN
    name = clean_text(branch, MAX_NAME)
    head = None if deleted else clean_commit(head)
    return GitChanges([LinkChange(GitLinkKind.BRANCH, url, name, "", state, head, tickets=tickets)])


def _read_run(run: _Run, fallback: str) -> GitChanges:
    name = run.name or (run.app.name if run.app else None) or fallback
    if run.status != "completed" and run.conclusion is None:
        state = Checks.PENDING
    else:
        state = Checks.FAILING if run.conclusion in _FAILED else Checks.PASSING
    # a workflow run is part of a check suite, which counts its checks
    return _build_check(run.head_sha, name, state, run.updated_at, count=run.latest_check_runs_count or 0)


def _build_check(head: str, name: str, state: Checks, at: str | None, *, count: int) -> GitChanges:
    commit = clean_commit(head)
    if commit is None:
        return GitChanges()
    return GitChanges([], [CheckChange(commit, clean_text(name, MAX_NAME), state, read_time(at), clean_count(count))])
