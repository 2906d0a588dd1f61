-- The passages of documents that are pinned for an agent, document by document, in reading order.
SELECT l.chunk_id::text AS passage_id, c.heading_path, c.body, l.source, l.doc_id, l.version, l.kind, l.title, l.uri,
       l.trust, l.language
FROM live_chunks l
JOIN chunks c ON c.chunk_id = l.chunk_id
WHERE {visible} AND l.level = 'parent' AND l.pinned <> '{}' AND l.pinned @> ARRAY[%(agent)s::text]
ORDER BY l.source, l.doc_id, l.ordinal
LIMIT %(limit)s
