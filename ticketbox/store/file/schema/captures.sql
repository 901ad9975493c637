-- `error_words` and `console_words` are what the search index has of the streams. A capture that somebody without an
-- account sent counts for a gate only when a member has confirmed it. `bug` names the failure that it is about in JSON;
-- `bug_at` and `bug_by` are set if a person chose it. `expectations` lists the confirmed ones in JSON, with id and words:
-- if there are any, they are the bug, and the failure only if a person chose it.
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
  error_words TEXT NOT NULL DEFAULT '',
  console_words TEXT NOT NULL DEFAULT '',
  actions INTEGER REFERENCES blob (id),
  replay INTEGER REFERENCES blob (id),
  confirmed_at INTEGER,
  confirmed_by INTEGER REFERENCES byline (id),
  bug TEXT,
  bug_text TEXT,
  bug_at INTEGER,
  bug_by INTEGER REFERENCES byline (id),
  expectations TEXT NOT NULL DEFAULT '[]',
  UNIQUE (user_id, client_id)
) STRICT;
CREATE INDEX capture_actions ON capture (actions) WHERE actions IS NOT NULL;
CREATE INDEX capture_console ON capture (console);
CREATE INDEX capture_errors ON capture (errors);
CREATE INDEX capture_excerpt ON capture (excerpt);
CREATE INDEX capture_network ON capture (network);
CREATE INDEX capture_of_ticket ON capture (ticket_id, id);
CREATE INDEX capture_replay ON capture (replay) WHERE replay IS NOT NULL;

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
CREATE INDEX asset_of_blob ON asset (blob_id);
CREATE INDEX asset_of_capture ON asset (capture_id, id);
CREATE INDEX asset_of_ticket ON asset (ticket_id, id);

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

-- What somebody says is wrong on a captured page. `content` is what was sent, redacted, in JSON, and `words` the sentence.
CREATE TABLE expectation (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  capture_id INTEGER NOT NULL REFERENCES capture (id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  words TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  confirmed_at INTEGER,
  confirmed_by INTEGER REFERENCES byline (id)
) STRICT;
CREATE INDEX expectation_of_capture ON expectation (capture_id, id);

-- A screenshot with its annotations, scaled for a model or for a card. It can be drawn again at any time from what
-- `made_of` is a digest of.
CREATE TABLE preview (
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('model', 'thumbnail')),
  made_of BLOB NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  PRIMARY KEY (asset_id, purpose)
) STRICT;
CREATE INDEX preview_of_blob ON preview (blob_id);

-- Source maps of a project's bundles, by release and by the script's path. `file` is the last part of that path.
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
CREATE INDEX source_map_by_debug_id ON source_map (project_id, debug_id, id) WHERE debug_id IS NOT NULL;
CREATE INDEX source_map_by_file ON source_map (project_id, file, id);
CREATE INDEX source_map_by_time ON source_map (project_id, id);
CREATE INDEX source_map_of_blob ON source_map (blob_id);
CREATE INDEX source_map_of_byline ON source_map (created_by);
CREATE UNIQUE INDEX source_map_of_project ON source_map (project_id, release, name);

-- Captures whose stacks are looked up in the project's source maps at a time.
CREATE TABLE unresolved_capture (
  capture_id INTEGER PRIMARY KEY REFERENCES capture (id) ON DELETE CASCADE,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX unresolved_capture_due ON unresolved_capture (due_at);
