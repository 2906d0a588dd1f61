SELECT d.tenant, d.source, d.doc_id, v.version, coalesce(v.reason, '') AS reason
FROM documents d
JOIN document_versions v ON v.document = d.id AND v.version = d.accepted_version AND v.state = 'failed'
WHERE d.generation = %(generation)s
ORDER BY d.tenant, d.source, d.doc_id
LIMIT %(limit)s
