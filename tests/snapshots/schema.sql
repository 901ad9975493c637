CREATE TABLE address_change (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

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

CREATE TABLE assets_folder (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  path TEXT
) STRICT;

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  ms INTEGER NOT NULL
) STRICT;

CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  encoding TEXT NOT NULL CHECK (encoding IN ('identity', 'zstd')),
  bytes INTEGER NOT NULL,
  data BLOB NOT NULL
, stored INTEGER CHECK (stored IS NULL OR (stored > 0 AND length(data) = 0))) STRICT;

CREATE TABLE board_column (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL
, kind TEXT NOT NULL DEFAULT 'doing' CHECK (kind IN ('todo', 'doing', 'done'))) STRICT;

CREATE TABLE byline (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id),
  credential_id INTEGER REFERENCES credential (id) ON DELETE SET NULL,
  token_id TEXT,
  token_label TEXT,
  via TEXT NOT NULL CHECK (via IN ('web', 'rest', 'mcp', 'extension', 'cli'))
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
  created_by INTEGER NOT NULL REFERENCES byline (id), error_words TEXT NOT NULL DEFAULT '', console_words TEXT NOT NULL DEFAULT '', actions INTEGER REFERENCES blob (id), replay INTEGER REFERENCES blob (id), excerpt_version INTEGER NOT NULL DEFAULT 0, confirmed_at INTEGER, confirmed_by INTEGER REFERENCES byline (id),
  UNIQUE (user_id, client_id)
) STRICT;

CREATE TABLE comment (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  edited_at INTEGER
) STRICT;

CREATE TABLE company (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  reads_per_minute INTEGER,
  writes_per_minute INTEGER,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
, second_factor_required INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE company_storage (
  company_id INTEGER PRIMARY KEY REFERENCES company (id) ON DELETE CASCADE,
  bytes INTEGER NOT NULL
) STRICT;

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
, confirmed_at INTEGER) STRICT;

