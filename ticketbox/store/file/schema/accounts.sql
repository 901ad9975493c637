CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT;

-- API tokens, access tokens of OAuth grants, and web sessions. `shown` is the beginning of the secret, for lists.
-- `confirmed_at` is when the person behind a session last proved who they are.
CREATE TABLE credential (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('api', 'oauth', 'session')),
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  secret_hash BLOB NOT NULL UNIQUE,
  shown TEXT NOT NULL,
  scopes TEXT NOT NULL,
  company_id INTEGER REFERENCES company (id) ON DELETE CASCADE,
  restricted INTEGER NOT NULL DEFAULT 0,
  address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER,
  confirmed_at INTEGER
) STRICT;
CREATE INDEX credential_of_company ON credential (company_id);
CREATE INDEX credential_of_user ON credential (user_id, kind, id);

CREATE TABLE credential_project (
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (credential_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX credential_project_of_project ON credential_project (project_id);

-- Who wrote something, with which token and through which surface. Each combination is stored once.
CREATE TABLE byline (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id),
  credential_id INTEGER REFERENCES credential (id) ON DELETE SET NULL,
  token_id TEXT,
  token_label TEXT,
  via TEXT NOT NULL CHECK (via IN ('web', 'rest', 'mcp', 'extension', 'cli'))
) STRICT;
CREATE INDEX byline_of_credential ON byline (credential_id);
CREATE UNIQUE INDEX byline_once ON byline (user_id, ifnull(token_id, ''), via);

-- The one-time keys of the set-up address; there are none once an owner exists.
CREATE TABLE setup_key (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Links that sign an account in once, which the operator creates on the command line.
CREATE TABLE sign_in_link (
  secret_hash BLOB PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_link_of_user ON sign_in_link (user_id);

-- The authenticator app of an account, and the last time step whose code was used, so that none works twice. Without
-- `enabled_at`, its first code wasn't entered yet. `failures` counts wrong codes in a row.
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

-- Passkeys (WebAuthn). `credential` is the attested credential data (WebAuthn, 6.5.1): the id and the public key.
-- `sign_count` is the authenticator's last count of signatures; 0 if it doesn't count.
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

-- Accounts of an OpenID Connect provider that sign in to an account here.
CREATE TABLE identity (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject),
  UNIQUE (user_id, issuer)
) STRICT;

-- Roles that the provider's groups decide, with the role that the person had without them; NULL: none.
CREATE TABLE provider_role (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  own_role INTEGER,
  PRIMARY KEY (user_id, company_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX provider_role_of_company ON provider_role (company_id);

-- Sign-ins that wait for the provider's answer, by the hash of their state; or, with an identity, for the person's
-- decision to link it. Each is used once.
CREATE TABLE provider_request (
  secret_hash BLOB PRIMARY KEY,
  browser_hash BLOB,
  user_id INTEGER REFERENCES user (id) ON DELETE CASCADE,
  data TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX provider_request_by_end ON provider_request (expires_at);
CREATE INDEX provider_request_of_user ON provider_request (user_id) WHERE user_id IS NOT NULL;

-- Browsers that an account has signed in from, by the hash of the secret in their cookie.
CREATE TABLE device (
  secret_hash BLOB NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (secret_hash, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_by_age ON device (last_used_at);
CREATE INDEX device_of_user ON device (user_id, last_used_at);

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
CREATE INDEX security_event_by_age ON security_event (at);
CREATE INDEX security_event_of_user ON security_event (user_id, outcome, id);

-- Links that an account asked for, with the address that each was sent to: it confirms a new email address, or lets the
-- person choose a new password.
CREATE TABLE account_link (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('address', 'password')),
  address TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE,
  asks INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, purpose)
) STRICT, WITHOUT ROWID;

-- Apps that use OAuth. `client_id` is ours for a registered app, and the address of its metadata document for one that
-- has such a document.
CREATE TABLE oauth_client (
  id INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  fetched_at INTEGER
) STRICT;
CREATE INDEX oauth_client_by_age ON oauth_client (created_at, id);

-- Authorization requests: `asked` (`secret_hash` is that of the consent page's handle), `granted` (that of the code),
-- `redeemed`.
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
CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);
CREATE INDEX oauth_request_of_client ON oauth_request (client_id);
CREATE INDEX oauth_request_of_credential ON oauth_request (credential_id);
CREATE INDEX oauth_request_of_user ON oauth_request (user_id, stage, id);

-- What a grant has beside its credential, which holds the label, the scopes and the restriction.
CREATE TABLE oauth_grant (
  credential_id INTEGER PRIMARY KEY REFERENCES credential (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES oauth_client (id),
  redirect_uri TEXT NOT NULL,
  audience TEXT NOT NULL CHECK (audience IN ('mcp', 'api'))
) STRICT;
CREATE INDEX oauth_grant_of_client ON oauth_grant (client_id);

-- The secrets of a grant. Several are valid at the same time, because the answer to a refresh can get lost. `scopes`
-- narrows one of them.
CREATE TABLE oauth_secret (
  secret_hash BLOB NOT NULL PRIMARY KEY,
  credential_id INTEGER NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
  opens TEXT NOT NULL CHECK (opens IN ('access', 'refresh')),
  scopes TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  rotated_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_secret_by_end ON oauth_secret (expires_at);
CREATE INDEX oauth_secret_of_credential ON oauth_secret (credential_id);
