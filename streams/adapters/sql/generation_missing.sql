-- Documents that the live generation has, and another one neither has nor failed at.
SELECT l.tenant, l.source, l.doc_id, l.live_version AS version
FROM documents l
LEFT JOIN documents o
    ON o.tenant = l.tenant AND o.source = l.source AND o.doc_id = l.doc_id AND o.generation = %(generation)s
LEFT JOIN document_versions f ON f.document = o.id AND f.version = o.accepted_version AND f.state = 'failed'
WHERE l.generation = %(live)s AND l.live_version IS NOT NULL
  AND (o.live_version IS NULL OR o.live_version < l.live_version) AND f.version IS NULL
ORDER BY l.tenant, l.source, l.doc_id
LIMIT %(limit)s
