-- What belongs to a document goes with it.
DELETE FROM documents
WHERE id IN (SELECT id FROM documents WHERE generation = %(generation)s ORDER BY id LIMIT %(limit)s)
