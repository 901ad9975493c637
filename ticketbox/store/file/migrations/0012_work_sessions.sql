-- Work sessions: each claim of a ticket opens one. Of the lease, the secret that renews and ends it, only a hash is stored.

CREATE TABLE work_session (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  run TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'awaiting_input', 'done', 'stale')),
  lease_hash BLOB,
  start_key BLOB,
  expires_at INTEGER NOT NULL,
  note TEXT,
  plan TEXT NOT NULL DEFAULT '[]',
  links TEXT NOT NULL DEFAULT '[]',
  usage TEXT,
  started_at INTEGER NOT NULL,
  started_by INTEGER NOT NULL REFERENCES byline (id),
  last_seen_at INTEGER NOT NULL,
  ended_at INTEGER,
  ended_by INTEGER REFERENCES byline (id)
) STRICT;
CREATE UNIQUE INDEX work_session_open ON work_session (ticket_id) WHERE ended_at IS NULL;
CREATE INDEX work_session_of_ticket ON work_session (ticket_id, id);
CREATE INDEX work_session_by_expiry ON work_session (expires_at) WHERE ended_at IS NULL;

-- A claim from before has a session without a lease: a person can release it, or it expires.
UPDATE ticket SET claimed_by = NULL, claimed_at = NULL, claimed_until = NULL
  WHERE claimed_until <= unixepoch('subsec') * 1000;
INSERT INTO work_session (public_id, ticket_id, expires_at, started_at, started_by, last_seen_at)
  SELECT 'wrk_' || lower(hex(randomblob(6))), id, claimed_until, claimed_at, claimed_by, claimed_at
  FROM ticket WHERE claimed_until IS NOT NULL;
