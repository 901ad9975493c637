"""The condition for an unused blob. Housekeeping deletes such blobs, and `ticketbox check` counts them."""

IS_ORPHAN = """
NOT EXISTS (SELECT 1 FROM asset a WHERE a.blob_id = b.id)
AND NOT EXISTS (SELECT 1 FROM preview p WHERE p.blob_id = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.excerpt = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.console = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.network = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.errors = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.actions = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.replay = b.id)
AND NOT EXISTS (SELECT 1 FROM source_map s WHERE s.blob_id = b.id)
"""
