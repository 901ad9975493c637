-- A notification is listed from a time on: when it was created, or the end of its snooze.

ALTER TABLE notification ADD COLUMN shown_at INTEGER NOT NULL DEFAULT 0;
UPDATE notification SET shown_at = created_at;
DROP INDEX notification_of_user;
DROP INDEX notification_unread;
DROP INDEX notification_by_age;
CREATE INDEX notification_of_user ON notification (user_id, shown_at, id);
CREATE INDEX notification_unread ON notification (user_id, shown_at, id) WHERE read_at IS NULL;
CREATE INDEX notification_by_age ON notification (shown_at);
