-- A chunk may outlive the version it was first cut for: what counts is whether any kept version has it.
INSERT INTO chunk_contexts (chunk_id, document, tenant, context)
SELECT c.chunk_id, %(document)s, %(tenant)s, c.context
FROM unnest(%(chunk_ids)s::uuid[], %(contexts)s::text[]) AS c (chunk_id, context)
WHERE EXISTS (
    SELECT FROM version_chunks m WHERE m.document = %(document)s AND m.chunk_id = c.chunk_id
)
ORDER BY c.chunk_id -- one order for all, or two writers of the same chunks wait for each other
ON CONFLICT DO NOTHING
