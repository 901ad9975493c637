-- The repository that a run of an agent works in: branch, commit and remote, as JSON; null if it didn't say.
ALTER TABLE work_session ADD COLUMN repository TEXT;
