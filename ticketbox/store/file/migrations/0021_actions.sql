-- A capture has a fourth stream: what the person did. Earlier captures have none.
ALTER TABLE capture ADD COLUMN actions INTEGER REFERENCES blob (id);
CREATE INDEX capture_actions ON capture (actions) WHERE actions IS NOT NULL;
UPDATE capture SET summary = json_set(summary, '$.counts.actions', 0) WHERE summary <> '';

-- A project's policy can leave it out.
ALTER TABLE project ADD COLUMN actions INTEGER NOT NULL DEFAULT 1 CHECK (actions IN (0, 1));
