-- What belongs to a document goes with it. In the order of ids, from where the last piece ended: an index of generations
-- would save a look at the others' rows, and offer every question a bad plan.
DELETE FROM documents
WHERE id IN (
    SELECT id FROM documents WHERE generation = %(generation)s AND id > %(after)s ORDER BY id LIMIT %(limit)s
)
RETURNING id
