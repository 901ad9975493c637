"""The members and tokens whose verifications and evidence count (docs/use/verifications.md, "The gate")."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from ticketbox.domain.core.ids import Prefix
from ticketbox.domain.core.problems import InvalidField
from ticketbox.operations.core.lookups import Id
from ticketbox.store.accounts import credentials
from ticketbox.store.companies import members
from ticketbox.store.file.database import Read

Verifiers = Annotated[
    list[Id],
    Meta(
        max_length=50,
        description="The members (`usr_…`) and tokens (`key_…`) whose verifications and evidence count. Empty: "
        "those of everybody who can write.",
    ),
]


def check_verifiers(tx: Read, project: int, before: Sequence[str], verifiers: Sequence[str]) -> None:
    """Raise InvalidField for a new id that is neither of a member who sees the project, nor of a token of one."""
    for index, each in enumerate(verifiers):
        user = credentials.find_token_owner(tx, each) if each.startswith(Prefix.TOKEN) else each
        if each not in before and (user is None or members.find_user_who_sees(tx, project, user) is None):
            raise InvalidField(
                f"verifiers[{index}]", "send the id of a member who can access the project, or of a token of one"
            )
