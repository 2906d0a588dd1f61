UPDATE document_versions SET state = 'failed', reason = %(reason)s
WHERE document = %(document)s AND version = %(version)s
