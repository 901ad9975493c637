-- Pictures of the key moments of a replay, rendered by the reporter's browser. `second` counts from the replay's beginning.
CREATE TABLE replay_frame (
  id INTEGER PRIMARY KEY,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  capture_id INTEGER NOT NULL REFERENCES capture (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  second REAL NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX replay_frame_of_capture ON replay_frame (capture_id, at);
CREATE INDEX replay_frame_of_ticket ON replay_frame (ticket_id, id);
CREATE INDEX replay_frame_of_blob ON replay_frame (blob_id);

-- The stored bytes of a company count them.
CREATE TRIGGER replay_frame_storage_added AFTER INSERT ON replay_frame BEGIN
  UPDATE company_storage SET bytes = bytes + (SELECT length(data) FROM blob WHERE id = new.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = new.ticket_id);
END;
CREATE TRIGGER replay_frame_storage_removed AFTER DELETE ON replay_frame BEGIN
  UPDATE company_storage SET bytes = bytes - (SELECT length(data) FROM blob WHERE id = old.blob_id)
  WHERE company_id = (SELECT p.company_id FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = old.ticket_id);
END;
-- When a project is deleted, it is gone before its captures.
CREATE TRIGGER project_replay_frames_removed BEFORE DELETE ON project BEGIN
  UPDATE company_storage SET bytes = bytes - (
    SELECT ifnull(sum(length(b.data)), 0) FROM ticket t JOIN replay_frame f ON f.ticket_id = t.id
    JOIN blob b ON b.id = f.blob_id WHERE t.project_id = old.id)
  WHERE company_id = old.company_id;
END;
