"""OAuth clients: the apps that may ask for a grant (docs/use/oauth.md)."""

import msgspec

from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Row, Write

MAX_UNUSED_CLIENTS = 1_000

_strings = msgspec.json.Decoder(list[str])


class OAuthClient(msgspec.Struct, frozen=True):
    """A registered app. `fetched_at` is None unless its metadata document was fetched."""

    key: int
    client_id: str
    name: str
    redirect_uris: list[str]
    fetched_at: int | None


_SELECT_CLIENT = "SELECT id, client_id, name, redirect_uris, fetched_at FROM oauth_client"


def find_client(tx: Read, client_id: str) -> OAuthClient | None:
    """Find a client by its id."""
    return _build_client(tx.fetch_one(f"{_SELECT_CLIENT} WHERE client_id = ?", (client_id,)))


def load_client(tx: Read, key: int) -> OAuthClient:
    """Load a client that exists."""
    client = _build_client(tx.fetch_one(f"{_SELECT_CLIENT} WHERE id = ?", (key,)))
    assert client is not None
    return client


def _build_client(row: Row | None) -> OAuthClient | None:
    if row is None:
        return None
    key, client_id, name, redirect_uris, fetched_at = row
    return OAuthClient(key, client_id, name, _strings.decode(redirect_uris), fetched_at)


UPSERT_CLIENT = """
INSERT INTO oauth_client (client_id, name, redirect_uris, created_at, fetched_at)
VALUES (:client_id, :name, :redirect_uris, :now, :fetched_at)
ON CONFLICT (client_id) DO UPDATE SET
  name = excluded.name, redirect_uris = excluded.redirect_uris, fetched_at = excluded.fetched_at
"""


def save_client(tx: Write, client_id: str, name: str, redirect_uris: list[str], *, fetched: bool) -> None:
    """Insert or update a client. Deletes the oldest unused clients above the limit."""
    tx.execute(
        UPSERT_CLIENT,
        {
            "client_id": client_id,
            "name": name,
            "redirect_uris": msgspec.json.encode(redirect_uris).decode(),
            "now": tx.now,
            "fetched_at": tx.now if fetched else None,
        },
    )
    tx.execute(DELETE_SURPLUS_CLIENTS, (MAX_UNUSED_CLIENTS,))


_CLIENT_IS_UNUSED = """
NOT EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client_id = c.id)
AND NOT EXISTS (SELECT 1 FROM oauth_request r WHERE r.client_id = c.id)
"""
DELETE_SURPLUS_CLIENTS = f"""
DELETE FROM oauth_client WHERE id IN (
  SELECT c.id FROM oauth_client c WHERE {_CLIENT_IS_UNUSED} ORDER BY c.created_at DESC, c.id DESC LIMIT -1 OFFSET ?)
"""


DELETE_UNUSED_CLIENTS = f"DELETE FROM oauth_client AS c WHERE c.created_at < ? AND {_CLIENT_IS_UNUSED}"


def delete_unused_clients(tx: Write) -> None:
    """Delete clients that are more than a day old and have neither a grant nor a request."""
    tx.execute(DELETE_UNUSED_CLIENTS, (tx.now - DAY,))
