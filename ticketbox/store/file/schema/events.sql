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
CREATE INDEX event_of_company ON event (company_id, id);
CREATE INDEX event_of_company_alone ON event (company_id, id) WHERE project_id IS NULL;
CREATE INDEX event_of_project ON event (project_id, id);
CREATE INDEX event_of_ticket ON event (ticket_id, id);

-- A notification is listed from `shown_at` on: when it was created, or the end of its snooze.
CREATE TABLE notification (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK (reason IN ('mention', 'assignment', 'reply', 'question', 'approval')),
  read_at INTEGER,
  created_at INTEGER NOT NULL,
  shown_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notification_by_age ON notification (shown_at);
CREATE INDEX notification_of_ticket ON notification (ticket_id, reason, user_id);
CREATE INDEX notification_of_user ON notification (user_id, shown_at, id);
CREATE UNIQUE INDEX notification_once ON notification (event_id, user_id);
CREATE INDEX notification_unread ON notification (user_id, shown_at, id) WHERE read_at IS NULL;

CREATE TABLE project_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mute_of_project ON project_mute (project_id);

CREATE TABLE ticket_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, ticket_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mute_of_ticket ON ticket_mute (ticket_id);

-- Email addresses for notifications. An address is written to only when its reader has confirmed it. `mail_key` is in
-- every email; it only turns emails on and off. `asks` and `asked_at` limit how often an address is asked to confirm.
CREATE TABLE mailbox (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('off', 'asked', 'on')),
  mail_key TEXT NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

-- Emails to send: about a ticket, of the notifications from a first one on; about the account, with a `notice` as JSON
-- and the address it goes to; without either, the question whether the person wants emails. The text is composed when
-- it is sent, and then the row is deleted. Keys are never used twice.
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
  created_at INTEGER NOT NULL,
  notice TEXT,
  address TEXT
) STRICT;
CREATE INDEX mail_dead ON mail (last_at) WHERE state = 'dead';
CREATE INDEX mail_due ON mail (due_at, created_at) WHERE state = 'pending';
CREATE INDEX mail_of_ticket ON mail (ticket_id);
CREATE UNIQUE INDEX mail_pending ON mail (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending' AND notice IS NULL;

-- `seen` is the key of the last event that was turned into deliveries; it advances in their transaction. A replaced
-- secret signs as well until `old_until`.
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
  created_at INTEGER NOT NULL,
  old_secret BLOB,
  old_until INTEGER
) STRICT;
CREATE INDEX webhook_of_company ON webhook (company_id, id);

-- Deliveries of a lane keep their order: those about one ticket, or (0) about the company as a whole. Only the first
-- pending one of a lane has a time at which it is due.
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
CREATE INDEX delivery_done ON delivery (last_at) WHERE state <> 'pending';
CREATE INDEX delivery_due ON delivery (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_of_event ON delivery (event_id);
CREATE INDEX delivery_of_webhook ON delivery (webhook_id, id);
CREATE INDEX delivery_waiting ON delivery (webhook_id, lane, id) WHERE state = 'pending';

-- Each attempt of a delivery, which itself has the last one's outcome.
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  ms INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_of_delivery ON attempt (delivery_id, id);
