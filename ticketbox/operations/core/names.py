"""Names as arguments: a company, project, column or person by its name instead of its id (docs/use/api.md, "Names").

Names are compared without case, and only with those that the caller can access, so a refusal lists nothing hidden.
"""

import difflib
import re

from msgspec import UNSET, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.ids import Prefix
from ticketbox.domain.core.problems import InvalidField
from ticketbox.store.core import names
from ticketbox.store.core.names import NamedRow
from ticketbox.store.core.visibility import find_visible_row
from ticketbox.store.file.database import Read

MAX_LISTED = 20
MAX_COMPARED = 500  # comparing two names takes about 50 µs
_FILTERS = {"company": "company_id", "project": "project_id", "column": "column_id", "user": "assignee"}


def resolve_company_id(actor: Actor, text: str, field: str = "company_id") -> str:
    """Return the id of the company that an id or a name means. Raises InvalidRequest for a name."""
    if _is_id(Prefix.COMPANY, text):
        return text
    listed = [NamedRow(each.company_id, each.company_name, "", "") for each in actor.permitted_memberships]
    return _choose(field, "company", listed, text).id


def resolve_project_id(tx: Read, actor: Actor, text: str, field: str = "project_id") -> str:
    """Return the id of the project that an id, a name or a key means. Raises InvalidRequest for a name."""
    if _is_id(Prefix.PROJECT, text):
        return text
    return _choose(field, "project", names.list_projects(tx, actor.viewer), text).id


def resolve_column_id(tx: Read, actor: Actor, text: str, project: int | None = None, field: str = "column_id") -> str:
    """Return the id of the column that an id or a name means: a name in a project, if one is given.

    Raises InvalidRequest for a name.
    """
    if is_column_id(text):
        return text
    return _choose(field, "column", names.list_columns(tx, actor.viewer, project), text).id


def is_column_id(text: str) -> bool:
    """Whether a text is a column's id, not a name."""
    return _is_id(Prefix.COLUMN, text)


def resolve_user_id(tx: Read, actor: Actor, text: str, project: int | None = None, field: str = "user_id") -> str:
    """Return the id of the member that an id, an email address, a name or `me` means.

    With a project, only members who see it are meant. Raises InvalidRequest for a name.
    """
    if text == "me":
        return actor.user_id
    if _is_id(Prefix.USER, text):
        return text
    return _choose(field, "member", names.list_people(tx, actor.viewer, project), text).id


def resolve_label_id(tx: Read, actor: Actor, text: str, company: int | None = None, field: str = "label_id") -> str:
    """Return the id of the label that an id or a name means: a name in a company, if one is given.

    Raises InvalidRequest for a name.
    """
    if _is_id(Prefix.LABEL, text):
        return text
    return _choose(field, "label", names.list_labels(tx, actor.viewer, company), text).id


def check_labels(tx: Read, actor: Actor, labels: list[str], field: str, company: int | None = None) -> None:
    """Check that the labels that an agent names exist in a company, or in one that it can access.

    A person's address or saved view may name a label that is gone; then nothing is found. Raises InvalidRequest.
    """
    if not actor.is_agent:
        return
    listed = names.list_labels(tx, actor.viewer, company)
    known = {each.name.casefold() for each in listed}
    for label in labels:
        if label.strip().casefold() not in known:
            _choose(field, "label", listed, label)


def explain_empty_list(tx: Read, actor: Actor, **filters: str | tuple[str, ...] | None) -> str | UnsetType:
    """Say which of a list's filters names something that the caller can't see; UNSET if none does.

    The filters are ids: of a `company`, `project`, `column` or `user`.
    """
    unseen = [
        f"{_FILTERS[noun]}: you can't see a {noun} with the id {public_id}"
        for noun, ids in filters.items()
        for public_id in ((ids,) if isinstance(ids, str) else ids or ())
        if not _can_see(tx, actor, noun, public_id)
    ]
    return "; ".join(unseen) or UNSET


def _can_see(tx: Read, actor: Actor, noun: str, public_id: str) -> bool:
    if noun == "company":
        return any(each.company_id == public_id for each in actor.permitted_memberships)
    if noun == "user":
        return bool(names.list_people(tx, actor.viewer, None, public_id))
    row = find_visible_row(tx, actor.viewer, noun, public_id)
    return row is not None and row.within


def _is_id(prefix: Prefix, text: str) -> bool:
    return re.fullmatch(rf"{prefix}[0-9a-z]+", text) is not None


def resolve_view_id(tx: Read, actor: Actor, text: str, project: str | None) -> str:
    """Return the id of the saved view that an id or a name means, in the project if given. Raises InvalidRequest."""
    return _choose("view", "view", names.list_views(tx, actor.viewer, project), text).id


def _choose(field: str, noun: str, listed: list[NamedRow], text: str) -> NamedRow:
    """Choose the row that a text names: by its whole name or alias, else a person by the first name.

    Raises InvalidRequest with the names that would do, or with the ids of several rows of this name.
    """
    wanted = text.strip().casefold()
    found = [each for each in listed if wanted in {each.name.casefold(), each.alias.casefold()} - {""}]
    if not found and noun == "member":
        found = [each for each in listed if wanted and each.name.casefold().startswith(f"{wanted} ")]
    if len(found) == 1:
        return found[0]
    shown = f"{text.strip()[:100]!r}"
    if found:
        candidates = ", ".join(f"{each.id} ({each.home or each.name})" for each in found[:MAX_LISTED])
        message = f"several {_PLURALS[noun]} have the name {shown}; send the id: {candidates}"
        raise InvalidField(field, message, valid=[each.id for each in found[:MAX_LISTED]])
    valid = _list_nearest(wanted, listed)
    more = f" ({len(valid)} of {len(listed)})" if len(valid) < len(listed) else ""
    known = f"; valid{more}: {', '.join(valid)}" if valid else f"; you can't see any {noun}"
    raise InvalidField(field, f"there is no {noun} {shown} here{known}", valid=valid)


_PLURALS = {
    "company": "companies", "project": "projects", "column": "columns", "member": "members", "label": "labels",
    "view": "views",
}  # fmt: skip


def _list_nearest(wanted: str, listed: list[NamedRow]) -> list[str]:
    """List names, the most similar ones if there are too many."""
    unique = list(dict.fromkeys(each.name for each in listed))
    if len(unique) <= MAX_LISTED:
        return unique
    by_name = {each.casefold(): each for each in unique[:MAX_COMPARED]}
    return [by_name[each] for each in difflib.get_close_matches(wanted, by_name, MAX_LISTED, 0.0)]
