-- Times are epoch milliseconds. Keys inside are integers; public_id is what leaves the file.

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT;

CREATE TABLE company (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  reads_per_minute INTEGER,
  writes_per_minute INTEGER,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url_patterns TEXT NOT NULL DEFAULT '[]',
  bodies INTEGER NOT NULL DEFAULT 0,
  extra_redactions TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX project_of_company ON project (company_id, id);

CREATE TABLE board_column (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT;
CREATE INDEX column_of_project ON board_column (project_id, position);

CREATE TABLE member (
  id INTEGER PRIMARY KEY,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  role INTEGER NOT NULL CHECK (role BETWEEN 0 AND 3),
  all_projects INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  UNIQUE (user_id, company_id)
) STRICT;
CREATE INDEX member_of_company ON member (company_id, id);

CREATE TABLE member_project (
  member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (member_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_project_of_project ON member_project (project_id);

-- API tokens, OAuth grants' access tokens and web sessions: one credential, three carriers.
CREATE TABLE credential (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('api', 'oauth', 'session')),
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  secret_hash BLOB NOT NULL UNIQUE,
  shown TEXT NOT NULL,
  scopes TEXT NOT NULL,
  company_id INTEGER REFERENCES company (id) ON DELETE CASCADE,
  restricted INTEGER NOT NULL DEFAULT 0,
  address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX credential_of_user ON credential (user_id, kind, id);
CREATE INDEX credential_of_company ON credential (company_id);

CREATE TABLE credential_project (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (credential_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX credential_project_of_project ON credential_project (project_id);

-- Who wrote something, with what and by which way: each combination once.
CREATE TABLE byline (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id),
  credential_id INTEGER REFERENCES credential (id) ON DELETE SET NULL,
  token_id TEXT,
  token_label TEXT,
  via TEXT NOT NULL CHECK (via IN ('web', 'rest', 'mcp', 'extension', 'cli'))
) STRICT;
CREATE UNIQUE INDEX byline_once ON byline (user_id, ifnull(token_id, ''), via);
CREATE INDEX byline_of_credential ON byline (credential_id);

CREATE TABLE ticket (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  column_id INTEGER REFERENCES board_column (id) ON DELETE SET NULL,
  position INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  resolved INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 4),
  labels TEXT NOT NULL DEFAULT '[]',
  branch TEXT,
  claimed_by INTEGER REFERENCES byline (id),
  claimed_at INTEGER,
  claimed_until INTEGER,
  source_url TEXT,
  capture_id INTEGER REFERENCES capture (id) ON DELETE SET NULL,
  comment_count INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  updated_at INTEGER NOT NULL,
  updated_by INTEGER NOT NULL REFERENCES byline (id),
  archived_at INTEGER,
  archived_by INTEGER REFERENCES byline (id)
) STRICT;
CREATE INDEX ticket_by_creation ON ticket (project_id, status, id);
CREATE INDEX ticket_by_update ON ticket (project_id, status, updated_at, id);
CREATE INDEX ticket_by_priority ON ticket (project_id, status, priority, id);
CREATE INDEX ticket_by_place ON ticket (column_id, status, position, id);
CREATE INDEX ticket_of_capture ON ticket (capture_id) WHERE capture_id IS NOT NULL;

CREATE TABLE ticket_label (
  label TEXT NOT NULL COLLATE NOCASE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (label, ticket_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_of_ticket ON ticket_label (ticket_id);

CREATE TABLE ticket_assignee (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignment_of_user ON ticket_assignee (user_id, ticket_id);

CREATE TABLE comment (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  edited_at INTEGER
) STRICT;
CREATE INDEX comment_of_ticket ON comment (ticket_id, id);

-- Content-addressed: the same bytes are kept once. encoding says how data is packed.
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  encoding TEXT NOT NULL CHECK (encoding IN ('identity', 'zstd')),
  bytes INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;

CREATE TABLE capture (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  captured_at INTEGER NOT NULL,
  page TEXT NOT NULL,
  environment TEXT NOT NULL,
  health TEXT NOT NULL,
  redaction TEXT NOT NULL,
  summary TEXT NOT NULL,
  excerpt INTEGER NOT NULL REFERENCES blob (id),
  console INTEGER NOT NULL REFERENCES blob (id),
  network INTEGER NOT NULL REFERENCES blob (id),
  errors INTEGER NOT NULL REFERENCES blob (id),
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  UNIQUE (user_id, client_id)
) STRICT;
CREATE INDEX capture_of_ticket ON capture (ticket_id, id);
CREATE INDEX capture_excerpt ON capture (excerpt);
CREATE INDEX capture_console ON capture (console);
CREATE INDEX capture_network ON capture (network);
CREATE INDEX capture_errors ON capture (errors);

CREATE TABLE asset (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  capture_id INTEGER REFERENCES capture (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('screenshot', 'attachment')),
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER,
  height INTEGER,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX asset_of_ticket ON asset (ticket_id, id);
CREATE INDEX asset_of_capture ON asset (capture_id, id);
CREATE INDEX asset_of_blob ON asset (blob_id);

CREATE TABLE annotation (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  kind TEXT NOT NULL,
  geometry TEXT NOT NULL,
  color TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX annotation_of_asset ON annotation (asset_id, place);

-- One table for history, the event stream, webhooks and the audit log. Keys are never used twice.
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES project (id) ON DELETE SET NULL,
  ticket_id INTEGER REFERENCES ticket (id) ON DELETE SET NULL,
  byline_id INTEGER NOT NULL REFERENCES byline (id),
  data TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_of_ticket ON event (ticket_id, id);
CREATE INDEX event_of_project ON event (project_id, id);
CREATE INDEX event_of_company ON event (company_id, id);
CREATE INDEX event_of_company_alone ON event (company_id, id) WHERE project_id IS NULL;

CREATE TABLE idempotency (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  answer BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (credential_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE invitation (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  email TEXT,
  role INTEGER NOT NULL CHECK (role BETWEEN 0 AND 3),
  all_projects INTEGER NOT NULL DEFAULT 1,
  secret_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER
) STRICT;
CREATE INDEX invitation_of_company ON invitation (company_id, id);

CREATE TABLE invitation_project (
  invitation_id INTEGER NOT NULL REFERENCES invitation (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (invitation_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_project_of_project ON invitation_project (project_id);

-- The one-time key of the set-up address; empty once an owner exists.
CREATE TABLE setup_key (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
