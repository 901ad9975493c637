-- CSS selectors of the parts of a project's pages that recordings never show.
ALTER TABLE project ADD COLUMN mask_selectors TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(mask_selectors));
