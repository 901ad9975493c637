-- What happened to an account's credentials. Repeated refusals from one address are one row, which counts them.
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
CREATE INDEX security_event_of_user ON security_event (user_id, outcome, id);
CREATE INDEX security_event_by_age ON security_event (at);

-- Browsers that an account has signed in from, by the hash of the secret in their cookie.
CREATE TABLE device (
  secret_hash BLOB NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (secret_hash, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_of_user ON device (user_id, last_used_at);
CREATE INDEX device_by_age ON device (last_used_at);

-- A mail about the account: what it says, as JSON, and the address that it goes to.
ALTER TABLE mail ADD COLUMN notice TEXT;
ALTER TABLE mail ADD COLUMN address TEXT;
DROP INDEX mail_pending;
CREATE UNIQUE INDEX mail_pending ON mail (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending' AND notice IS NULL;
