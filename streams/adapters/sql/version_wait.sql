UPDATE document_versions SET waits = %(waits)s WHERE document = %(document)s AND version = %(version)s
