-- Replays have no pictures any more. Deleting them first lets the triggers subtract what the companies stored.
DELETE FROM replay_frame;
DROP TRIGGER project_replay_frames_removed;
DROP TABLE replay_frame;
UPDATE capture SET health = json_remove(health, '$.frames') WHERE health ->> 'frames' IS NOT NULL;

-- The file's header has the schema number now, and excerpts of captures have no versions.
DROP TABLE migration;
DROP INDEX capture_by_excerpt_version;
ALTER TABLE capture DROP COLUMN excerpt_version;

-- A capture names the failure that it is about, and who chose it.
ALTER TABLE capture ADD COLUMN bug TEXT;
ALTER TABLE capture ADD COLUMN bug_text TEXT;
ALTER TABLE capture ADD COLUMN bug_at INTEGER;
ALTER TABLE capture ADD COLUMN bug_by INTEGER REFERENCES byline (id);

-- What people say is wrong on a captured page; what is confirmed is the bug.
ALTER TABLE capture ADD COLUMN expectations TEXT NOT NULL DEFAULT '[]';
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

ALTER TABLE fingerprint RENAME COLUMN likeness TO similarity;
ALTER TABLE git_delivery RENAME COLUMN news TO changes;

-- A verification can be unproven, has the reason of its verdict, names the failure that it looked for, and says whether
-- it is proven: the bug is gone, and an earlier run saw it.

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
  bug TEXT,
  expectations TEXT NOT NULL DEFAULT '[]',
  rounds INTEGER NOT NULL,
  live INTEGER NOT NULL DEFAULT 0 CHECK (live IN (0, 1)),
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
  NULL, '[]', rounds, 0, console, screenshot_id, trace_id, created_at, created_by
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

-- A ticket shows its richest capture.
UPDATE ticket SET capture_id = (
  SELECT k.id FROM capture k WHERE k.ticket_id = ticket.id
  ORDER BY k.replay IS NULL, k.summary ->> '$.screenshot_id' IS NULL, k.id DESC LIMIT 1
) WHERE capture_id IS NOT NULL;

-- The search index separates the words of every script.
DROP TABLE search_term;
DROP TABLE search;
DROP VIEW searchable;
CREATE VIRTUAL TABLE search USING fts5 (
  ticket, title, branch, description, comments, address, errors, console, scope,
  tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', columnsize = 0
);
CREATE VIRTUAL TABLE search_term USING fts5vocab (search, instance);
CREATE VIEW searchable AS
SELECT t.id AS id, t.public_id AS ticket, separate_words(t.title) AS title,
  separate_words(ifnull(t.branch, '')) AS branch, separate_words(t.description) AS description,
  separate_words(ifnull((
    SELECT substr(group_concat(text, char(10)), 1, 100000)
    FROM (SELECT substr(c.body, 1, 10000) AS text FROM comment c WHERE c.ticket_id = t.id ORDER BY c.id DESC LIMIT 200)
  ), '')) AS comments,
  separate_words(ifnull(substr(t.source_url, 1, 2000), '') || ifnull((
    SELECT char(10) || group_concat(text, char(10))
    FROM (SELECT DISTINCT substr(k.page ->> 'url', 1, 2000) AS text FROM capture k
          WHERE k.ticket_id = t.id AND k.page ->> 'url' IS NOT t.source_url ORDER BY k.id DESC LIMIT 20)
  ), '')) AS address,
  separate_words(ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.error_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '')) AS errors,
  separate_words(ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.console_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '')) AS console,
  'c' || p.company_id || ' p' || t.project_id || ' s' || t.status || ' r' || t.resolved || ' y' || t.priority
  || ifnull((SELECT group_concat(' l' || hex(lower(value)), '') FROM json_each(t.labels)), '')
  || ifnull((SELECT group_concat(' a' || a.user_id, '') FROM ticket_assignee a WHERE a.ticket_id = t.id), ' anone')
  || iif(t.branch IS NULL, '', ' hbranch')
  || iif(EXISTS (SELECT 1 FROM capture k WHERE k.ticket_id = t.id), ' hcapture', '')
  || iif(EXISTS (SELECT 1 FROM comment c WHERE c.ticket_id = t.id), ' hcomments', '')
  || iif(EXISTS (SELECT 1 FROM asset f WHERE f.ticket_id = t.id AND f.kind = 'attachment'), ' hattachment', '')
  || iif(EXISTS (SELECT 1 FROM capture k WHERE k.ticket_id = t.id AND k.error_words || k.console_words <> ''),
    ' herrors', '')
  || strftime(' d%Y d%Y%m', t.created_at / 1000, 'unixepoch') AS scope
FROM ticket t JOIN project p ON p.id = t.project_id;
DROP TRIGGER search_ticket_changed;
CREATE TRIGGER search_ticket_changed
AFTER UPDATE OF project_id, title, description, status, resolved, priority, labels, branch, source_url
ON ticket
WHEN old.project_id <> new.project_id OR old.title <> new.title OR old.description <> new.description
  OR old.status <> new.status OR old.resolved <> new.resolved OR old.priority <> new.priority
  OR old.labels <> new.labels OR old.branch IS NOT new.branch OR old.source_url IS NOT new.source_url
BEGIN
  DELETE FROM search WHERE rowid = new.id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.id;
END;
CREATE TRIGGER search_capture_added AFTER INSERT ON capture BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;
INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
SELECT * FROM searchable;

ALTER TABLE project ADD COLUMN page_storage TEXT NOT NULL DEFAULT 'names'
  CHECK (page_storage IN ('off', 'names', 'shape'));
ALTER TABLE project ADD COLUMN criteria INTEGER NOT NULL DEFAULT 0 CHECK (criteria IN (0, 1));
ALTER TABLE git_link ADD COLUMN head_at INTEGER;
UPDATE git_link SET head_at = changed_at WHERE head IS NOT NULL;

-- Tickets have acceptance criteria, with evidence.
CREATE TABLE criterion (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'met', 'waived')),
  proposed INTEGER NOT NULL CHECK (proposed IN (0, 1)),
  opened_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX criterion_of_ticket ON criterion (ticket_id, id);

CREATE TABLE evidence (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  criterion_id INTEGER NOT NULL REFERENCES criterion (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('verification', 'command', 'check', 'picture', 'statement')),
  grade TEXT NOT NULL CHECK (grade IN ('stated', 'checked', 'accepted')),
  text TEXT NOT NULL,
  passed INTEGER CHECK (passed IN (0, 1)),
  exit_status INTEGER,
  duration_ms INTEGER,
  output TEXT NOT NULL,
  commit_hash TEXT,
  dirty INTEGER NOT NULL CHECK (dirty IN (0, 1)),
  verification_id INTEGER REFERENCES verification (id) ON DELETE SET NULL,
  picture_id INTEGER REFERENCES asset (id) ON DELETE SET NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX evidence_of_criterion ON evidence (criterion_id, id);
CREATE INDEX evidence_of_picture ON evidence (picture_id) WHERE picture_id IS NOT NULL;
CREATE INDEX evidence_of_verification ON evidence (verification_id) WHERE verification_id IS NOT NULL;
