-- Work sessions are listed by project, and an agent can ask people.

ALTER TABLE work_session ADD COLUMN project_id INTEGER REFERENCES project (id) ON DELETE CASCADE;
UPDATE work_session SET project_id = (SELECT t.project_id FROM ticket t WHERE t.id = ticket_id);
CREATE INDEX work_session_of_project ON work_session (project_id, id);
CREATE INDEX work_session_of_project_by_state ON work_session (project_id, state, id);
CREATE TRIGGER work_session_follows_ticket AFTER UPDATE OF project_id ON ticket BEGIN
  UPDATE work_session SET project_id = new.project_id WHERE ticket_id = new.id;
END;

CREATE TABLE work_question (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES work_session (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  choices TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  asked_by INTEGER NOT NULL REFERENCES byline (id),
  answer TEXT,
  answered_at INTEGER,
  answered_by INTEGER REFERENCES byline (id)
) STRICT;
CREATE INDEX work_question_of_session ON work_question (session_id, id);

-- A question is a new reason for a notification.
CREATE TABLE new_notification (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK (reason IN ('mention', 'assignment', 'reply', 'question', 'approval')),
  read_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_notification SELECT id, public_id, user_id, event_id, ticket_id, reason, read_at, created_at
  FROM notification;
DROP TABLE notification;
ALTER TABLE new_notification RENAME TO notification;
CREATE UNIQUE INDEX notification_once ON notification (event_id, user_id);
CREATE INDEX notification_of_user ON notification (user_id, id);
CREATE INDEX notification_unread ON notification (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notification_of_ticket ON notification (ticket_id, reason, user_id);
CREATE INDEX notification_by_age ON notification (created_at);
