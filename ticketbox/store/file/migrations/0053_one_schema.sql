-- Replays have no pictures any more. Deleting them first lets the triggers subtract what the companies stored.
DELETE FROM replay_frame;
DROP TRIGGER project_replay_frames_removed;
DROP TABLE replay_frame;
UPDATE capture SET health = json_remove(health, '$.frames') WHERE health ->> 'frames' IS NOT NULL;

-- The file's header has the schema number now, and excerpts of captures have no versions.
DROP TABLE migration;
DROP INDEX capture_by_excerpt_version;
ALTER TABLE capture DROP COLUMN excerpt_version;

ALTER TABLE fingerprint RENAME COLUMN likeness TO similarity;
ALTER TABLE git_delivery RENAME COLUMN news TO changes;

-- A verification can be unproven, has the reason of its verdict, and says whether it is proven: the bug is gone, and an
-- earlier run saw it.

CREATE TABLE reasoned_verification (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  capture_id INTEGER REFERENCES capture (id) ON DELETE SET NULL,
  commit_hash TEXT NOT NULL,
  branch TEXT,
  base_url TEXT NOT NULL,
  verdict TEXT NOT NULL
    CHECK (verdict IN ('reproduced', 'gone', 'unproven', 'different_error', 'not_reached', 'flaky')),
  reason TEXT,
  proven INTEGER NOT NULL CHECK (proven IN (0, 1)),
  rounds INTEGER NOT NULL,
  console TEXT NOT NULL,
  screenshot_id INTEGER REFERENCES asset (id) ON DELETE SET NULL,
  trace_id INTEGER REFERENCES asset (id) ON DELETE SET NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
INSERT INTO reasoned_verification
SELECT id, public_id, ticket_id, capture_id, commit_hash, branch, base_url, verdict, NULL,
  verdict = 'gone' AND EXISTS (
    SELECT 1 FROM verification e WHERE e.capture_id = v.capture_id AND e.verdict = 'reproduced' AND e.id < v.id),
  rounds, console, screenshot_id, trace_id, created_at, created_by
FROM verification v;
DROP TABLE verification;
ALTER TABLE reasoned_verification RENAME TO verification;
CREATE INDEX verification_of_ticket ON verification (ticket_id, id);
CREATE INDEX verification_of_capture ON verification (capture_id) WHERE capture_id IS NOT NULL;
CREATE INDEX verification_of_screenshot ON verification (screenshot_id) WHERE screenshot_id IS NOT NULL;
CREATE INDEX verification_of_trace ON verification (trace_id) WHERE trace_id IS NOT NULL;

-- An account can also ask for a link to choose a new password.
CREATE TABLE account_link (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('address', 'password')),
  address TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, purpose)
) STRICT, WITHOUT ROWID;
INSERT INTO account_link SELECT user_id, 'address', address, key_hash, asks, asked_at, expires_at FROM address_change;
DROP TABLE address_change;
