-- A chunk may outlive the version it was first cut for: what counts is whether any kept version has it.
SELECT DISTINCT chunk_id::text
FROM version_chunks
WHERE document = %(document)s AND chunk_id = ANY (%(chunk_ids)s::uuid[])
