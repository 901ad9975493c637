-- The day by which a ticket should be done, as in RFC 3339: 2026-12-24. It has no time zone.

ALTER TABLE ticket ADD COLUMN due_on TEXT CHECK (due_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]');
