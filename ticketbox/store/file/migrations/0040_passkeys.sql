-- Passkeys (WebAuthn) of accounts. `credential` is the attested credential data (WebAuthn, 6.5.1): the id and the public
-- key. `sign_count` is the authenticator's last count of signatures; 0 if it doesn't count.
CREATE TABLE passkey (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  credential_id BLOB NOT NULL UNIQUE,
  credential BLOB NOT NULL,
  sign_count INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX passkey_of_user ON passkey (user_id, id);
