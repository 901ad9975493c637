-- Verifications: what the reproduction of a ticket's bug did on a commit. A project can require them of agents.

CREATE TABLE verification (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  capture_id INTEGER REFERENCES capture (id) ON DELETE SET NULL,
  commit_hash TEXT NOT NULL,
  base_url TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('reproduced', 'gone', 'different_error', 'not_reached', 'flaky')),
  rounds INTEGER NOT NULL,
  console TEXT NOT NULL,
  screenshot_id INTEGER REFERENCES asset (id) ON DELETE SET NULL,
  trace_id INTEGER REFERENCES asset (id) ON DELETE SET NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX verification_of_ticket ON verification (ticket_id, id);
CREATE INDEX verification_of_capture ON verification (capture_id) WHERE capture_id IS NOT NULL;
CREATE INDEX verification_of_screenshot ON verification (screenshot_id) WHERE screenshot_id IS NOT NULL;
CREATE INDEX verification_of_trace ON verification (trace_id) WHERE trace_id IS NOT NULL;

ALTER TABLE project ADD COLUMN verification INTEGER NOT NULL DEFAULT 0 CHECK (verification IN (0, 1));
