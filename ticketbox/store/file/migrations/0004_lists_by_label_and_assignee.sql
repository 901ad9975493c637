-- A list by label or by assignee reads one page of an index in its own order, as every other list does. For that,
-- labels and assignments carry a copy of what lists choose and sort by; triggers alone write it.

ALTER TABLE ticket_label ADD COLUMN project_id INTEGER;
ALTER TABLE ticket_label ADD COLUMN status TEXT;
ALTER TABLE ticket_label ADD COLUMN updated_at INTEGER;
ALTER TABLE ticket_label ADD COLUMN priority INTEGER;
UPDATE ticket_label SET (project_id, status, updated_at, priority) =
  (SELECT t.project_id, t.status, t.updated_at, t.priority FROM ticket t WHERE t.id = ticket_id);
CREATE INDEX label_by_creation ON ticket_label (label, project_id, status, ticket_id) WHERE project_id IS NOT NULL;
CREATE INDEX label_by_update ON ticket_label (label, project_id, status, updated_at, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX label_by_priority ON ticket_label (label, project_id, status, priority, ticket_id)
  WHERE project_id IS NOT NULL;

ALTER TABLE ticket_assignee ADD COLUMN project_id INTEGER;
ALTER TABLE ticket_assignee ADD COLUMN status TEXT;
ALTER TABLE ticket_assignee ADD COLUMN updated_at INTEGER;
ALTER TABLE ticket_assignee ADD COLUMN priority INTEGER;
UPDATE ticket_assignee SET (project_id, status, updated_at, priority) =
  (SELECT t.project_id, t.status, t.updated_at, t.priority FROM ticket t WHERE t.id = ticket_id);
CREATE INDEX assignment_by_creation ON ticket_assignee (user_id, project_id, status, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX assignment_by_update ON ticket_assignee (user_id, project_id, status, updated_at, ticket_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX assignment_by_priority ON ticket_assignee (user_id, project_id, status, priority, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE TRIGGER label_added AFTER INSERT ON ticket_label BEGIN
  UPDATE ticket_label SET (project_id, status, updated_at, priority) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority FROM ticket t WHERE t.id = new.ticket_id)
  WHERE label = new.label AND ticket_id = new.ticket_id;
END;

CREATE TRIGGER assignee_added AFTER INSERT ON ticket_assignee BEGIN
  UPDATE ticket_assignee SET (project_id, status, updated_at, priority) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority FROM ticket t WHERE t.id = new.ticket_id)
  WHERE ticket_id = new.ticket_id AND user_id = new.user_id;
END;

CREATE TRIGGER ticket_changed AFTER UPDATE OF project_id, status, updated_at, priority ON ticket
WHEN (old.project_id, old.status, old.updated_at, old.priority)
  IS NOT (new.project_id, new.status, new.updated_at, new.priority)
BEGIN
  UPDATE ticket_label SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority WHERE ticket_id = new.id;
  UPDATE ticket_assignee SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority WHERE ticket_id = new.id;
END;
