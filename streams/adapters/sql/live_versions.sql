-- A deletion holds from the moment it is accepted, in every generation: the fence hides what is below it.
SELECT wanted.source, wanted.doc_id, greatest(d.live_version, x.version) AS live_version
FROM unnest(%(sources)s::text[], %(doc_ids)s::text[]) AS wanted (source, doc_id)
LEFT JOIN documents d
    ON d.tenant = %(tenant)s AND d.source = wanted.source AND d.doc_id = wanted.doc_id
    AND d.generation = %(generation)s
LEFT JOIN deletions x ON x.tenant = %(tenant)s AND x.source = wanted.source AND x.doc_id = wanted.doc_id
WHERE d.live_version IS NOT NULL OR x.version IS NOT NULL
