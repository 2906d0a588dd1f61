SELECT l.version, l.chunk_id::text AS id, l.level, c.heading_path, c.body, l.parent_id::text
FROM live_chunks l
JOIN chunks c USING (chunk_id)
WHERE l.tenant = %(tenant)s AND l.source = %(source)s AND l.doc_id = %(doc_id)s AND l.generation = %(generation)s
ORDER BY l.ordinal
