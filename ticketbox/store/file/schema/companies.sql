-- `second_factor_required`: members sign in to the web app only with a second factor.
CREATE TABLE company (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  reads_per_minute INTEGER,
  writes_per_minute INTEGER,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  second_factor_required INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX company_of_byline ON company (created_by);

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

-- `replay` is in seconds; 0 is off. `mask_selectors` are CSS selectors of parts that recordings never show,
-- `declared_names` global variables and meta elements whose values captures contain, `verifiers` public ids of members
-- and tokens whose verifications and evidence count for the project's gates.
CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url_patterns TEXT NOT NULL DEFAULT '[]',
  bodies INTEGER NOT NULL DEFAULT 0,
  extra_redactions TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  key TEXT,
  next_number INTEGER NOT NULL DEFAULT 1,
  agent_label TEXT NOT NULL DEFAULT 'agent',
  plan_approval INTEGER NOT NULL DEFAULT 0 CHECK (plan_approval IN (0, 1)),
  done_approval INTEGER NOT NULL DEFAULT 0 CHECK (done_approval IN (0, 1)),
  actions INTEGER NOT NULL DEFAULT 1 CHECK (actions IN (0, 1)),
  verification INTEGER NOT NULL DEFAULT 0 CHECK (verification IN (0, 1)),
  replay INTEGER NOT NULL DEFAULT 30 CHECK (replay IN (0, 30, 60, 120)),
  mask_selectors TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(mask_selectors)),
  page_source_maps INTEGER NOT NULL DEFAULT 1 CHECK (page_source_maps IN (0, 1)),
  declared_names TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(declared_names)),
  verifiers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(verifiers)),
  page_storage TEXT NOT NULL DEFAULT 'names' CHECK (page_storage IN ('off', 'names', 'shape')),
  criteria INTEGER NOT NULL DEFAULT 0 CHECK (criteria IN (0, 1))
) STRICT;
CREATE INDEX project_of_company ON project (company_id, id);

-- Every key that a project ever had, so that old keys of tickets (WEB-42) still work.
CREATE TABLE project_key (
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (company_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_of_project ON project_key (project_id);

-- A ticket is resolved while it is in a column of kind `done`.
CREATE TABLE board_column (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL DEFAULT 'doing' CHECK (kind IN ('todo', 'doing', 'done'))
) STRICT;
CREATE INDEX column_of_project ON board_column (project_id, position);

-- What a label looks like. Tickets contain the names, `ticket_label` indexes them.
CREATE TABLE label (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL COLLATE NOCASE,
  color TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  UNIQUE (company_id, name)
) STRICT;
CREATE INDEX label_by_creation_in_company ON label (company_id, id);

-- A project's filters, order and display under a name. A view that isn't shared is visible to its owner only.
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
CREATE INDEX saved_view_by_project ON saved_view (project_id, id);
