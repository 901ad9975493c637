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

-- Links that sign an account in once, which the operator creates on the command line.
CREATE TABLE sign_in_link (
  secret_hash BLOB PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_link_of_user ON sign_in_link (user_id);
