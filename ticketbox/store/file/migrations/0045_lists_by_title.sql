-- Lists can be sorted by title. `title_key` is the title without case and accents, as `build_title_key` writes it;
-- like the other orders, labels and assignments carry a copy of it (0004).

DROP TRIGGER label_added;
DROP TRIGGER assignee_added;
DROP TRIGGER ticket_changed;

ALTER TABLE ticket ADD COLUMN title_key TEXT NOT NULL DEFAULT '';
UPDATE ticket SET title_key = title_key(title) WHERE step('preparing titles', id);
CREATE INDEX ticket_by_title ON ticket (project_id, status, title_key, id);

ALTER TABLE ticket_label ADD COLUMN title_key TEXT;
UPDATE ticket_label SET title_key = (SELECT t.title_key FROM ticket t WHERE t.id = ticket_id)
  WHERE step('copying titles to labels', ticket_id);
CREATE INDEX label_by_title ON ticket_label (label, project_id, status, title_key, ticket_id)
  WHERE project_id IS NOT NULL;

ALTER TABLE ticket_assignee ADD COLUMN title_key TEXT;
UPDATE ticket_assignee SET title_key = (SELECT t.title_key FROM ticket t WHERE t.id = ticket_id)
  WHERE step('copying titles to assignments', ticket_id);
CREATE INDEX assignment_by_title ON ticket_assignee (user_id, project_id, status, title_key, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE TRIGGER label_added AFTER INSERT ON ticket_label BEGIN
  UPDATE ticket_label SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE label = new.label AND ticket_id = new.ticket_id;
END;

CREATE TRIGGER assignee_added AFTER INSERT ON ticket_assignee BEGIN
  UPDATE ticket_assignee SET (project_id, status, updated_at, priority, due_day, title_key) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
     WHERE t.id = new.ticket_id)
  WHERE ticket_id = new.ticket_id AND user_id = new.user_id;
END;

CREATE TRIGGER ticket_changed AFTER UPDATE OF project_id, status, updated_at, priority, due_on, title_key ON ticket
WHEN (old.project_id, old.status, old.updated_at, old.priority, old.due_day, old.title_key)
  IS NOT (new.project_id, new.status, new.updated_at, new.priority, new.due_day, new.title_key)
BEGIN
  UPDATE ticket_label SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
  UPDATE ticket_assignee SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day, title_key = new.title_key WHERE ticket_id = new.id;
END;
