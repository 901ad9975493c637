-- Keys with which a page or a link reports without an account. A key is public by design, so it is stored as it is; so
-- is the secret that identities of reporters are signed with. `day` counts days since 1970, `day_reports` the reports
-- of that day.
CREATE TABLE report_key (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('script', 'link')),
  name TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  old_key TEXT UNIQUE,
  old_until INTEGER,
  origins TEXT NOT NULL CHECK (json_valid(origins)),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  per_minute INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  day INTEGER NOT NULL DEFAULT 0,
  day_reports INTEGER NOT NULL DEFAULT 0,
  last_report_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  identity_secret TEXT,
  old_identity_secret TEXT,
  old_identity_until INTEGER
) STRICT;
CREATE INDEX report_key_of_project ON report_key (project_id, id);

-- Who reported a ticket. `user_id` is the person's id at the site where they reported, if that site signed it.
CREATE TABLE report (
  ticket_id INTEGER PRIMARY KEY REFERENCES ticket (id) ON DELETE CASCADE,
  key_id INTEGER REFERENCES report_key (id) ON DELETE SET NULL,
  receipt_hash BLOB UNIQUE,
  title TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  user_id TEXT
) STRICT;
CREATE INDEX report_of_key ON report (key_id);
