WITH term AS MATERIALIZED (
    SELECT t.term::tsquery AS query, (t.position - 1)::integer AS position
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, position)
)
SELECT l.chunk_id::text, l.parent_id::text AS passage_id, p.heading_path, p.body, l.source, l.doc_id, l.version, l.kind,
       l.title, l.uri, l.trust, l.language,
       coalesce((SELECT c.body FROM chunks c WHERE c.chunk_id = l.chunk_id AND l.level = 'child'), '') AS evidence_body,
       coalesce((SELECT x.context FROM chunk_contexts x WHERE x.chunk_id = l.parent_id), '') AS context,
       ARRAY(SELECT term.position FROM term WHERE p.lexemes @@ term.query ORDER BY term.position) AS terms
FROM unnest(%(chunk_ids)s::uuid[]) AS wanted (chunk_id)
JOIN live_chunks l ON l.chunk_id = wanted.chunk_id
JOIN chunks p ON p.chunk_id = l.parent_id
WHERE {visible}
