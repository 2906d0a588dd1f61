-- A document as questions see it: its live version, fenced as they are, with its passages in reading order.
SELECT v.version, v.kind, v.title, v.uri, v.trust, v.language, v.tags, v.updated_at,
       m.chunk_id::text AS passage_id, c.heading_path, c.body
FROM documents d
JOIN document_versions v ON v.document = d.id AND v.version = d.live_version AND v.state = 'live'
LEFT JOIN version_chunks m ON m.document = d.id AND m.version = d.live_version AND m.level = 'parent'
LEFT JOIN chunks c ON c.chunk_id = m.chunk_id
WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s AND d.generation = %(generation)s
  AND (cardinality(v.agents) = 0 OR %(agent)s::text = ANY (v.agents))
  AND NOT EXISTS (
      SELECT FROM deletions x
      WHERE x.tenant = d.tenant AND x.source = d.source AND x.doc_id = d.doc_id AND x.version > d.live_version
  )
ORDER BY m.ordinal
