-- The file's header has the schema number now, and excerpts of captures have no versions.
DROP TABLE migration;
DROP INDEX capture_by_excerpt_version;
ALTER TABLE capture DROP COLUMN excerpt_version;
