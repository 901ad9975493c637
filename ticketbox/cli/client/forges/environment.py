"""Which forge a job runs for, or a checkout belongs to, as its variables or its command say.

Sources: "Variables" of GitHub Actions, Gitea Actions and Forgejo Actions; "Predefined CI/CD variables" of GitLab.
"""

import os
import re
import shutil

import msgspec

from ticketbox.cli.client.forges.pull_requests import GitHubRepository, GitLabRepository, Repository
from ticketbox.cli.client.forges.transport import CommandTransport, ForgeError, RestTransport, run_program


class Place(msgspec.Struct, frozen=True):
    """A repository, and the number of the pull request if the job names it."""

    repository: Repository
    number: int | None


def find_place() -> Place:
    """Find where to comment: from the variables of a job, else from `gh` or `glab`. Raises ForgeError."""
    if _read("GITLAB_CI"):
        return _read_gitlab()
    if _read("GITHUB_ACTIONS"):
        return _read_github()
    for program, find in (("gh", _ask_gh), ("glab", _ask_glab)):
        if shutil.which(program) and (place := find()):
            return place
    raise ForgeError(
        "this isn't a job of GitHub, GitLab, Gitea or Forgejo, and neither gh nor glab knows the repository"
    )


def _read(name: str) -> str:
    return os.environ.get(name, "").strip()


def _read_github() -> Place:
    """Read the variables of GitHub Actions, which Gitea and Forgejo set as well."""
    repository = _read("GITHUB_REPOSITORY")
    names = ("GITHUB_TOKEN", "GH_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN")
    token = next((found for name in names if (found := _read(name))), "")
    number = re.match(r"refs/pull/(\d+)/", _read("GITHUB_REF"))
    if token:
        api = _read("GITHUB_API_URL") or "https://api.github.com"
        transport = RestTransport(api, {"Authorization": f"token {token}"})
    elif shutil.which("gh"):
        transport = CommandTransport("gh")
    else:
        raise ForgeError("set GITHUB_TOKEN to the job's token, with the permissions to comment and to set statuses")
    return Place(GitHubRepository(transport, repository), int(number[1]) if number else None)


def _read_gitlab() -> Place:
    """Read the variables of GitLab. The token of a job can set statuses; comments need GITLAB_TOKEN or glab."""
    number = _read("CI_MERGE_REQUEST_IID") or _read("CI_OPEN_MERGE_REQUESTS").partition(",")[0].rpartition("!")[2]
    api = _read("CI_API_V4_URL")
    if token := _read("GITLAB_TOKEN"):
        transport = RestTransport(api, {"PRIVATE-TOKEN": token})
    elif shutil.which("glab"):
        transport = CommandTransport("glab")
    else:
        transport = RestTransport(api, {"JOB-TOKEN": _read("CI_JOB_TOKEN")})
    return Place(GitLabRepository(transport, _read("CI_PROJECT_ID")), int(number) if number.isdecimal() else None)


def _ask_gh() -> Place | None:
    try:
        found = msgspec.json.decode(run_program(["gh", "repo", "view", "--json", "nameWithOwner"]))
    except (ForgeError, msgspec.DecodeError):
        return None
    return Place(GitHubRepository(CommandTransport("gh"), found["nameWithOwner"]), None)


def _ask_glab() -> Place | None:
    try:
        found = msgspec.json.decode(run_program(["glab", "repo", "view", "--output", "json"]))
    except (ForgeError, msgspec.DecodeError):
        return None
    return Place(GitLabRepository(CommandTransport("glab"), str(found["id"])), None)
