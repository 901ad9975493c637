-- Lists can be sorted by due date. Like the other orders, labels and assignments carry a copy of it (0004).
-- `due_day` is a number such as 20261224; what has no due date comes last.

ALTER TABLE ticket ADD COLUMN due_day INTEGER
  GENERATED ALWAYS AS (ifnull(CAST(replace(due_on, '-', '') AS INTEGER), 100000000)) VIRTUAL;
CREATE INDEX ticket_by_due_date ON ticket (project_id, status, due_day, id);

DROP TRIGGER label_added;
DROP TRIGGER assignee_added;
DROP TRIGGER ticket_changed;

ALTER TABLE ticket_label ADD COLUMN due_day INTEGER;
UPDATE ticket_label SET due_day = (SELECT t.due_day FROM ticket t WHERE t.id = ticket_id)
  WHERE step('copying due dates to labels', ticket_id);
CREATE INDEX label_by_due_date ON ticket_label (label, project_id, status, due_day, ticket_id)
  WHERE project_id IS NOT NULL;

ALTER TABLE ticket_assignee ADD COLUMN due_day INTEGER;
UPDATE ticket_assignee SET due_day = (SELECT t.due_day FROM ticket t WHERE t.id = ticket_id)
  WHERE step('copying due dates to assignments', ticket_id);
CREATE INDEX assignment_by_due_date ON ticket_assignee (user_id, project_id, status, due_day, ticket_id)
  WHERE project_id IS NOT NULL;

CREATE TRIGGER label_added AFTER INSERT ON ticket_label BEGIN
  UPDATE ticket_label SET (project_id, status, updated_at, priority, due_day) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day FROM ticket t WHERE t.id = new.ticket_id)
  WHERE label = new.label AND ticket_id = new.ticket_id;
END;

CREATE TRIGGER assignee_added AFTER INSERT ON ticket_assignee BEGIN
  UPDATE ticket_assignee SET (project_id, status, updated_at, priority, due_day) =
    (SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day FROM ticket t WHERE t.id = new.ticket_id)
  WHERE ticket_id = new.ticket_id AND user_id = new.user_id;
END;

CREATE TRIGGER ticket_changed AFTER UPDATE OF project_id, status, updated_at, priority, due_on ON ticket
WHEN (old.project_id, old.status, old.updated_at, old.priority, old.due_day)
  IS NOT (new.project_id, new.status, new.updated_at, new.priority, new.due_day)
BEGIN
  UPDATE ticket_label SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day WHERE ticket_id = new.id;
  UPDATE ticket_assignee SET project_id = new.project_id, status = new.status, updated_at = new.updated_at,
    priority = new.priority, due_day = new.due_day WHERE ticket_id = new.id;
END;
