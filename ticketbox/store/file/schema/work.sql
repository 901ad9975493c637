-- Each claim of a ticket opens a work session. Of the lease, only a hash of its secret is stored. `repository` is what
-- the agent's run works in, as JSON; NULL if it didn't say.
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
  ended_by INTEGER REFERENCES byline (id),
  project_id INTEGER REFERENCES project (id) ON DELETE CASCADE,
  needs_plan_approval INTEGER NOT NULL DEFAULT 0 CHECK (needs_plan_approval IN (0, 1)),
  repository TEXT
) STRICT;
CREATE INDEX work_session_by_expiry ON work_session (expires_at) WHERE ended_at IS NULL;
CREATE INDEX work_session_of_project ON work_session (project_id, id);
CREATE INDEX work_session_of_project_by_state ON work_session (project_id, state, id);
CREATE INDEX work_session_of_ticket ON work_session (ticket_id, id);
CREATE UNIQUE INDEX work_session_open ON work_session (ticket_id) WHERE ended_at IS NULL;

-- Questions of agents, and their requests for approval of a plan or of being done. `column_id` and `resolved` are what
-- happens to the ticket if a request is accepted.
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
  answered_by INTEGER REFERENCES byline (id),
  kind TEXT NOT NULL DEFAULT 'question' CHECK (kind IN ('question', 'plan', 'done')),
  note TEXT,
  column_id INTEGER REFERENCES board_column (id) ON DELETE SET NULL,
  resolved INTEGER CHECK (resolved IN (0, 1))
) STRICT;
CREATE INDEX work_question_of_column ON work_question (column_id) WHERE column_id IS NOT NULL;
CREATE INDEX work_question_of_session ON work_question (session_id, id);

-- What the reproduction of a ticket's bug did on a commit. `bug` names the failure that it looked for, and `expectations`
-- what it expected of the page, both as in `capture`.
CREATE TABLE verification (
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
CREATE INDEX verification_of_capture ON verification (capture_id) WHERE capture_id IS NOT NULL;
CREATE INDEX verification_of_screenshot ON verification (screenshot_id) WHERE screenshot_id IS NOT NULL;
CREATE INDEX verification_of_ticket ON verification (ticket_id, id);
CREATE INDEX verification_of_trace ON verification (trace_id) WHERE trace_id IS NOT NULL;

-- What must be true before a ticket is done. `proposed`: an agent wrote it, and no person has agreed yet. Evidence from
-- before `opened_at` is about another text, or was rejected.
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

-- What shows that a criterion is met, or isn't. `passed` is NULL if it only says or shows something.
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

CREATE TRIGGER work_session_follows_ticket AFTER UPDATE OF project_id ON ticket BEGIN
  UPDATE work_session SET project_id = new.project_id WHERE ticket_id = new.id;
END;
