-- Whether the extension resolves a project's stacks with the source maps that the page itself can load.
ALTER TABLE project ADD COLUMN page_source_maps INTEGER NOT NULL DEFAULT 1 CHECK (page_source_maps IN (0, 1));
