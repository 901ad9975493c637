-- A verification can name the branch that its commit is on.
ALTER TABLE verification ADD COLUMN branch TEXT;
