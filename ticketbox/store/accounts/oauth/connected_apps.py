"""Connected apps: a user's valid OAuth grants, as the user sees them (docs/use/oauth.md)."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.accounts.oauth import format_host
from ticketbox.domain.accounts.records import ConnectedApp
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.store.file.database import Read

_strings = msgspec.json.Decoder(list[str])

SELECT_APPS = """
SELECT c.id, c.public_id, c.label, g.redirect_uri, cl.client_id, cl.fetched_at, c.scopes, co.public_id, c.restricted,
  c.created_at, c.last_used_at, c.expires_at,
  (SELECT json_group_array(p.public_id) FROM credential_project cp JOIN project p ON p.id = cp.project_id
   WHERE cp.credential_id = c.id)
FROM credential c
JOIN oauth_grant g ON g.credential_id = c.id
JOIN oauth_client cl ON cl.id = g.client_id
LEFT JOIN company co ON co.id = c.company_id
WHERE c.user_id = :user AND c.kind = 'oauth' AND c.revoked_at IS NULL AND c.expires_at > :now AND c.id < :before
ORDER BY c.id DESC LIMIT :limit
"""


class _AppRow(NamedTuple):
    """A row of SELECT_APPS."""

    key: int
    id: str
    label: str
    redirect_uri: str
    client_id: str
    fetched_at: int | None
    scopes: str
    company_id: str | None
    restricted: int
    created_at: int
    last_used_at: int | None
    expires_at: int
    project_ids: str


def list_connected_apps(tx: Read, user: int, before: int, limit: int) -> list[tuple[int, ConnectedApp]]:
    """List a user's valid grants, newest first, each with its key."""
    rows = tx.fetch_all(SELECT_APPS, {"user": user, "now": tx.now, "before": before, "limit": limit})
    return [
        (
            row.key,
            ConnectedApp(
                id=row.id,
                name=row.label,
                client_host=None if row.fetched_at is None else format_host(row.client_id),
                redirect_host=format_host(row.redirect_uri),
                scopes=row.scopes.split(),
                company_id=row.company_id,
                project_ids=_strings.decode(row.project_ids) if row.restricted else None,
                created=format_rfc3339(row.created_at),
                last_used_at=None if row.last_used_at is None else format_rfc3339(row.last_used_at),
                expires_at=format_rfc3339(row.expires_at),
            ),
        )
        for row in map(_AppRow._make, rows)
    ]
