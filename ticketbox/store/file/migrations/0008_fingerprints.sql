-- What makes tickets look alike: fingerprints of errors and pages (ticketbox/domain/fingerprints.py). The company never
-- changes, so the newest tickets of a company with a fingerprint are one range of the index.
CREATE TABLE fingerprint (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  likeness TEXT NOT NULL CHECK (likeness IN ('same_error', 'same_message', 'same_page')),
  value INTEGER NOT NULL,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (ticket_id, likeness, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX fingerprint_by_value ON fingerprint (company_id, likeness, value, ticket_id);

INSERT OR IGNORE INTO fingerprint (ticket_id, likeness, value, company_id, label)
  SELECT k.ticket_id, j.value ->> 0, j.value ->> 1, p.company_id, j.value ->> 2
  FROM capture k JOIN blob b ON b.id = k.errors JOIN ticket t ON t.id = k.ticket_id JOIN project p ON p.id = t.project_id,
    json_each(error_prints(b.encoding, b.data)) j
  WHERE step('reading errors', k.id);
INSERT OR IGNORE INTO fingerprint (ticket_id, likeness, value, company_id, label)
  SELECT t.id, j.value ->> 0, j.value ->> 1, p.company_id, j.value ->> 2
  FROM capture k JOIN ticket t ON t.id = k.ticket_id JOIN project p ON p.id = t.project_id,
    json_each(page_prints(k.page ->> 'url')) j
  WHERE step('reading pages', k.id);
INSERT OR IGNORE INTO fingerprint (ticket_id, likeness, value, company_id, label)
  SELECT t.id, j.value ->> 0, j.value ->> 1, p.company_id, j.value ->> 2
  FROM ticket t JOIN project p ON p.id = t.project_id, json_each(page_prints(t.source_url)) j
  WHERE t.source_url IS NOT NULL AND step('reading addresses', t.id);
