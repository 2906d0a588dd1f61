-- All parts read the state before the statement.
WITH pointed AS (
    UPDATE documents SET live_version = %(version)s WHERE id = %(document)s
),
gone AS (
    DELETE FROM version_chunks WHERE document = %(document)s AND version < %(version)s RETURNING document, chunk_id
),
marked AS (
    INSERT INTO garbage (document, chunk_id)
    SELECT DISTINCT g.document, g.chunk_id
    FROM gone g
    WHERE NOT EXISTS (
        SELECT FROM version_chunks kept
        WHERE kept.document = g.document AND kept.chunk_id = g.chunk_id AND kept.version >= %(version)s
    )
    ON CONFLICT DO NOTHING
),
lower AS (
    UPDATE document_versions SET state = 'superseded', waits = '{}'
    WHERE document = %(document)s AND version < %(version)s AND state <> 'superseded'
),
-- A short history is kept, for people.
forgotten AS (
    DELETE FROM document_versions
    WHERE document = %(document)s AND state = 'superseded' AND version < (
        SELECT version FROM document_versions
        WHERE document = %(document)s AND state = 'superseded'
        ORDER BY version DESC
        OFFSET %(history)s LIMIT 1
    )
)
UPDATE document_versions
SET state = CASE op WHEN 'delete' THEN 'deleted' ELSE 'live' END, waits = '{}', reason = NULL,
    rewrite = %(rewrite)s::uuid[],
    overtaken = (
        SELECT coalesce(array_agg(version ORDER BY version), '{}') FROM document_versions
        WHERE document = %(document)s AND version < %(version)s AND state = 'pending'
    )
WHERE document = %(document)s AND version = %(version)s
