SELECT v.op, v.state, v.chunks, v.reason
FROM documents d
JOIN document_versions v ON v.document = d.id AND v.version = %(version)s
WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s AND d.generation = %(generation)s
