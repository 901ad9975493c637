"""Read the deliveries of GitLab. https://docs.gitlab.com/user/project/integrations/webhook_events/"""

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
from ticketbox.domain.git.ticket_references import read_branch, read_message

_STATES = {"merged": GitState.MERGED, "closed": GitState.CLOSED}
_CHECKS = {
    "success": Checks.PASSING, "skipped": Checks.PASSING, "manual": Checks.PASSING, "failed": Checks.FAILING,
    "canceled": Checks.FAILING,
}  # fmt: skip


class _Project(msgspec.Struct, frozen=True):
    web_url: str = ""
    default_branch: str | None = None


class _Attributes(msgspec.Struct, frozen=True):
    """The attributes of a merge request, or of a pipeline."""

    iid: int | None = None
    url: str | None = None
    title: str | None = None
    description: str | None = None
    state: str | None = None
    source_branch: str | None = None
    target_branch: str | None = None
    updated_at: str | None = None
    last_commit: Commit | None = None
    sha: str | None = None
    status: str | None = None
    finished_at: str | None = None


class _Build(msgspec.Struct, frozen=True):
    """A job of a pipeline, which is only counted."""


class _Payload(msgspec.Struct, frozen=True):
    object_kind: str = ""
    project: _Project = _Project()
    object_attributes: _Attributes | None = None
    builds: list[_Build] | None = None
    ref: str | None = None
    after: str | None = None
    commits: list[Commit] | None = None


_decoder = msgspec.json.Decoder(_Payload)


def read_payload(body: bytes) -> GitChanges:
    """Read what a delivery says. Raises msgspec.DecodeError and RecursionError."""
    payload = _decoder.decode(body)
    attributes = payload.object_attributes
    if payload.object_kind == "merge_request" and attributes is not None:
        return _read_merge_request(payload.project, attributes)
    if payload.object_kind == "pipeline" and attributes is not None:
        return _read_pipeline(attributes, len(payload.builds or []))
    branch = cut_branch(payload.ref)
    return GitChanges() if payload.object_kind != "push" or branch is None else _read_push(payload, branch)


def _read_merge_request(project: _Project, request: _Attributes) -> GitChanges:
    url = clean_url(request.url or "")
    if url is None:
        return GitChanges()
    state = _STATES.get(request.state or "", GitState.OPEN)
    title = request.title or ""
    references = read_message(f"{title}\n\n{request.description or ''}")
    link = LinkChange(
        GitLinkKind.PULL_REQUEST,
        url,
        f"!{request.iid}",
        clean_text(title, MAX_TITLE),
        state,
        clean_commit(request.last_commit.id if request.last_commit else None),
        read_time(request.updated_at),
        list(dict.fromkeys([*read_branch(request.source_branch or ""), *references.named])),
        references.fixed,
        lands=state is GitState.MERGED and request.target_branch == project.default_branch,
    )
    return GitChanges([link])


def _read_pipeline(pipeline: _Attributes, jobs: int) -> GitChanges:
    head = clean_commit(pipeline.sha)
    if head is None:
        return GitChanges()
    state = _CHECKS.get(pipeline.status or "", Checks.PENDING)
    return GitChanges([], [CheckChange(head, "pipeline", state, read_time(pipeline.finished_at), clean_count(jobs))])


def _read_push(payload: _Payload, branch: str) -> GitChanges:
    links: list[LinkChange] = []
    head = clean_commit(payload.after)
    url = clean_url(f"{payload.project.web_url}/-/tree/{quote(branch)}")
    named = read_branch(branch)
    if url is not None and named:
        state = GitState.CLOSED if head is None else GitState.OPEN
        name = clean_text(branch, MAX_NAME)
        links.append(LinkChange(GitLinkKind.BRANCH, url, name, "", state, head, tickets=named))
    lands = branch == payload.project.default_branch
    return GitChanges([*links, *read_commits(payload.commits or [], lands=lands)])
