-- E-mail for notifications: who wants it, and the outbox of what is still to go.

-- An address is written to once whoever reads it has said yes. The key stands in every mail; it lets them say yes or
-- no, and opens nothing else. asks and asked_at bound how often an address that hasn't said yes is asked.
CREATE TABLE mailbox (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('off', 'asked', 'on')),
  mail_key TEXT NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

-- One mail to a person: about a ticket, of the notifications from a first one on, or without a ticket the question
-- whether they want any. What it says is found out when it goes, and then its row goes as well; whatever is on its way
-- is known by a key that is never another's.
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
) STRICT;
CREATE UNIQUE INDEX mail_pending ON mail (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending';
CREATE INDEX mail_of_ticket ON mail (ticket_id);
CREATE INDEX mail_due ON mail (due_at, created_at) WHERE state = 'pending';
CREATE INDEX mail_dead ON mail (last_at) WHERE state = 'dead';
