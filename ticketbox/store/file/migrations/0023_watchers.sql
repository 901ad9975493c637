-- The watchers of a ticket are notified of comments and questions. Those who took part until now become watchers.

CREATE TABLE ticket_watcher (
  ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watched_by_user ON ticket_watcher (user_id);

INSERT INTO ticket_watcher (ticket_id, user_id)
  SELECT t.id, b.user_id FROM ticket t JOIN byline b ON b.id = t.created_by WHERE step('finding watchers', t.id)
  UNION SELECT ticket_id, user_id FROM ticket_assignee
  UNION SELECT ticket_id, user_id FROM notification WHERE reason = 'mention'
  UNION SELECT c.ticket_id, b.user_id FROM comment c JOIN byline b ON b.id = c.created_by;
