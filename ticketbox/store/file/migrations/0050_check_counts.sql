-- How many checks a report of a provider is about; 0 if it doesn't say.
ALTER TABLE git_check ADD COLUMN checks INTEGER NOT NULL DEFAULT 0;
