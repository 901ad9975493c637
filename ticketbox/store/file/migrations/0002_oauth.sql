-- OAuth: the apps that ask, what a person granted, and the secrets that stand for it.

-- client_id is ours for a registered app, and the address of its metadata document for one that has that.
CREATE TABLE oauth_client (
  id INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  fetched_at INTEGER
) STRICT;
CREATE INDEX oauth_client_by_age ON oauth_client (created_at, id);

-- A request on its way: asked (secret_hash is the consent page's handle), granted (the code), redeemed.
CREATE TABLE oauth_request (
  id INTEGER PRIMARY KEY,
  stage TEXT NOT NULL CHECK (stage IN ('asked', 'granted', 'redeemed')),
  secret_hash BLOB NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES oauth_client (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  challenge TEXT NOT NULL,
  audience TEXT NOT NULL,
  scopes TEXT NOT NULL,
  company TEXT,
  projects TEXT,
  expires_at INTEGER NOT NULL,
  credential_id INTEGER REFERENCES credential (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX oauth_request_of_user ON oauth_request (user_id, stage, id);
CREATE INDEX oauth_request_of_client ON oauth_request (client_id);
CREATE INDEX oauth_request_of_credential ON oauth_request (credential_id);
CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);

-- What a grant has beside its credential, which holds the label, the scopes and the restriction.
CREATE TABLE oauth_grant (
  credential_id INTEGER PRIMARY KEY REFERENCES credential (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES oauth_client (id),
  redirect_uri TEXT NOT NULL,
  audience TEXT NOT NULL CHECK (audience IN ('mcp', 'api'))
) STRICT;
CREATE INDEX oauth_grant_of_client ON oauth_grant (client_id);

-- The secrets of a grant. Many hold at once, because the answer to a refresh can get lost. scopes narrows one of them.
CREATE TABLE oauth_secret (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  opens TEXT NOT NULL CHECK (opens IN ('access', 'refresh')),
  scopes TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  rotated_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_secret_of_credential ON oauth_secret (credential_id);
CREATE INDEX oauth_secret_by_end ON oauth_secret (expires_at);
