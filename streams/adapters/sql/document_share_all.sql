-- In one order, behind which nobody waits in another: all others lock one row of a document.
SELECT accepted_version
FROM documents
WHERE tenant = %(tenant)s AND source = %(source)s AND doc_id = %(doc_id)s AND accepted_version IS NOT NULL
ORDER BY id
FOR SHARE
