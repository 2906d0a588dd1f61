-- Every document that the live generation has brought to its end, of what was accepted before a moment, and how far
-- another generation is with it.
SELECT count(*) FILTER (WHERE o.live_version >= l.live_version) AS ready,
       count(*) FILTER (WHERE (o.live_version IS NULL OR o.live_version < l.live_version) AND f.version IS NOT NULL)
           AS failed,
       count(*) FILTER (WHERE (o.live_version IS NULL OR o.live_version < l.live_version) AND f.version IS NULL)
           AS behind
FROM documents l
JOIN document_versions v ON v.document = l.id AND v.version = l.live_version
LEFT JOIN documents o
    ON o.tenant = l.tenant AND o.source = l.source AND o.doc_id = l.doc_id AND o.generation = %(generation)s
LEFT JOIN document_versions f ON f.document = o.id AND f.version = o.accepted_version AND f.state = 'failed'
WHERE l.generation = %(live)s AND v.accepted_at <= coalesce(%(before)s::timestamptz, 'infinity')
