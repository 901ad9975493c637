-- A company's labels have a colour and a description. They are made from the labels of its tickets; tickets keep the
-- names, and the index of names (ticket_label) stays.

CREATE TABLE label (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL COLLATE NOCASE,
  color TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  UNIQUE (company_id, name)
) STRICT;
CREATE INDEX label_by_creation_in_company ON label (company_id, id);

INSERT INTO label (public_id, company_id, name, color)
  SELECT 'lbl_' || lower(hex(randomblob(6))), company_id, name,
    CASE (row_number() OVER (PARTITION BY company_id ORDER BY first, name) - 1) % 9
      WHEN 0 THEN 'blue' WHEN 1 THEN 'green' WHEN 2 THEN 'orange' WHEN 3 THEN 'pink' WHEN 4 THEN 'teal'
      WHEN 5 THEN 'yellow' WHEN 6 THEN 'red' WHEN 7 THEN 'brown' ELSE 'gray' END
  FROM (
    SELECT p.company_id AS company_id, l.label AS name, min(l.ticket_id) AS first
    FROM ticket_label l JOIN ticket t ON t.id = l.ticket_id JOIN project p ON p.id = t.project_id
    WHERE step('making labels', l.ticket_id)
    GROUP BY p.company_id, l.label
  )
  ORDER BY company_id, first, name;
