-- How often the bug of a ticket was seen, as reporters of failing tests count it.
ALTER TABLE ticket ADD COLUMN occurrences INTEGER NOT NULL DEFAULT 1 CHECK (occurrences >= 1);
