-- A project's addresses for the webhooks of a repository.
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
CREATE INDEX git_hook_of_project ON git_hook (project_id, id);

-- Deliveries of providers. `changes` is stored until its turn comes, then only the hash, so that each counts once.
CREATE TABLE git_delivery (
  id INTEGER PRIMARY KEY,
  hook_id INTEGER NOT NULL REFERENCES git_hook (id) ON DELETE CASCADE,
  body_hash BLOB NOT NULL,
  changes BLOB,
  received_at INTEGER NOT NULL,
  UNIQUE (hook_id, body_hash)
) STRICT;
CREATE INDEX git_delivery_by_age ON git_delivery (received_at);
CREATE INDEX git_delivery_waiting ON git_delivery (hook_id, id) WHERE changes IS NOT NULL;

-- Branches, commits and pull requests that name a ticket. `project_id` is the hook's: the ticket can have moved since.
-- `head_at` is when `head` became the newest commit.
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
  head_at INTEGER,
  UNIQUE (ticket_id, url)
) STRICT;
CREATE INDEX git_link_by_head ON git_link (project_id, head) WHERE head IS NOT NULL;
CREATE INDEX git_link_by_url ON git_link (project_id, url);

-- Results of checks on a commit. `checks` is how many a provider's report is about; 0 if it doesn't say.
CREATE TABLE git_check (
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  head TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'passing', 'failing')),
  changed_at INTEGER NOT NULL,
  checks INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, head, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_check_by_age ON git_check (changed_at);
