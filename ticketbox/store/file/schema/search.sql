-- The index of words: one row for each ticket, with the ticket's key.
CREATE VIRTUAL TABLE search USING fts5 (
  ticket, title, branch, description, comments, address, errors, console, scope,
  tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', columnsize = 0
);

CREATE VIRTUAL TABLE search_term USING fts5vocab (search, instance);

-- What the index contains of each ticket, its texts as separate_words() of ticketbox writes them. `scope` has what
-- narrows a search: c company, p project, s status, r resolved, y priority, l label, a assignee, h has, d year and month
-- of creation.
CREATE VIEW searchable AS
SELECT t.id AS id, t.public_id AS ticket, separate_words(t.title) AS title,
  separate_words(ifnull(t.branch, '')) AS branch, separate_words(t.description) AS description,
  separate_words(ifnull((
    SELECT substr(group_concat(text, char(10)), 1, 100000)
    FROM (SELECT substr(c.body, 1, 10000) AS text FROM comment c WHERE c.ticket_id = t.id ORDER BY c.id DESC LIMIT 200)
  ), '')) AS comments,
  separate_words(ifnull(substr(t.source_url, 1, 2000), '') || ifnull((
    SELECT char(10) || group_concat(text, char(10))
    FROM (SELECT DISTINCT substr(k.page ->> 'url', 1, 2000) AS text FROM capture k
          WHERE k.ticket_id = t.id AND k.page ->> 'url' IS NOT t.source_url ORDER BY k.id DESC LIMIT 20)
  ), '')) AS address,
  separate_words(ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.error_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '')) AS errors,
  separate_words(ifnull((
    SELECT group_concat(text, char(10))
    FROM (SELECT k.console_words AS text FROM capture k WHERE k.ticket_id = t.id ORDER BY k.id DESC LIMIT 20)
  ), '')) AS console,
  'c' || p.company_id || ' p' || t.project_id || ' s' || t.status || ' r' || t.resolved || ' y' || t.priority
  || ifnull((SELECT group_concat(' l' || hex(lower(value)), '') FROM json_each(t.labels)), '')
  || ifnull((SELECT group_concat(' a' || a.user_id, '') FROM ticket_assignee a WHERE a.ticket_id = t.id), ' anone')
  || iif(t.branch IS NULL, '', ' hbranch')
  || iif(EXISTS (SELECT 1 FROM capture k WHERE k.ticket_id = t.id), ' hcapture', '')
  || iif(EXISTS (SELECT 1 FROM comment c WHERE c.ticket_id = t.id), ' hcomments', '')
  || iif(EXISTS (SELECT 1 FROM asset f WHERE f.ticket_id = t.id AND f.kind = 'attachment'), ' hattachment', '')
  || iif(EXISTS (SELECT 1 FROM capture k WHERE k.ticket_id = t.id AND k.error_words || k.console_words <> ''),
    ' herrors', '')
  || strftime(' d%Y d%Y%m', t.created_at / 1000, 'unixepoch') AS scope
FROM ticket t JOIN project p ON p.id = t.project_id;

-- Not INSERT OR REPLACE: an OR IGNORE in the statement that fires a trigger would apply inside it.
CREATE TRIGGER search_ticket_added AFTER INSERT ON ticket BEGIN
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.id;
END;

CREATE TRIGGER search_ticket_changed
AFTER UPDATE OF project_id, title, description, status, resolved, priority, labels, branch, source_url
ON ticket
WHEN old.project_id <> new.project_id OR old.title <> new.title OR old.description <> new.description
  OR old.status <> new.status OR old.resolved <> new.resolved OR old.priority <> new.priority
  OR old.labels <> new.labels OR old.branch IS NOT new.branch OR old.source_url IS NOT new.source_url
BEGIN
  DELETE FROM search WHERE rowid = new.id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.id;
END;

CREATE TRIGGER search_ticket_removed AFTER DELETE ON ticket BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;

CREATE TRIGGER search_assignee_added AFTER INSERT ON ticket_assignee BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_assignee_removed AFTER DELETE ON ticket_assignee BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_attachment_added AFTER INSERT ON asset WHEN new.kind = 'attachment' BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_attachment_removed AFTER DELETE ON asset WHEN old.kind = 'attachment' BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_capture_added AFTER INSERT ON capture BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_capture_removed AFTER DELETE ON capture BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;

CREATE TRIGGER search_comment_added AFTER INSERT ON comment BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_comment_changed AFTER UPDATE OF body ON comment BEGIN
  DELETE FROM search WHERE rowid = new.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = new.ticket_id;
END;

CREATE TRIGGER search_comment_removed AFTER DELETE ON comment BEGIN
  DELETE FROM search WHERE rowid = old.ticket_id;
  INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
    SELECT * FROM searchable WHERE id = old.ticket_id;
END;
