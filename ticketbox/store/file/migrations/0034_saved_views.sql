-- A project's filters, order and display under a name. A view that isn't shared is its owner's alone.
CREATE TABLE saved_view (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user (id),
  name TEXT NOT NULL,
  shared INTEGER NOT NULL CHECK (shared IN (0, 1)),
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id)
) STRICT;
CREATE INDEX saved_view_by_project ON saved_view (project_id, id);
