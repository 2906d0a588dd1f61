WITH gone AS (
    DELETE FROM version_chunks WHERE document = %(document)s AND version = %(version)s RETURNING document, chunk_id
)
INSERT INTO garbage (document, chunk_id)
SELECT document, chunk_id FROM gone
ON CONFLICT DO NOTHING
