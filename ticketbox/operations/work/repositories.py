"""The git repository that a run works in, as it says (docs/use/work-sessions.md, "Repository")."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.git.remotes import clean_remote
from ticketbox.domain.tickets.records import WorkRepository
from ticketbox.operations.core.inputs import AnyBranch, Commit


class RepositoryInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The repository that you work in: the current branch, commit and remote, or what is known of them."""

    branch: AnyBranch | UnsetType = UNSET
    commit: Commit | UnsetType = UNSET
    remote: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=2_000,
                description="Its address, without credentials.",
                examples=["https://git.example/shop.git"],
            ),
        ]
        | UnsetType
    ) = UNSET

    def build_repository(self) -> WorkRepository:
        """Return the repository as it is stored and shown. Raises InvalidRequest."""
        if self.branch is UNSET and self.commit is UNSET and self.remote is UNSET:
            raise InvalidField("repository", "send branch, commit or remote")
        return WorkRepository(
            branch=None if self.branch is UNSET else self.branch,
            commit=None if self.commit is UNSET else self.commit.lower(),
            remote=None if self.remote is UNSET else _check_remote(self.remote),
        )


def _check_remote(remote: str) -> str:
    cleaned = clean_remote(remote)
    if cleaned is None:
        raise InvalidField(
            "repository.remote", "send an address such as https://git.example/shop.git or git@git.example:shop.git"
        )
    if cleaned != remote:
        raise InvalidField("repository.remote", f"send it without credentials, query and fragment: {cleaned}")
    return cleaned


Repository = Annotated[RepositoryInput, Meta(description="The git repository that you work in.")]
