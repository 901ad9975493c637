-- A screenshot with its marks, made small for a model. It can be made again at any time from what made_of is a digest of.
CREATE TABLE preview (
  asset_id INTEGER PRIMARY KEY REFERENCES asset (id) ON DELETE CASCADE,
  made_of BLOB NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL
) STRICT;
CREATE INDEX preview_of_blob ON preview (blob_id);
