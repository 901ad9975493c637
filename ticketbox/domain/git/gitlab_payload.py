"""Read the deliveries of GitLab. https://docs.gitlab.com/user/project/integrations/webhook_events/"""

from urllib.parse import quote

import msgspec

from ticketbox.domain.git.news import (
    MAX_COMMITS,
    MAX_NAME,
    MAX_TITLE,
    CheckNews,
    GitNews,
    LinkNews,
    clean_commit,
    clean_count,
    clean_text,
    clean_url,
    cut_branch,
    read_time,
)
from ticketbox.domain.git.records import Checks, GitLinkKind, GitState
from ticketbox.domain.git.ticket_references import list_fixed_tickets, list_named_tickets

_STATES = {"merged": GitState.MERGED, "closed": GitState.CLOSED}
_CHECKS = {
    "success": Checks.PASSING, "skipped": Checks.PASSING, "manual": Checks.PASSING, "failed": Checks.FAILING,
    "canceled": Checks.FAILING,
}  # fmt: skip


class _Project(msgspec.Struct, frozen=True):
    web_url: str = ""
    default_branch: str | None = None


class _Commit(msgspec.Struct, frozen=True):
    id: str = ""
    message: str = ""
    url: str = ""
    timestamp: str | None = None


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
    last_commit: _Commit | None = None
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
    commits: list[_Commit] | None = None


_decoder = msgspec.json.Decoder(_Payload)


def read_payload(body: bytes) -> GitNews:
    """Read what a delivery says. Raises msgspec.DecodeError and RecursionError."""
    payload = _decoder.decode(body)
    attributes = payload.object_attributes
    if payload.object_kind == "merge_request" and attributes is not None:
        return _read_merge_request(payload.project, attributes)
    if payload.object_kind == "pipeline" and attributes is not None:
        return _read_pipeline(attributes, len(payload.builds or []))
    branch = cut_branch(payload.ref)
    return GitNews() if payload.object_kind != "push" or branch is None else _read_push(payload, branch)


def _read_merge_request(project: _Project, request: _Attributes) -> GitNews:
    url = clean_url(request.url or "")
    if url is None:
        return GitNews()
    state = _STATES.get(request.state or "", GitState.OPEN)
    texts = (request.title or "", request.description or "")
    link = LinkNews(
        GitLinkKind.PULL_REQUEST,
        url,
        f"!{request.iid}",
        clean_text(texts[0], MAX_TITLE),
        state,
        clean_commit(request.last_commit.id if request.last_commit else None),
        read_time(request.updated_at),
        list_named_tickets(request.source_branch or "", *texts),
        list_fixed_tickets(*texts),
        lands=state is GitState.MERGED and request.target_branch == project.default_branch,
    )
    return GitNews([link])


def _read_pipeline(pipeline: _Attributes, jobs: int) -> GitNews:
    head = clean_commit(pipeline.sha)
    if head is None:
        return GitNews()
    state = _CHECKS.get(pipeline.status or "", Checks.PENDING)
    return GitNews([], [CheckNews(head, "pipeline", state, read_time(pipeline.finished_at), clean_count(jobs))])


def _read_push(payload: _Payload, branch: str) -> GitNews:
    links: list[LinkNews] = []
    head = clean_commit(payload.after)
    url = clean_url(f"{payload.project.web_url}/-/tree/{quote(branch)}")
    named = list_named_tickets(branch)
    if url is not None and named:
        state = GitState.CLOSED if head is None else GitState.OPEN
        name = clean_text(branch, MAX_NAME)
        links.append(LinkNews(GitLinkKind.BRANCH, url, name, "", state, head, tickets=named))
    lands = branch == payload.project.default_branch
    for commit in (payload.commits or [])[-MAX_COMMITS:]:
        named = list_named_tickets(commit.message)
        if named and clean_url(commit.url) and clean_commit(commit.id):
            links.append(
                LinkNews(
                    GitLinkKind.COMMIT,
                    commit.url,
                    commit.id[:10],
                    clean_text(commit.message, MAX_TITLE),
                    GitState.MERGED if lands else None,
                    at=read_time(commit.timestamp),
                    tickets=named,
                    fixes=list_fixed_tickets(commit.message),
                    lands=lands,
                )
            )
    return GitNews(links)