CREATE TABLE credential_project (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (credential_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  webhook_id INTEGER NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  lane INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL,
  due_at INTEGER,
  first_at INTEGER,
  last_at INTEGER,
  status INTEGER,
  error TEXT,
  ms INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE device (
  secret_hash BLOB NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (secret_hash, user_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE fingerprint (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  likeness TEXT NOT NULL CHECK (likeness IN ('same_error', 'same_message', 'same_page')),
  value INTEGER NOT NULL,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (ticket_id, likeness, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE git_check (
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  head TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'passing', 'failing')),
  changed_at INTEGER NOT NULL, checks INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, head, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE git_delivery (
  id INTEGER PRIMARY KEY,
  hook_id INTEGER NOT NULL REFERENCES git_hook (id) ON DELETE CASCADE,
  body_hash BLOB NOT NULL,
  news BLOB,
  received_at INTEGER NOT NULL,
  UNIQUE (hook_id, body_hash)
) STRICT;

CREATE TABLE git_hook (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  closes_tickets INTEGER NOT NULL CHECK (closes_tickets IN (0, 1)),
  address_hash BLOB NOT NULL UNIQUE,
  secret TEXT NOT NULL,
  old_secret TEXT,
  old_until INTEGER,
  last_delivery_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;

CREATE TABLE git_link (
  id INTEGER PRIMARY KEY,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES project (id) ON DELETE SET NULL,
  kind TEXT NOT NULL CHECK (kind IN ('branch', 'commit', 'pull_request')),
  url TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  state TEXT CHECK (state IN ('open', 'merged', 'closed')),
  head TEXT,
  changed_at INTEGER NOT NULL,
  UNIQUE (ticket_id, url)
) STRICT;

CREATE TABLE idempotency (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  answer BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (credential_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE identity (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject),
  UNIQUE (user_id, issuer)
) STRICT;

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

CREATE TABLE invitation_project (
  invitation_id INTEGER NOT NULL REFERENCES invitation (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (invitation_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL COLLATE NOCASE,
  color TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  UNIQUE (company_id, name)
) STRICT;

CREATE TABLE mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  ticket_id INTEGER REFERENCES ticket (id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'dead')),
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  first_at INTEGER,
  last_at INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL
, notice TEXT, address TEXT) STRICT;

CREATE TABLE mailbox (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('off', 'asked', 'on')),
  mail_key TEXT NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

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

CREATE TABLE member_project (
  member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (member_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;

CREATE TABLE "notification" (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK (reason IN ('mention', 'assignment', 'reply', 'question', 'approval')),
  read_at INTEGER,
  created_at INTEGER NOT NULL
, shown_at INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE oauth_client (
  id INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  fetched_at INTEGER
) STRICT;

CREATE TABLE oauth_grant (
  credential_id INTEGER PRIMARY KEY REFERENCES credential (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES oauth_client (id),
  redirect_uri TEXT NOT NULL,
  audience TEXT NOT NULL CHECK (audience IN ('mcp', 'api'))
) STRICT;

CREATE TABLE oauth_request (
  id INTEGER PRIMARY KEY,
  stage TEXT NOT NULL CHECK (stage IN ('asked', 'granted', 'redeemed')),
  secret_hash BLOB NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES oauth_client (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  challenge TEXT NOT NULL,
  audience TEXT NOT NULL,
  scopes TEXT NOT NULL,
  company TEXT,
  projects TEXT,
  expires_at INTEGER NOT NULL,
  credential_id INTEGER REFERENCES credential (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE oauth_secret (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  opens TEXT NOT NULL CHECK (opens IN ('access', 'refresh')),
  scopes TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  rotated_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE passkey (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  credential_id BLOB NOT NULL UNIQUE,
  credential BLOB NOT NULL,
  sign_count INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE TABLE "preview" (
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('model', 'thumbnail')),
  made_of BLOB NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  PRIMARY KEY (asset_id, purpose)
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
, key TEXT, next_number INTEGER NOT NULL DEFAULT 1, agent_label TEXT NOT NULL DEFAULT 'agent', plan_approval INTEGER NOT NULL DEFAULT 0 CHECK (plan_approval IN (0, 1)), done_approval INTEGER NOT NULL DEFAULT 0 CHECK (done_approval IN (0, 1)), actions INTEGER NOT NULL DEFAULT 1 CHECK (actions IN (0, 1)), verification INTEGER NOT NULL DEFAULT 0 CHECK (verification IN (0, 1)), replay INTEGER NOT NULL DEFAULT 30 CHECK (replay IN (0, 30, 60, 120)), mask_selectors TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(mask_selectors)), page_source_maps INTEGER NOT NULL DEFAULT 1 CHECK (page_source_maps IN (0, 1)), declared_names TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(declared_names)), verifiers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(verifiers))) STRICT;

CREATE TABLE project_key (
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (company_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_request (
  secret_hash BLOB PRIMARY KEY,
  browser_hash BLOB,
  user_id INTEGER REFERENCES user (id) ON DELETE CASCADE,
  data TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_role (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  own_role INTEGER,
  PRIMARY KEY (user_id, company_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_code (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  code_hash BLOB NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE report (
  ticket_id INTEGER PRIMARY KEY REFERENCES ticket (id) ON DELETE CASCADE,
  key_id INTEGER REFERENCES report_key (id) ON DELETE SET NULL,
  receipt_hash BLOB UNIQUE,
  title TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
, user_id TEXT) STRICT;

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
  created_by INTEGER NOT NULL REFERENCES byline (id)
, identity_secret TEXT, old_identity_secret TEXT, old_identity_until INTEGER) STRICT;

CREATE TABLE saved_view (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id),
  name TEXT NOT NULL,
  shared INTEGER NOT NULL CHECK (shared IN (0, 1)),
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;

CREATE VIRTUAL TABLE search USING fts5 (
  ticket, title, branch, description, comments, address, errors, console, scope,
  tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', columnsize = 0
);

CREATE TABLE 'search_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'search_content'(id INTEGER PRIMARY KEY, c0, c1, c2, c3, c4, c5, c6, c7, c8);

CREATE TABLE 'search_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE VIRTUAL TABLE search_term USING fts5vocab (search, instance);

CREATE TABLE second_factor (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  secret BLOB NOT NULL,
  last_step INTEGER NOT NULL DEFAULT 0,
  enabled_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE security_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  action TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed')),
  via TEXT NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  data TEXT NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE setup_key (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_link (
  secret_hash BLOB PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE source_map (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  release TEXT NOT NULL,
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  debug_id TEXT,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;

CREATE TABLE sqlite_sequence(name,seq);

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
, number INTEGER, due_on TEXT CHECK (due_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'), occurrences INTEGER NOT NULL DEFAULT 1 CHECK (occurrences >= 1), due_day INTEGER
  GENERATED ALWAYS AS (ifnull(CAST(replace(due_on, '-', '') AS INTEGER), 100000000)) VIRTUAL, title_key TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE ticket_assignee (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE, project_id INTEGER, status TEXT, updated_at INTEGER, priority INTEGER, due_day INTEGER, title_key TEXT,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_label (
  label TEXT NOT NULL COLLATE NOCASE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE, project_id INTEGER, status TEXT, updated_at INTEGER, priority INTEGER, due_day INTEGER, title_key TEXT,
  PRIMARY KEY (label, ticket_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_link (
  kind TEXT NOT NULL CHECK (kind IN ('blocks', 'duplicates', 'relates', 'parent')),
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  other_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, kind, other_id),
  CHECK (ticket_id <> other_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, ticket_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_number_alias (
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_watcher (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE unresolved_capture (
  capture_id INTEGER PRIMARY KEY REFERENCES capture (id) ON DELETE CASCADE,
  due_at INTEGER NOT NULL
) STRICT;

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT;

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
, branch TEXT) STRICT;

CREATE TABLE webhook (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('standard', 'slack', 'discord')),
  types TEXT,
  secret BLOB NOT NULL,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  failing_since INTEGER,
  seen INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  created_at INTEGER NOT NULL
, old_secret BLOB, old_until INTEGER) STRICT;

CREATE TABLE work_question (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES work_session (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  choices TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  asked_by INTEGER NOT NULL REFERENCES byline (id),
  answer TEXT,
  answered_at INTEGER,
  answered_by INTEGER REFERENCES byline (id)
, kind TEXT NOT NULL DEFAULT 'question' CHECK (kind IN ('question', 'plan', 'done')), note TEXT, column_id INTEGER REFERENCES board_column (id) ON DELETE SET NULL, resolved INTEGER CHECK (resolved IN (0, 1))) STRICT;

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
, project_id INTEGER REFERENCES project (id) ON DELETE CASCADE, needs_plan_approval INTEGER NOT NULL DEFAULT 0
  CHECK (needs_plan_approval IN (0, 1)), repository TEXT) STRICT;

CREATE INDEX alias_of_ticket ON ticket_number_alias (ticket_id);

CREATE INDEX annotation_of_asset ON annotation (asset_id, place);

CREATE INDEX asset_of_blob ON asset (blob_id);

CREATE INDEX asset_of_capture ON asset (capture_id, id);

CREATE INDEX asset_of_ticket ON asset (ticket_id, id);

CREATE TRIGGER asset_storage_added AFTER INSERT ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER asset_storage_changed AFTER UPDATE OF blob_id ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
    - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER asset_storage_removed AFTER DELETE ON asset BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;

CREATE TRIGGER assignee_added AFTER INSERT ON ticket_assignee BEGIN
  UPDATE ticket_assignee SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE ticket_id = new.ticket_id AND user_id = new.user_id;
END;

CREATE INDEX assignment_by_creation ON ticket_assignee (user_id, project_id, status, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX assignment_by_due_date ON ticket_assignee (user_id, project_id, status, due_day, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX assignment_by_priority ON ticket_assignee (user_id, project_id, status, priority, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX assignment_by_title ON ticket_assignee (user_id, project_id, status, title_key, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX assignment_by_update ON ticket_assignee (user_id, project_id, status, updated_at, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX assignment_of_user ON ticket_assignee (user_id, ticket_id);

CREATE INDEX attempt_of_delivery ON attempt (delivery_id, id);

CREATE INDEX byline_of_credential ON byline (credential_id);

CREATE UNIQUE INDEX byline_once ON byline (user_id, ifnull(token_id, ''), via);

CREATE INDEX capture_actions ON capture (actions) WHERE actions IS NOT NULL;

CREATE INDEX capture_by_excerpt_version ON capture (excerpt_version);

CREATE INDEX capture_console ON capture (console);

CREATE INDEX capture_errors ON capture (errors);

CREATE INDEX capture_excerpt ON capture (excerpt);

CREATE INDEX capture_network ON capture (network);

CREATE INDEX capture_of_ticket ON capture (ticket_id, id);

CREATE INDEX capture_replay ON capture (replay) WHERE replay IS NOT NULL;

CREATE TRIGGER capture_storage_added AFTER INSERT ON capture BEGIN
  UPDATE company_storage SET bytes = bytes + (
    SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER capture_storage_changed AFTER UPDATE OF console, errors ON capture BEGIN
  UPDATE company_storage SET bytes = bytes
    + (SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
    - (SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER capture_storage_removed AFTER DELETE ON capture BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;

CREATE INDEX column_of_project ON board_column (project_id, position);

CREATE INDEX comment_of_ticket ON comment (ticket_id, id);

CREATE INDEX company_of_byline ON company (created_by);

CREATE TRIGGER company_storage_added AFTER INSERT ON company BEGIN
  INSERT INTO company_storage (company_id, bytes) VALUES (new.id, 0);
END;

CREATE INDEX credential_of_company ON credential (company_id);

CREATE INDEX credential_of_user ON credential (user_id, kind, id);

CREATE INDEX credential_project_of_project ON credential_project (project_id);

CREATE INDEX delivery_done ON delivery (last_at) WHERE state <> 'pending';

CREATE INDEX delivery_due ON delivery (webhook_id, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX delivery_of_event ON delivery (event_id);

CREATE INDEX delivery_of_webhook ON delivery (webhook_id, id);

CREATE INDEX delivery_waiting ON delivery (webhook_id, lane, id) WHERE state = 'pending';

CREATE INDEX device_by_age ON device (last_used_at);

CREATE INDEX device_of_user ON device (user_id, last_used_at);

CREATE INDEX event_of_company ON event (company_id, id);

CREATE INDEX event_of_company_alone ON event (company_id, id) WHERE project_id IS NULL;

CREATE INDEX event_of_project ON event (project_id, id);

CREATE INDEX event_of_ticket ON event (ticket_id, id);

CREATE INDEX fingerprint_by_value ON fingerprint (company_id, likeness, value, ticket_id);

CREATE INDEX git_check_by_age ON git_check (changed_at);

CREATE INDEX git_delivery_by_age ON git_delivery (received_at);

CREATE INDEX git_delivery_waiting ON git_delivery (hook_id, id) WHERE news IS NOT NULL;

CREATE INDEX git_hook_of_project ON git_hook (project_id, id);

CREATE INDEX git_link_by_head ON git_link (project_id, head) WHERE head IS NOT NULL;

CREATE INDEX git_link_by_url ON git_link (project_id, url);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE INDEX invitation_of_company ON invitation (company_id, id);

CREATE INDEX invitation_project_of_project ON invitation_project (project_id);

CREATE INDEX key_of_project ON project_key (project_id);

CREATE TRIGGER label_added AFTER INSERT ON ticket_label BEGIN
  UPDATE ticket_label SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE label = new.label AND ticket_id = new.ticket_id;
END;

CREATE INDEX label_by_creation ON ticket_label (label, project_id, status, ticket_id) WHERE project_id IS NOT NULL;

CREATE INDEX label_by_creation_in_company ON label (company_id, id);

CREATE INDEX label_by_due_date ON ticket_label (label, project_id, status, due_day, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX label_by_priority ON ticket_label (label, project_id, status, priority, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX label_by_title ON ticket_label (label, project_id, status, title_key, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX label_by_update ON ticket_label (label, project_id, status, updated_at, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE INDEX label_of_ticket ON ticket_label (ticket_id);

CREATE INDEX mail_dead ON mail (last_at) WHERE state = 'dead';

CREATE INDEX mail_due ON mail (due_at, created_at) WHERE state = 'pending';

CREATE INDEX mail_of_ticket ON mail (ticket_id);

CREATE UNIQUE INDEX mail_pending ON mail (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending' AND notice IS NULL;

CREATE INDEX member_of_company ON member (company_id, id);

CREATE INDEX member_project_of_project ON member_project (project_id);

CREATE INDEX mute_of_project ON project_mute (project_id);

CREATE INDEX mute_of_ticket ON ticket_mute (ticket_id);

CREATE INDEX notification_by_age ON notification (shown_at);

CREATE INDEX notification_of_ticket ON notification (ticket_id, reason, user_id);

CREATE INDEX notification_of_user ON notification (user_id, shown_at, id);

CREATE UNIQUE INDEX notification_once ON notification (event_id, user_id);

CREATE INDEX notification_unread ON notification (user_id, shown_at, id) WHERE read_at IS NULL;

CREATE INDEX oauth_client_by_age ON oauth_client (created_at, id);

CREATE INDEX oauth_grant_of_client ON oauth_grant (client_id);

CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);

CREATE INDEX oauth_request_of_client ON oauth_request (client_id);

CREATE INDEX oauth_request_of_credential ON oauth_request (credential_id);

CREATE INDEX oauth_request_of_user ON oauth_request (user_id, stage, id);

CREATE INDEX oauth_secret_by_end ON oauth_secret (expires_at);

CREATE INDEX oauth_secret_of_credential ON oauth_secret (credential_id);

CREATE INDEX passkey_of_user ON passkey (user_id, id);

CREATE INDEX preview_of_blob ON preview (blob_id);

CREATE INDEX project_of_company ON project (company_id, id);

CREATE TRIGGER project_source_maps_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM source_map s JOIN blob b ON b.id = s.blob_id WHERE s.project_id = old.id)
  WHERE company_id = old.company_id;
END;

CREATE TRIGGER project_storage_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0)
    FROM ticket t JOIN asset a ON a.ticket_id = t.id JOIN blob b ON b.id = a.blob_id WHERE t.project_id = old.id
  ) - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM ticket t JOIN capture c ON c.ticket_id = t.id
    JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions, c.replay) WHERE t.project_id = old.id
  )
  WHERE company_id = old.company_id;
END;

CREATE INDEX provider_request_by_end ON provider_request (expires_at);

CREATE INDEX provider_request_of_user ON provider_request (user_id) WHERE user_id IS NOT NULL;

CREATE INDEX provider_role_of_company ON provider_role (company_id);

CREATE INDEX report_key_of_project ON report_key (project_id, id);

CREATE INDEX report_of_key ON report (key_id);

CREATE INDEX saved_view_by_project ON saved_view (project_id, id);

CREATE TRIGGER search_assignee_added AFTER INSERT ON ticket_assignee BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_assignee_removed AFTER DELETE ON ticket_assignee BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_attachment_added AFTER INSERT ON asset WHEN new.kind = 'attachment' BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_attachment_removed AFTER DELETE ON asset WHEN old.kind = 'attachment' BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_capture_removed AFTER DELETE ON capture BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_comment_added AFTER INSERT ON comment BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_comment_changed AFTER UPDATE OF body ON comment BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_comment_removed AFTER DELETE ON comment BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_ticket_added AFTER INSERT ON ticket BEGIN
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.id;
END;

CREATE TRIGGER search_ticket_changed
AFTER UPDATE OF project_id, title, description, status, resolved, priority, labels, branch, source_url, capture_id
ON ticket
WHEN old.project_id <> new.project_id OR old.title <> new.title OR old.description <> new.description
  OR old.status <> new.status OR old.resolved <> new.resolved OR old.priority <> new.priority OR old.labels <> new.labels
  OR old.branch IS NOT new.branch OR old.source_url IS NOT new.source_url OR old.capture_id IS NOT new.capture_id
BEGIN
  DELETE FROM search WHERE rowid = new.id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.id;
END;

CREATE TRIGGER search_ticket_removed AFTER DELETE ON ticket BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;

CREATE VIEW searchable AS
SELECT t.id AS id, t.public_id AS ticket, t.title AS title, ifnull(t.branch, '') AS branch, t.description AS description,
  ifnull((
    SELECT substr(group_concat(text, char(10)), 1, 100000)
    FROM (SELECT substr(c.body, 1, 10000) AS text FROM comment c WHERE c.ticket_id = t.id ORDER BY c.id DESC LIMIT 200)
  ), '') AS comments,
  ifnull(substr(t.source_url, 1, 2000), '') || ifnull((
    SELECT char(10) || group_concat(text, char(10))
    FROM (SELECT DISTINCT substr(k.page ->> 'url', 1, 2000) AS text FROM capture k
          WHERE k.ticket_id = t.id AND k.page ->> 'url' IS NOT t.source_url ORDER BY k.id DESC LIMIT 20)
  ), '') AS address,
  ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.error_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '') AS errors,
  ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.console_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '') AS console,
  'c' || p.company_id || ' p' || t.project_id || ' s' || t.status || ' r' || t.resolved || ' y' || t.priority
  || ifnull((SELECT group_concat(' l' || hex(lower(value)), '') FROM json_each(t.labels)), '')
  || ifnull((SELECT group_concat(' a' || a.user_id, '') FROM ticket_assignee a WHERE a.ticket_id = t.id), ' anone')
  || iif(t.branch IS NULL, '', ' hbranch') || iif(t.capture_id IS NULL, '', ' hcapture')
  || iif(EXISTS (SELECT 1 FROM comment c WHERE c.ticket_id = t.id), ' hcomments', '')
  || iif(EXISTS (SELECT 1 FROM asset f WHERE f.ticket_id = t.id AND f.kind = 'attachment'), ' hattachment', '')
  || iif(EXISTS (SELECT 1 FROM capture k WHERE k.ticket_id = t.id AND k.error_words || k.console_words <> ''),
    ' herrors', '')
  || strftime(' d%Y d%Y%m', t.created_at / 1000, 'unixepoch') AS scope
FROM ticket t JOIN project p ON p.id = t.project_id;

CREATE INDEX security_event_by_age ON security_event (at);

CREATE INDEX security_event_of_user ON security_event (user_id, outcome, id);

CREATE INDEX sign_in_link_of_user ON sign_in_link (user_id);

CREATE INDEX source_map_by_debug_id ON source_map (project_id, debug_id, id) WHERE debug_id IS NOT NULL;

CREATE INDEX source_map_by_file ON source_map (project_id, file, id);

CREATE INDEX source_map_by_time ON source_map (project_id, id);

CREATE INDEX source_map_of_blob ON source_map (blob_id);

CREATE INDEX source_map_of_byline ON source_map (created_by);

CREATE UNIQUE INDEX source_map_of_project ON source_map (project_id, release, name);

CREATE TRIGGER source_map_storage_added AFTER INSERT ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = new.project_id);
END;

CREATE TRIGGER source_map_storage_removed AFTER DELETE ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = old.project_id);
END;

CREATE INDEX ticket_by_creation ON ticket (project_id, status, id);

CREATE INDEX ticket_by_due_date ON ticket (project_id, status, due_day, id);

CREATE UNIQUE INDEX ticket_by_number ON ticket (project_id, number);

CREATE INDEX ticket_by_place ON ticket (column_id, status, position, id);

CREATE INDEX ticket_by_priority ON ticket (project_id, status, priority, id);

CREATE INDEX ticket_by_title ON ticket (project_id, status, title_key, id);

CREATE INDEX ticket_by_update ON ticket (project_id, status, updated_at, id);

CREATE TRIGGER ticket_changed AFTER UPDATE OF project_id, status, updated_at, priority, due_on, title_key ON ticket
WHEN (old.project_id, old.status, old.updated_at, old.priority, old.due_day, old.title_key)
  IS NOT (new.project_id, new.status, new.updated_at, new.priority, new.due_day, new.title_key)
BEGIN
  UPDATE ticket_label SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
  UPDATE ticket_assignee SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
END;

CREATE INDEX ticket_link_of_other ON ticket_link (other_id, kind);

CREATE INDEX ticket_of_capture ON ticket (capture_id) WHERE capture_id IS NOT NULL;

CREATE INDEX ticket_ready ON ticket (column_id, priority DESC, position) WHERE status = 'active' AND resolved = 0;

CREATE INDEX unresolved_capture_due ON unresolved_capture (due_at);

CREATE INDEX verification_of_capture ON verification (capture_id) WHERE capture_id IS NOT NULL;

CREATE INDEX verification_of_screenshot ON verification (screenshot_id) WHERE screenshot_id IS NOT NULL;

CREATE INDEX verification_of_ticket ON verification (ticket_id, id);

CREATE INDEX verification_of_trace ON verification (trace_id) WHERE trace_id IS NOT NULL;

CREATE INDEX watched_by_user ON ticket_watcher (user_id);

CREATE INDEX webhook_of_company ON webhook (company_id, id);

CREATE INDEX work_question_of_column ON work_question (column_id) WHERE column_id IS NOT NULL;

CREATE INDEX work_question_of_session ON work_question (session_id, id);

CREATE INDEX work_session_by_expiry ON work_session (expires_at) WHERE ended_at IS NULL;

CREATE TRIGGER work_session_follows_ticket AFTER UPDATE OF project_id ON ticket BEGIN
  UPDATE work_session SET project_id = new.project_id WHERE ticket_id = new.id;
END;

CREATE INDEX work_session_of_project ON work_session (project_id, id);

CREATE INDEX work_session_of_project_by_state ON work_session (project_id, state, id);

CREATE INDEX work_session_of_ticket ON work_session (ticket_id, id);

CREATE UNIQUE INDEX work_session_open ON work_session (ticket_id) WHERE ended_at IS NULL;

