-- A column has a kind, and a ticket is resolved while it is in a column of kind `done`. Both become true of existing
-- files: a ticket in such a column becomes resolved, and a resolved ticket elsewhere moves to the end of the first one.

ALTER TABLE board_column ADD COLUMN kind TEXT NOT NULL DEFAULT 'doing' CHECK (kind IN ('todo', 'doing', 'done'));
UPDATE board_column SET kind = CASE
  WHEN lower(trim(name)) IN ('done', 'closed', 'resolved', 'fixed') THEN 'done'
  WHEN position = (SELECT min(other.position) FROM board_column other WHERE other.project_id = board_column.project_id)
    THEN 'todo'
  ELSE 'doing'
END;

UPDATE ticket SET column_id = n.target, position = n.last + n.place * 1048576
FROM (
  SELECT t.id AS id, d.id AS target,
    ifnull((SELECT max(o.position) FROM ticket o WHERE o.column_id = d.id), 0) AS last,
    row_number() OVER (PARTITION BY d.id ORDER BY c.position, t.position, t.id) AS place
  FROM board_column d
  JOIN board_column c ON c.project_id = d.project_id AND c.kind <> 'done'
  JOIN ticket t ON t.column_id = c.id AND t.resolved
  WHERE d.kind = 'done' AND d.position = (
    SELECT min(e.position) FROM board_column e WHERE e.project_id = d.project_id AND e.kind = 'done')
) n
WHERE ticket.id = n.id;

UPDATE ticket SET resolved = 1
WHERE NOT resolved AND column_id IN (SELECT id FROM board_column WHERE kind = 'done') AND step('resolving tickets', id);
