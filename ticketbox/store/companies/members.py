"""Members of companies, and the projects that they are restricted to."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.companies.records import Member
from ticketbox.domain.core.access.scopes import Role, RoleName
from ticketbox.store.file.database import Read, Write

_SELECT_MEMBER = """
SELECT m.id, u.public_id, u.name, u.email, m.role, m.all_projects,
  (SELECT json_group_array(p.public_id) FROM member_project mp JOIN project p ON p.id = mp.project_id
   WHERE mp.member_id = m.id),
  u.id, NOT EXISTS (SELECT 1 FROM second_factor f WHERE f.user_id = u.id AND f.enabled_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM passkey k WHERE k.user_id = u.id)
FROM member m JOIN user u ON u.id = m.user_id
"""


class _MemberRow(NamedTuple):
    """A row of `_SELECT_MEMBER`."""

    key: int
    id: str
    name: str
    email: str
    role: int
    all_projects: int
    project_ids: str
    user: int
    lacks_factor: int


SELECT_MEMBERS = f"""{_SELECT_MEMBER}
WHERE m.company_id = :company AND m.id > :after AND (:project IS NULL OR m.all_projects OR EXISTS (
  SELECT 1 FROM member_project x WHERE x.member_id = m.id AND x.project_id = :project))
ORDER BY m.id LIMIT :limit
"""


def list_members(tx: Read, company: int, project: int | None, after: int, limit: int) -> list[tuple[int, Member]]:
    """List a company's members, or those who see one project, in the order they joined, each with a key."""
    rows = tx.fetch_all(SELECT_MEMBERS, {"company": company, "project": project, "after": after, "limit": limit})
    return [(row.key, _build_member(row)) for row in map(_MemberRow._make, rows)]


class MemberWithKeys(msgspec.Struct, frozen=True):
    """A member with internal keys."""

    key: int
    user: int
    role: Role
    member: Member


SELECT_MEMBER = f"{_SELECT_MEMBER} WHERE m.company_id = ? AND u.public_id = ?"


def find_member(tx: Read, company: int, user_id: str) -> MemberWithKeys | None:
    """Find a company's member by the user's public id."""
    record = tx.fetch_one(SELECT_MEMBER, (company, user_id))
    if record is None:
        return None
    row = _MemberRow._make(record)
    return MemberWithKeys(row.key, row.user, Role(row.role), _build_member(row))


def _build_member(row: _MemberRow) -> Member:
    return Member(
        id=row.id,
        name=row.name,
        email=row.email,
        role=RoleName(Role(row.role).label),
        project_ids=None if row.all_projects else msgspec.json.decode(row.project_ids, type=list[str]),
        second_factor_missing=bool(row.lacks_factor),
    )


SELECT_USER_WHO_SEES = """
SELECT m.user_id FROM user u JOIN project p ON p.id = :project
JOIN member m ON m.user_id = u.id AND m.company_id = p.company_id
WHERE u.public_id = :user AND (m.all_projects OR EXISTS (
  SELECT 1 FROM member_project x WHERE x.member_id = m.id AND x.project_id = p.id))
"""


def find_user_who_sees(tx: Read, project: int, user_id: str) -> int | None:
    """Find the key of a user who can see a project as a member of its company."""
    return tx.fetch_value(SELECT_USER_WHO_SEES, {"project": project, "user": user_id})


INSERT_MEMBER = """
INSERT INTO member (company_id, user_id, role, all_projects, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_member(tx: Write, company: int, user: int, role: Role, projects: list[int] | None, byline: int) -> None:
    """Add a user to a company; `projects` None means all projects."""
    key = tx.insert(INSERT_MEMBER, (company, user, role.value, projects is None, tx.now, byline))
    _insert_member_projects(tx, key, projects)


def update_member(tx: Write, key: int, role: Role, projects: list[int] | None) -> None:
    """Set a member's role and projects."""
    tx.execute("UPDATE member SET role = ?, all_projects = ? WHERE id = ?", (role.value, projects is None, key))
    tx.execute("DELETE FROM member_project WHERE member_id = ?", (key,))
    _insert_member_projects(tx, key, projects)


def _insert_member_projects(tx: Write, key: int, projects: list[int] | None) -> None:
    rows = [(key, project) for project in projects or ()]
    tx.execute_many("INSERT INTO member_project (member_id, project_id) VALUES (?, ?)", rows)


INSERT_MEMBER_PROJECT = """
INSERT OR IGNORE INTO member_project (member_id, project_id)
SELECT id, :project FROM member WHERE company_id = :company AND user_id = :user AND NOT all_projects
"""


def grant_project(tx: Write, company: int, user: int, project: int) -> None:
    """Give a restricted member access to one more project."""
    tx.execute(INSERT_MEMBER_PROJECT, {"company": company, "user": user, "project": project})


def delete_member(tx: Write, key: int) -> None:
    """Delete a membership."""
    tx.execute("DELETE FROM member WHERE id = ?", (key,))


COUNT_OWNERS = "SELECT count(*) FROM member WHERE company_id = ? AND role = ?"


def count_owners(tx: Read, company: int) -> int:
    """Count a company's owners."""
    return tx.fetch_value(COUNT_OWNERS, (company, Role.OWNER.value))


def list_project_keys(tx: Read, key: int) -> list[int]:
    """List the keys of the projects that a member is restricted to."""
    return [row[0] for row in tx.fetch_all("SELECT project_id FROM member_project WHERE member_id = ?", (key,))]
