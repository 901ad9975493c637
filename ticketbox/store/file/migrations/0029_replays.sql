-- A capture can have a replay: the page's changes in the last seconds. Earlier captures have none.
ALTER TABLE capture ADD COLUMN replay INTEGER REFERENCES blob (id);
CREATE INDEX capture_replay ON capture (replay) WHERE replay IS NOT NULL;

-- A project's policy says how many seconds; 0 is off.
ALTER TABLE project ADD COLUMN replay INTEGER NOT NULL DEFAULT 30 CHECK (replay IN (0, 30, 60, 120));

-- The stored bytes of a company count it.
DROP TRIGGER capture_storage_added;
CREATE TRIGGER capture_storage_added AFTER INSERT ON capture BEGIN
  UPDATE company_storage SET bytes = bytes + (
    SELECT sum(length(data)) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER capture_storage_removed;
CREATE TRIGGER capture_storage_removed AFTER DELETE ON capture BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT sum(length(data)) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
DROP TRIGGER project_storage_removed;
CREATE TRIGGER project_storage_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(length(b.data)), 0)
    FROM ticket t JOIN asset a ON a.ticket_id = t.id JOIN blob b ON b.id = a.blob_id WHERE t.project_id = old.id
  ) - (
    SELECT ifnull(sum(length(b.data)), 0) FROM ticket t JOIN capture c ON c.ticket_id = t.id
    JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions, c.replay) WHERE t.project_id = old.id
  )
  WHERE company_id = old.company_id;
END;
