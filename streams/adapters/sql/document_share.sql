SELECT id, accepted_version, live_version
FROM documents
WHERE tenant = %(tenant)s AND source = %(source)s AND doc_id = %(doc_id)s AND generation = %(generation)s
FOR SHARE
