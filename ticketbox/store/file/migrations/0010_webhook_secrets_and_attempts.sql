-- A webhook's secret can be changed: the one before signs too, until a time.
ALTER TABLE webhook ADD COLUMN old_secret BLOB;
ALTER TABLE webhook ADD COLUMN old_until INTEGER;

-- Each attempt at a delivery; the delivery itself carries the last one's outcome.
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  ms INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_of_delivery ON attempt (delivery_id, id);

INSERT INTO attempt (delivery_id, at, status, error, ms)
  SELECT id, last_at, status, error, ms FROM delivery WHERE attempts > 0 AND last_at IS NOT NULL AND ms IS NOT NULL;
