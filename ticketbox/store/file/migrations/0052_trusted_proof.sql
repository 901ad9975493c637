-- A capture that somebody without an account sent proves nothing to a gate until a member has confirmed it. A project can
-- name the members and tokens whose verifications count for its gate, by their public ids.
ALTER TABLE capture ADD COLUMN confirmed_at INTEGER;
ALTER TABLE capture ADD COLUMN confirmed_by INTEGER REFERENCES byline (id);
UPDATE capture SET summary = json_set(summary, '$.external', json(
  CASE WHEN created_by IN (SELECT id FROM byline WHERE token_id GLOB 'rpk_*') THEN 'true' ELSE 'false' END))
  WHERE summary <> '';
ALTER TABLE project ADD COLUMN verifiers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(verifiers));
