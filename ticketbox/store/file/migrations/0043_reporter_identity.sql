-- Signed identities of reporters: the secret of a report key, stored as it is because signatures are checked with it, and
-- the id of a person at the site where they reported, if that site signed it.
ALTER TABLE report_key ADD COLUMN identity_secret TEXT;
ALTER TABLE report_key ADD COLUMN old_identity_secret TEXT;
ALTER TABLE report_key ADD COLUMN old_identity_until INTEGER;
ALTER TABLE report ADD COLUMN user_id TEXT;
