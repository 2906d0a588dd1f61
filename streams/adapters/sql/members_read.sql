SELECT chunk_id::text
FROM version_chunks
WHERE document = %(document)s AND version = %(version)s
ORDER BY ordinal
