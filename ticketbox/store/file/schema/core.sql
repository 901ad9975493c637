-- Times are milliseconds since 1970, unless a comment says otherwise. Tables refer to each other by integer keys; only
-- `public_id` leaves the file.

-- Stored contents, by hash: the same bytes are stored once. `encoding` says how `data` is packed, and `bytes` is the
-- unpacked length. A content in the assets folder has empty `data`; `stored` is then the length of its file.
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  encoding TEXT NOT NULL CHECK (encoding IN ('identity', 'zstd')),
  bytes INTEGER NOT NULL,
  data BLOB NOT NULL,
  stored INTEGER CHECK (stored IS NULL OR (stored > 0 AND length(data) = 0))
) STRICT;

-- Where the assets folder is: the files are in its subfolder `name`. Without a path it is beside the database, with
-- its name and `.assets`, as with every backup (docs/operate/assets.md).
CREATE TABLE assets_folder (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  path TEXT
) STRICT;

-- Answers to calls with an Idempotency-Key, to be sent again if the call is repeated.
CREATE TABLE idempotency (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  answer BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (credential_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
