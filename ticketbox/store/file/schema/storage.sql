-- The stored bytes of each company's captures, attachments and source maps. A content that is used several times
-- counts each time. Triggers keep the figure, so that no write has to count.
CREATE TABLE company_storage (
  company_id INTEGER PRIMARY KEY REFERENCES company (id) ON DELETE CASCADE,
  bytes INTEGER NOT NULL
) STRICT;

CREATE TRIGGER company_storage_added AFTER INSERT ON company BEGIN
  INSERT INTO company_storage (company_id, bytes) VALUES (new.id, 0);
END;

CREATE TRIGGER asset_storage_added AFTER INSERT ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER asset_storage_changed AFTER UPDATE OF blob_id ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
    - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER asset_storage_removed AFTER DELETE ON asset BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;

CREATE TRIGGER capture_storage_added AFTER INSERT ON capture BEGIN
  UPDATE company_storage SET bytes = bytes + (
    SELECT sum(ifnull(stored, length(data))) FROM blob
      WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER capture_storage_changed AFTER UPDATE OF console, errors ON capture BEGIN
  UPDATE company_storage SET bytes = bytes
    + (SELECT sum(ifnull(stored, length(data))) FROM blob
      WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
    - (SELECT sum(ifnull(stored, length(data))) FROM blob
      WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;

CREATE TRIGGER capture_storage_removed AFTER DELETE ON capture BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT sum(ifnull(stored, length(data))) FROM blob
      WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (
    SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;

CREATE TRIGGER source_map_storage_added AFTER INSERT ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = new.project_id);
END;

CREATE TRIGGER source_map_storage_removed AFTER DELETE ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = old.project_id);
END;

-- A deleted project's row is gone before those of its tickets, whose triggers then find no company.
CREATE TRIGGER project_source_maps_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM source_map s JOIN blob b ON b.id = s.blob_id
    WHERE s.project_id = old.id)
  WHERE company_id = old.company_id;
END;

CREATE TRIGGER project_storage_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0)
    FROM ticket t JOIN asset a ON a.ticket_id = t.id JOIN blob b ON b.id = a.blob_id WHERE t.project_id = old.id
  ) - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM ticket t JOIN capture c ON c.ticket_id = t.id
    JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions, c.replay) WHERE t.project_id = old.id
  )
  WHERE company_id = old.company_id;
END;
