"""The pull request that a job or a checkout is about: its comment, and the statuses of its commits."""

from base64 import b64encode
from typing import Any, Protocol, cast
from urllib.parse import quote

import msgspec

from ticketbox.cli.client.forges.transport import ForgeError, Transport

Json = dict[str, Any]

_PAGES = 20
_PER_PAGE = 100
# Who comments with the token of a job, which can't ask who it is.
_JOBS = {"github-actions[bot]", "gitea-actions", "forgejo-actions"}
_PICTURES = "ticketbox-pictures"  # a branch


class Status(msgspec.Struct, frozen=True):
    """The status of a commit. `name` is its context."""

    name: str
    passed: bool
    text: str
    url: str | None


class Repository(Protocol):
    """A repository of a forge. Comments are found by their marker, if the same account wrote them."""

    def find_pull_request(self, branch: str) -> int | None:
        """Find the open pull request of a branch."""
        ...

    def write_comment(self, number: int, marker: str, body: str) -> None:
        """Create the comment with a marker, or replace it."""
        ...

    def set_status(self, commit: str, status: Status) -> None:
        """Set a status of a commit."""
        ...

    def store_picture(self, name: str, picture: bytes) -> str:
        """Store a PNG picture under a name that is new; return the address for a comment."""
        ...


class GitHubRepository:
    """GitHub, Gitea and Forgejo, whose paths and fields are the same here."""

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self._path = f"repos/{name}"
        self._owner = name.partition("/")[0]

    def find_pull_request(self, branch: str) -> int | None:
        """Find the open pull request of a branch of this repository."""
        query = f"state=open&head={quote(f'{self._owner}:{branch}', safe='')}"
        for each in _list_all(self._transport, f"{self._path}/pulls?{query}"):
            head = cast(Json, each["head"])
            repository = cast(Json, head.get("repo") or {})  # null after a fork was deleted
            if head["ref"] == branch and f"repos/{repository.get('full_name')}" == self._path:
                return each["number"]
        return None

    def write_comment(self, number: int, marker: str, body: str) -> None:
        """Create the comment with a marker, or replace it."""
        authors = _find_authors(self._transport, "login")
        path = f"{self._path}/issues/{number}/comments"
        for each in _list_all(self._transport, path):
            if each["body"].startswith(marker) and each["user"]["login"] in authors:
                self._transport.call("PATCH", f"{self._path}/issues/comments/{each['id']}", {"body": body})
                return
        self._transport.call("POST", path, {"body": body})

    def set_status(self, commit: str, status: Status) -> None:
        """Set a status of a commit."""
        given = {
            "context": status.name, "state": "success" if status.passed else "failure", "description": status.text,
            **({"target_url": status.url} if status.url else {}),
        }  # fmt: skip
        self._transport.call("POST", f"{self._path}/statuses/{commit}", given)

    def store_picture(self, name: str, picture: bytes) -> str:
        """Commit a picture to a branch that has nothing else: no call attaches files to comments. Not on Gitea."""
        path = f"{self._path}/contents/{quote(name)}"
        given = {"message": f"Add {name}", "content": b64encode(picture).decode(), "branch": _PICTURES}
        try:
            stored = self._transport.call("PUT", path, given)
        except ForgeError:  # the branch isn't there yet
            self._start_branch()
            stored = self._transport.call("PUT", path, given)
        return f"{stored['content']['html_url']}?raw=true"

    def _start_branch(self) -> None:
        text = "Pictures of verifications. `ticketbox verify --comment --pictures` adds them.\n"
        file = {"path": "README.md", "mode": "100644", "type": "blob", "content": text}
        tree = self._transport.call("POST", f"{self._path}/git/trees", {"tree": [file]})
        first: Json = {"message": "Begin a branch for pictures", "tree": tree["sha"], "parents": []}
        commit = self._transport.call("POST", f"{self._path}/git/commits", first)
        branch = {"ref": f"refs/heads/{_PICTURES}", "sha": commit["sha"]}
        self._transport.call("POST", f"{self._path}/git/refs", branch)


class GitLabRepository:
    """GitLab, whose pull requests are merge requests, and whose comments are notes."""

    def __init__(self, transport: Transport, project: str) -> None:
        self._transport = transport
        self._path = f"projects/{quote(project, safe='')}"

    def find_pull_request(self, branch: str) -> int | None:
        """Find the open merge request of a branch."""
        query = f"state=opened&source_branch={quote(branch, safe='')}"
        found = _list_all(self._transport, f"{self._path}/merge_requests?{query}")
        return next((each["iid"] for each in found), None)

    def write_comment(self, number: int, marker: str, body: str) -> None:
        """Create the note with a marker, or replace it."""
        authors = _find_authors(self._transport, "username")
        path = f"{self._path}/merge_requests/{number}/notes"
        for each in _list_all(self._transport, path):
            if each["body"].startswith(marker) and each["author"]["username"] in authors:
                self._transport.call("PUT", f"{path}/{each['id']}", {"body": body})
                return
        self._transport.call("POST", path, {"body": body})

    def set_status(self, commit: str, status: Status) -> None:
        """Set a status of a commit."""
        given = {
            "name": status.name, "state": "success" if status.passed else "failed", "description": status.text,
            **({"target_url": status.url} if status.url else {}),
        }  # fmt: skip
        self._transport.call("POST", f"{self._path}/statuses/{commit}", given)

    def store_picture(self, name: str, picture: bytes) -> str:
        """Upload a picture to the project. The token of a job can't."""
        return self._transport.upload(f"{self._path}/uploads", name.rpartition("/")[2], picture)["url"]


def _find_authors(transport: Transport, field: str) -> set[str]:
    """Return the account that writes. A comment of somebody else with the marker could be changed by them later."""
    try:
        return {transport.call("GET", "user")[field]}
    except ForgeError:
        return _JOBS


def _list_all(transport: Transport, path: str) -> list[Json]:
    """List all pages of a list; Gitea ignores the page of some lists, and returns all of it each time."""
    found: dict[int, Json] = {}
    for page in range(1, _PAGES + 1):
        joint = "&" if "?" in path else "?"
        items: list[Json] = transport.call("GET", f"{path}{joint}per_page={_PER_PAGE}&limit={_PER_PAGE}&page={page}")
        new = {each["id"]: each for each in items if each["id"] not in found}
        found |= new
        if not new or len(items) < _PER_PAGE:
            break
    return list(found.values())
