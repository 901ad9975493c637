-- When the person behind a session last entered the password; NULL in sessions of earlier versions.
ALTER TABLE credential ADD COLUMN confirmed_at INTEGER;

-- A new address that waits for its link to be opened, once for each account.
CREATE TABLE address_change (
  user_id INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
