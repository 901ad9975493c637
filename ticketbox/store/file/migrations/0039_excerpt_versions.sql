-- The version of the rules that a capture's excerpt was built by; 0 for what was stored before versions were counted.
ALTER TABLE capture ADD COLUMN excerpt_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX capture_by_excerpt_version ON capture (excerpt_version);
