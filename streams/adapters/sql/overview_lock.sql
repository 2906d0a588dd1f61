-- In one order: whoever holds one of these documents holds no other.
SELECT d.id
FROM documents d
WHERE d.tenant = %(tenant)s AND d.generation = %(generation)s
  AND d.id IN (SELECT m.document FROM version_chunks m WHERE m.chunk_id = ANY (%(evidence)s::uuid[]))
ORDER BY d.id
FOR SHARE
