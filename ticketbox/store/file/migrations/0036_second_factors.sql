-- The authenticator app of an account, and the last time step whose code was used, so that none works twice.
-- Without `enabled_at`, its first code wasn't entered yet. `failures` are wrong codes in a row.
CREATE TABLE second_factor (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  secret BLOB NOT NULL,
  last_step INTEGER NOT NULL DEFAULT 0,
  enabled_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Codes that replace the app's, once each.
CREATE TABLE recovery_code (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  code_hash BLOB NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;
