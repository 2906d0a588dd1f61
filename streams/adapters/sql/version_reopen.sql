UPDATE document_versions
SET state = 'pending', reason = NULL, parts = %(parts)s, chunks = %(chunks)s, waits = %(waits)s
WHERE document = %(document)s AND version = %(version)s
