-- Attachments and captures can be deleted; the index forgets their words with them.

CREATE TRIGGER search_attachment_removed AFTER DELETE ON asset WHEN old.kind = 'attachment' BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;
CREATE TRIGGER search_capture_removed AFTER DELETE ON capture BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;
