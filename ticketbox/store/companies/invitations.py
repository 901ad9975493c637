"""Invitations: single-use links into a company."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.companies.records import Invitation
from ticketbox.domain.core.access.scopes import Role, RoleName
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write

_SELECT_INVITATION = """
SELECT i.id, i.public_id, co.public_id, i.email, i.role, i.all_projects, i.created_at, i.created_by, i.expires_at,
  (SELECT json_group_array(p.public_id) FROM invitation_project ip JOIN project p ON p.id = ip.project_id
   WHERE ip.invitation_id = i.id),
  co.id, co.name
FROM invitation i JOIN company co ON co.id = i.company_id
"""


class _InvitationRow(NamedTuple):
    """A row of `_SELECT_INVITATION`."""

    key: int
    id: str
    company_id: str
    email: str | None
    role: int
    all_projects: int
    created_at: int
    created_by: int
    expires_at: int
    project_ids: str
    company: int
    company_name: str


SELECT_OPEN_INVITATIONS = f"""{_SELECT_INVITATION}
WHERE i.company_id = ? AND i.accepted_at IS NULL AND i.expires_at > ? AND i.id > ? ORDER BY i.id LIMIT ?
"""


def list_invitations(tx: Read, company: int, after: int, limit: int) -> list[tuple[int, Invitation]]:
    """List a company's open invitations, oldest first, each with its key."""
    return _build_invitations(tx, tx.fetch_all(SELECT_OPEN_INVITATIONS, (company, tx.now, after, limit)))


class OpenInvitation(msgspec.Struct, frozen=True):
    """An open invitation with its internal keys."""

    key: int
    company: int
    company_name: str
    role: Role
    projects: list[int] | None
    invited_by: int
    invitation: Invitation


SELECT_BY_SECRET = f"{_SELECT_INVITATION} WHERE i.secret_hash = ? AND i.accepted_at IS NULL AND i.expires_at > ?"
SELECT_BY_ID = f"{_SELECT_INVITATION} WHERE i.public_id = ? AND i.accepted_at IS NULL AND i.expires_at > ?"


def find_invitation_by_secret(tx: Read, secret_hash: bytes) -> OpenInvitation | None:
    """Find the open invitation of a link."""
    return _build_open_invitation(tx, tx.fetch_one(SELECT_BY_SECRET, (secret_hash, tx.now)))


def find_invitation_by_id(tx: Read, public_id: str) -> OpenInvitation | None:
    """Find an open invitation by its public id."""
    return _build_open_invitation(tx, tx.fetch_one(SELECT_BY_ID, (public_id, tx.now)))


def _build_open_invitation(tx: Read, record: Row | None) -> OpenInvitation | None:
    if record is None:
        return None
    row = _InvitationRow._make(record)
    projects = tx.fetch_all("SELECT project_id FROM invitation_project WHERE invitation_id = ?", (row.key,))
    return OpenInvitation(
        key=row.key,
        company=row.company,
        company_name=row.company_name,
        role=Role(row.role),
        projects=None if row.all_projects else [project for (project,) in projects],
        invited_by=row.created_by,
        invitation=_build_invitations(tx, [row])[0][1],
    )


def _build_invitations(tx: Read, records: list[Row]) -> list[tuple[int, Invitation]]:
    rows = [_InvitationRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Invitation(
                id=row.id,
                company_id=row.company_id,
                email=row.email,
                role=RoleName(Role(row.role).label),
                project_ids=None if row.all_projects else msgspec.json.decode(row.project_ids, type=list[str]),
                created=bylines.build(row.created_by, row.created_at),
                expires_at=format_rfc3339(row.expires_at),
            ),
        )
        for row in rows
    ]


INSERT_INVITATION = """
INSERT INTO invitation (public_id, company_id, email, role, all_projects, secret_hash,
  created_at, created_by, expires_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_invitation(
    tx: Write,
    company: int,
    email: str | None,
    role: Role,
    projects: list[int] | None,
    secret_hash: bytes,
    byline: int,
    expires_at: int,
) -> str:
    """Insert an invitation; return its public id."""
    public_id = generate_id(Prefix.INVITATION)
    key = tx.insert(
        INSERT_INVITATION,
        (public_id, company, email, role.value, projects is None, secret_hash, tx.now, byline, expires_at),
    )
    rows = [(key, project) for project in projects or ()]
    tx.execute_many("INSERT INTO invitation_project (invitation_id, project_id) VALUES (?, ?)", rows)
    return public_id


def accept_invitation(tx: Write, key: int) -> None:
    """Mark an invitation as accepted."""
    tx.execute("UPDATE invitation SET accepted_at = ? WHERE id = ?", (tx.now, key))


def delete_invitation(tx: Write, key: int) -> None:
    """Delete an invitation."""
    tx.execute("DELETE FROM invitation WHERE id = ?", (key,))
