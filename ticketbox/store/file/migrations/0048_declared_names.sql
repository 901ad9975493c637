-- Names of global variables and meta elements whose values captures of a project's pages have.
ALTER TABLE project ADD COLUMN declared_names TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(declared_names));
