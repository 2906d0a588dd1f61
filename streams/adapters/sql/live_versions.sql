SELECT d.source, d.doc_id, d.live_version
FROM unnest(%(sources)s::text[], %(doc_ids)s::text[]) AS wanted (source, doc_id)
JOIN documents d USING (source, doc_id)
WHERE d.tenant = %(tenant)s AND d.generation = %(generation)s AND d.live_version IS NOT NULL
