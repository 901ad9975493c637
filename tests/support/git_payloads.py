"""Deliveries of repositories, with the fields that the providers document, and their signatures.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
https://docs.gitlab.com/user/project/integrations/webhook_events/
https://forgejo.org/docs/latest/user/webhooks
"""

import hashlib
import hmac
import json
from typing import Any

from ticketbox.domain.git.signatures import Provider

HEAD = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
OLD_HEAD = "7638417db6d59f3c431d3e1f261cc637155684cd"
NONE = "0" * 40
GITHUB = "https://github.example/shop/web"
GITLAB = "https://gitlab.example/shop/web"
GITEA = "https://gitea.example/shop/web"

Payload = dict[str, Any]


def build_headers(provider: Provider, secret: str, body: bytes, event: str = "push") -> dict[str, str]:
    """The headers of a signed delivery, as each provider sends them."""
    digits = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    json_type = {"Content-Type": "application/json"}
    if provider is Provider.GITLAB:
        return {**json_type, "X-Gitlab-Event": f"{event} Hook", "X-Gitlab-Token": secret}
    github = {
        **json_type,
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": f"sha256={digits}",
    }
    if provider is Provider.GITHUB:
        return github
    return {**github, "X-Gitea-Event": event, "X-Gitea-Signature": digits}


def encode(payload: Payload) -> bytes:
    """The body of a delivery."""
    return json.dumps(payload).encode()


def build_commit(message: str, commit: str = HEAD, base: str = GITHUB) -> Payload:
    """A commit of a push."""
    path = "-/commit" if base == GITLAB else "commit"
    return {
        "id": commit, "message": message, "timestamp": "2026-11-02T10:00:00+01:00", "url": f"{base}/{path}/{commit}",
        "author": {"name": "Ann", "email": "ann@example.org"}, "added": [], "removed": [], "modified": ["cart.js"],
    }  # fmt: skip


def build_push(branch: str, *commits: Payload, after: str = HEAD, base: str = GITHUB) -> Payload:
    """A push to GitHub or Gitea; `after` NONE deletes the branch."""
    return {
        "ref": f"refs/heads/{branch}", "before": OLD_HEAD, "after": after, "created": False, "deleted": after == NONE,
        "commits": list(commits), "repository": {"full_name": "shop/web", "html_url": base, "default_branch": "main"},
        "sender": {"login": "ann"},
    }  # fmt: skip


def build_pull_request(
    title: str, body: str | None = None, *, action: str = "opened", state: str = "open", merged: bool = False,
    branch: str = "cart", target: str = "main", at: str = "2026-11-02T10:00:00Z", number: int = 7, base: str = GITHUB,
    head: str = "",
) -> Payload:  # fmt: skip
    """A pull request of GitHub or Gitea."""
    path = "pulls" if base == GITEA else "pull"
    return {
        "action": action,
        "number": number,
        "pull_request": {
            "html_url": f"{base}/{path}/{number}", "number": number, "title": title, "body": body, "state": state,
            "merged": merged, "merged_at": at if merged else None, "updated_at": at,
            "head": {"ref": branch, "sha": head or HEAD}, "base": {"ref": target, "sha": OLD_HEAD},
        },
        "repository": {"full_name": "shop/web", "html_url": base, "default_branch": "main"},
    }  # fmt: skip


def build_check_suite(conclusion: str | None, head: str = HEAD, app: str = "Actions") -> Payload:
    """A check suite of GitHub; without a conclusion it runs."""
    status = "in_progress" if conclusion is None else "completed"
    return {
        "action": "completed",
        "check_suite": {
            "head_sha": head, "status": status, "conclusion": conclusion, "app": {"id": 1, "name": app},
            "latest_check_runs_count": 12, "updated_at": "2026-11-02T10:05:00Z",
        },
        "repository": {"html_url": GITHUB, "default_branch": "main"},
    }  # fmt: skip


def build_status(state: str, context: str = "ci/build", head: str = HEAD) -> Payload:
    """A commit status of GitHub or Gitea."""
    return {
        "sha": head, "state": state, "context": context, "description": None, "updated_at": "2026-11-02T10:06:00Z",
        "repository": {"html_url": GITHUB, "default_branch": "main"},
    }  # fmt: skip


def build_merge_request(
    title: str, description: str = "", *, state: str = "opened", branch: str = "cart", target: str = "main",
    at: str = "2026-11-02 10:00:00 UTC",
) -> Payload:  # fmt: skip
    """A merge request of GitLab."""
    return {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "project": {"web_url": GITLAB, "default_branch": "main", "path_with_namespace": "shop/web"},
        "object_attributes": {
            "iid": 7, "title": title, "description": description, "state": state, "source_branch": branch,
            "target_branch": target, "updated_at": at, "url": f"{GITLAB}/-/merge_requests/7",
            "last_commit": {"id": HEAD, "message": "Fix the cart"},
        },
    }  # fmt: skip


def build_gitlab_push(branch: str, *commits: Payload, after: str = HEAD) -> Payload:
    """A push to GitLab."""
    return {
        "object_kind": "push", "event_name": "push", "before": OLD_HEAD, "after": after,
        "ref": f"refs/heads/{branch}", "checkout_sha": None if after == NONE else after,
        "project": {"web_url": GITLAB, "default_branch": "main"}, "commits": list(commits),
        "total_commits_count": len(commits),
    }  # fmt: skip


def build_pipeline(status: str) -> Payload:
    """A pipeline of GitLab."""
    return {
        "object_kind": "pipeline",
        "object_attributes": {
            "id": 31, "iid": 3, "ref": "cart", "sha": HEAD, "status": status, "source": "push",
            "finished_at": None, "url": f"{GITLAB}/-/pipelines/31",
        },
        "builds": [{"id": 1, "name": "build"}, {"id": 2, "name": "test"}],
        "project": {"web_url": GITLAB, "default_branch": "main"},
    }  # fmt: skip
