-- Links between tickets of one company: `ticket_id` blocks or duplicates `other_id`, or has it as its parent. For
-- `relates`, which has no direction, `ticket_id` is the smaller key.

CREATE TABLE ticket_link (
  kind TEXT NOT NULL CHECK (kind IN ('blocks', 'duplicates', 'relates', 'parent')),
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  other_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, kind, other_id),
  CHECK (ticket_id <> other_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_link_of_other ON ticket_link (other_id, kind);
