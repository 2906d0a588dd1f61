INSERT INTO version_chunks (document, version, tenant, chunk_id, parent_id, level, ordinal)
SELECT %(document)s, %(version)s, %(tenant)s, c.chunk_id, c.parent_id, c.level, c.ordinal
FROM unnest(%(chunk_ids)s::uuid[], %(parent_ids)s::uuid[], %(levels)s::text[])
    WITH ORDINALITY AS c (chunk_id, parent_id, level, ordinal)
