-- Notifications: what concerns a person, and what they don't want to hear of.

CREATE TABLE notification (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK (reason IN ('mention', 'assignment', 'reply')),
  read_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notification_once ON notification (event_id, user_id);
CREATE INDEX notification_of_user ON notification (user_id, id);
CREATE INDEX notification_unread ON notification (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notification_of_ticket ON notification (ticket_id, reason, user_id);
CREATE INDEX notification_by_age ON notification (created_at);

CREATE TABLE ticket_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, ticket_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mute_of_ticket ON ticket_mute (ticket_id);

CREATE TABLE project_mute (
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mute_of_project ON project_mute (project_id);
