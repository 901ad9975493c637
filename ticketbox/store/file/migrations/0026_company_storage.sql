-- How many bytes the captures and attachments of each company take, as they are stored. Content that is stored once
-- and used several times counts each time. Triggers keep the figure, so that no write has to count.
CREATE TABLE company_storage (
  company_id INTEGER PRIMARY KEY REFERENCES company (id) ON DELETE CASCADE,
  bytes INTEGER NOT NULL
) STRICT;

CREATE TRIGGER company_storage_added AFTER INSERT ON company BEGIN
  INSERT INTO company_storage (company_id, bytes) VALUES (new.id, 0);
END;
CREATE TRIGGER asset_storage_added AFTER INSERT ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT length(data) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
CREATE TRIGGER asset_storage_changed AFTER UPDATE OF blob_id ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT length(data) FROM blob WHERE id = new.blob_id)
    - (SELECT length(data) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
CREATE TRIGGER asset_storage_removed AFTER DELETE ON asset BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT length(data) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
CREATE TRIGGER capture_storage_added AFTER INSERT ON capture BEGIN
  UPDATE company_storage SET bytes = bytes + (
    SELECT sum(length(data)) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
CREATE TRIGGER capture_storage_removed AFTER DELETE ON capture BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT sum(length(data)) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
-- When a project is deleted, its tickets are gone before the rows that belong to them.
CREATE TRIGGER project_storage_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(length(b.data)), 0)
    FROM ticket t JOIN asset a ON a.ticket_id = t.id JOIN blob b ON b.id = a.blob_id WHERE t.project_id = old.id
  ) - (
    SELECT ifnull(sum(length(b.data)), 0) FROM ticket t JOIN capture c ON c.ticket_id = t.id
    JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions) WHERE t.project_id = old.id
  )
  WHERE company_id = old.company_id;
END;

INSERT INTO company_storage (company_id, bytes)
SELECT co.id, (
  SELECT ifnull(sum(length(b.data)), 0) FROM project p JOIN ticket t ON t.project_id = p.id
  JOIN asset a ON a.ticket_id = t.id JOIN blob b ON b.id = a.blob_id
  WHERE p.company_id = co.id AND step('measuring attachments', a.id)
) + (
  SELECT ifnull(sum(length(b.data)), 0) FROM project p JOIN ticket t ON t.project_id = p.id
  JOIN capture c ON c.ticket_id = t.id JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions)
  WHERE p.company_id = co.id AND step('measuring captures', c.id)
) FROM company co;

-- Finds the companies that an account created.
CREATE INDEX company_of_byline ON company (created_by);
