-- `due_on` is a day without a time zone, as in RFC 3339; `due_day` is the same as a number that lists sort by, with
-- tickets without one last. `title_key` is the title as lists sort it (`build_title_key`). `occurrences` counts how
-- often the bug was seen.
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
  archived_by INTEGER REFERENCES byline (id),
  number INTEGER,
  due_on TEXT CHECK (due_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  occurrences INTEGER NOT NULL DEFAULT 1 CHECK (occurrences >= 1),
  due_day INTEGER GENERATED ALWAYS AS (ifnull(CAST(replace(due_on, '-', '') AS INTEGER), 100000000)) VIRTUAL,
  title_key TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX ticket_by_creation ON ticket (project_id, status, id);
CREATE INDEX ticket_by_due_date ON ticket (project_id, status, due_day, id);
CREATE UNIQUE INDEX ticket_by_number ON ticket (project_id, number);
CREATE INDEX ticket_by_place ON ticket (column_id, status, position, id);
CREATE INDEX ticket_by_priority ON ticket (project_id, status, priority, id);
CREATE INDEX ticket_by_title ON ticket (project_id, status, title_key, id);
CREATE INDEX ticket_by_update ON ticket (project_id, status, updated_at, id);
CREATE INDEX ticket_of_capture ON ticket (capture_id) WHERE capture_id IS NOT NULL;
CREATE INDEX ticket_ready ON ticket (column_id, priority DESC, position) WHERE status = 'active' AND resolved = 0;

-- Numbers of tickets in projects that they left, so that old keys still work.
CREATE TABLE ticket_number_alias (
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_of_ticket ON ticket_number_alias (ticket_id);

-- A list by label or assignee reads one page of an index in its own order, as every other list does. For that, labels
-- and assignments contain a copy of what lists filter and sort by. Only the triggers below write it.
CREATE TABLE ticket_label (
  label TEXT NOT NULL COLLATE NOCASE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  project_id INTEGER,
  status TEXT,
  updated_at INTEGER,
  priority INTEGER,
  due_day INTEGER,
  title_key TEXT,
  PRIMARY KEY (label, ticket_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_by_creation ON ticket_label (label, project_id, status, ticket_id) WHERE project_id IS NOT NULL;
CREATE INDEX label_by_due_date ON ticket_label (label, project_id, status, due_day, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX label_by_priority ON ticket_label (label, project_id, status, priority, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX label_by_title ON ticket_label (label, project_id, status, title_key, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX label_by_update ON ticket_label (label, project_id, status, updated_at, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX label_of_ticket ON ticket_label (ticket_id);

CREATE TABLE ticket_assignee (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  project_id INTEGER,
  status TEXT,
  updated_at INTEGER,
  priority INTEGER,
  due_day INTEGER,
  title_key TEXT,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;
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

-- Links between tickets of one company: `ticket_id` blocks or duplicates `other_id`, or has it as its parent. For
-- `relates`, which has no direction, `ticket_id` is the smaller key.
CREATE TABLE ticket_link (
  kind TEXT NOT NULL CHECK (kind IN ('blocks', 'duplicates', 'relates', 'parent')),
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  other_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, kind, other_id),
  CHECK (ticket_id <> other_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_link_of_other ON ticket_link (other_id, kind);

-- Watchers of a ticket are notified of comments and questions.
CREATE TABLE ticket_watcher (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watched_by_user ON ticket_watcher (user_id);

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

-- What makes tickets similar: fingerprints of errors and pages. A ticket never changes its company, so the newest
-- tickets of a company with a fingerprint are one range of the index.
CREATE TABLE fingerprint (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  similarity TEXT NOT NULL CHECK (similarity IN ('same_error', 'same_message', 'same_page')),
  value INTEGER NOT NULL,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (ticket_id, similarity, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX fingerprint_by_value ON fingerprint (company_id, similarity, value, ticket_id);

CREATE TRIGGER assignee_added AFTER INSERT ON ticket_assignee BEGIN
  UPDATE ticket_assignee SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE ticket_id = new.ticket_id AND user_id = new.user_id;
END;

CREATE TRIGGER label_added AFTER INSERT ON ticket_label BEGIN
  UPDATE ticket_label SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE label = new.label AND ticket_id = new.ticket_id;
END;

CREATE TRIGGER ticket_changed AFTER UPDATE OF project_id, status, updated_at, priority, due_on, title_key ON ticket
WHEN (old.project_id, old.status, old.updated_at, old.priority, old.due_day, old.title_key)
  IS NOT (new.project_id, new.status, new.updated_at, new.priority, new.due_day, new.title_key)
BEGIN
  UPDATE ticket_label SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
  UPDATE ticket_assignee SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
END;
