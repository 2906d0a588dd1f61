SELECT v.version, v.state, v.title, v.kind, v.waits, v.reason
FROM documents d
JOIN document_versions v ON v.document = d.id
WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s AND d.generation = %(generation)s
ORDER BY v.version DESC
