-- A project has a key and its tickets are numbered: WEB-42. `project_key` holds every key that a project ever had,
-- `ticket_number_alias` the numbers of tickets in projects that they left, so that old keys keep working.

ALTER TABLE project ADD COLUMN key TEXT;
ALTER TABLE project ADD COLUMN next_number INTEGER NOT NULL DEFAULT 1;
ALTER TABLE ticket ADD COLUMN number INTEGER;

UPDATE project SET key = project_key(company_id, name);
UPDATE project SET next_number = 1 + (SELECT count(*) FROM ticket t WHERE t.project_id = project.id);
UPDATE ticket SET number = n.number
FROM (SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS number FROM ticket) n
WHERE ticket.id = n.id AND step('numbering tickets', ticket.id);

CREATE UNIQUE INDEX ticket_by_number ON ticket (project_id, number);

CREATE TABLE project_key (
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (company_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_of_project ON project_key (project_id);
INSERT INTO project_key (company_id, key, project_id) SELECT company_id, key, id FROM project;

CREATE TABLE ticket_number_alias (
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_of_ticket ON ticket_number_alias (ticket_id);
