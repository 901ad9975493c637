"""Finding tickets by their keys: the present ones, those of earlier projects, and those with earlier project keys."""

import msgspec

from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read


class Candidate(msgspec.Struct, frozen=True):
    """A ticket with a key: its id, its company's id, and whether the credential's restriction includes it."""

    id: str
    company_id: str
    within: bool


SELECT_BY_KEY = f"""
{WITH_VISIBLE_PROJECTS}
SELECT t.public_id, v.company_id, v.within
FROM member m CROSS JOIN project_key k ON k.company_id = m.company_id AND k.key = :key
CROSS JOIN ticket t ON t.id IN (
  SELECT now.id FROM ticket now WHERE now.project_id = k.project_id AND now.number = :number
  UNION ALL SELECT a.ticket_id FROM ticket_number_alias a WHERE a.project_id = k.project_id AND a.number = :number)
CROSS JOIN visible_project v ON v.id = t.project_id
WHERE m.user_id = :user
ORDER BY t.id
"""


def find_by_key(tx: Read, viewer: Viewer, key: str, number: int) -> list[Candidate]:
    """Find the tickets with a key in the companies of the credential's owner, at most one in each company."""
    rows = tx.fetch_all(SELECT_BY_KEY, {**viewer, "key": key, "number": number})
    return [Candidate(id_, company_id, bool(within)) for id_, company_id, within in rows]
