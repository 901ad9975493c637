-- A screenshot has a preview for each purpose: for models, and as a thumbnail on a card.
CREATE TABLE preview_by_purpose (
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('model', 'thumbnail')),
  made_of BLOB NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blob (id),
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  PRIMARY KEY (asset_id, purpose)
) STRICT;
INSERT INTO preview_by_purpose SELECT asset_id, 'model', made_of, blob_id, media_type, width, height FROM preview;
DROP TABLE preview;
ALTER TABLE preview_by_purpose RENAME TO preview;
CREATE INDEX preview_of_blob ON preview (blob_id);

-- Cards show a thumbnail, which browsers keep until its version changes, and the most frequent error.
UPDATE capture SET summary = json_set(summary, '$.screenshot_version', 1, '$.main_error', NULL)
WHERE summary IS NOT NULL;
