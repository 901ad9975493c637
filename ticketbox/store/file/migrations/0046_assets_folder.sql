-- Contents can be files in a folder beside the database (docs/operate/assets.md). Then `data` is empty, and `stored` is the
-- length of the file, which is named by the content's hash.
ALTER TABLE blob ADD COLUMN stored INTEGER CHECK (stored IS NULL OR (stored > 0 AND length(data) = 0));

-- The folder, in which the files are in the subfolder `name`. Without a path it is next to the database file, with its
-- name and `.assets`, as with every backup.
CREATE TABLE assets_folder (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  path TEXT
) STRICT;

-- The stored bytes of a company count files, too.
DROP TRIGGER asset_storage_added;
CREATE TRIGGER asset_storage_added AFTER INSERT ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER asset_storage_changed;
CREATE TRIGGER asset_storage_changed AFTER UPDATE OF blob_id ON asset BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
    - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER asset_storage_removed;
CREATE TRIGGER asset_storage_removed AFTER DELETE ON asset BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
DROP TRIGGER capture_storage_added;
CREATE TRIGGER capture_storage_added AFTER INSERT ON capture BEGIN
  UPDATE company_storage SET bytes = bytes + (
    SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER capture_storage_changed;
CREATE TRIGGER capture_storage_changed AFTER UPDATE OF console, errors ON capture BEGIN
  UPDATE company_storage SET bytes = bytes
    + (SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
    - (SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER capture_storage_removed;
CREATE TRIGGER capture_storage_removed AFTER DELETE ON capture BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT sum(ifnull(stored, length(data))) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
DROP TRIGGER project_replay_frames_removed;
CREATE TRIGGER project_replay_frames_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM ticket t JOIN replay_frame f ON f.ticket_id = t.id
    JOIN blob b ON b.id = f.blob_id WHERE t.project_id = old.id)
  WHERE company_id = old.company_id;
END;
DROP TRIGGER project_source_maps_removed;
CREATE TRIGGER project_source_maps_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM source_map s JOIN blob b ON b.id = s.blob_id WHERE s.project_id = old.id)
  WHERE company_id = old.company_id;
END;
DROP TRIGGER project_storage_removed;
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
DROP TRIGGER replay_frame_storage_added;
CREATE TRIGGER replay_frame_storage_added AFTER INSERT ON replay_frame BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
DROP TRIGGER replay_frame_storage_removed;
CREATE TRIGGER replay_frame_storage_removed AFTER DELETE ON replay_frame BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
DROP TRIGGER source_map_storage_added;
CREATE TRIGGER source_map_storage_added AFTER INSERT ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT ifnull(stored, length(data)) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = new.project_id);
END;
DROP TRIGGER source_map_storage_removed;
CREATE TRIGGER source_map_storage_removed AFTER DELETE ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT ifnull(stored, length(data)) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = old.project_id);
END;
