-- Source maps of a project's bundles, by release and by the script's path. `file` is the last part of that path.
CREATE TABLE source_map (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  release TEXT NOT NULL,
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  debug_id TEXT,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE UNIQUE INDEX source_map_of_project ON source_map (project_id, release, name);
CREATE INDEX source_map_by_time ON source_map (project_id, id);
CREATE INDEX source_map_by_file ON source_map (project_id, file, id);
CREATE INDEX source_map_by_debug_id ON source_map (project_id, debug_id, id) WHERE debug_id IS NOT NULL;
CREATE INDEX source_map_of_blob ON source_map (blob_id);
CREATE INDEX source_map_of_byline ON source_map (created_by);

-- Captures whose stacks are looked up in the project's source maps at a time.
CREATE TABLE unresolved_capture (
  capture_id INTEGER PRIMARY KEY REFERENCES capture (id) ON DELETE CASCADE,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX unresolved_capture_due ON unresolved_capture (due_at);

-- The stored bytes of a company count source maps, and captures whose stacks were resolved.
CREATE TRIGGER source_map_storage_added AFTER INSERT ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT length(data) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = new.project_id);
END;
CREATE TRIGGER source_map_storage_removed AFTER DELETE ON source_map BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT length(data) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT company_id FROM project WHERE id = old.project_id);
END;
-- When a project is deleted, it is gone before its source maps.
CREATE TRIGGER project_source_maps_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(length(b.data)), 0) FROM source_map s JOIN blob b ON b.id = s.blob_id WHERE s.project_id = old.id)
  WHERE company_id = old.company_id;
END;
CREATE TRIGGER capture_storage_changed AFTER UPDATE OF console, errors ON capture BEGIN
  UPDATE company_storage SET bytes = bytes
    + (SELECT sum(length(data)) FROM blob WHERE id IN (new.console, new.network, new.errors, new.actions, new.replay))
    - (SELECT sum(length(data)) FROM blob WHERE id IN (old.console, old.network, old.errors, old.actions, old.replay))
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
