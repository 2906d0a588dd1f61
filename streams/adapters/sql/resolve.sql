SELECT l.chunk_id::text, l.parent_id::text AS passage_id, p.heading_path, p.body, l.source, l.doc_id, l.version, l.kind,
       l.title, l.uri, l.trust, l.language
FROM unnest(%(chunk_ids)s::uuid[]) AS wanted (chunk_id)
JOIN live_chunks l ON l.chunk_id = wanted.chunk_id
JOIN chunks p ON p.chunk_id = l.parent_id
WHERE {visible}
