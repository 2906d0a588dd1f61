-- Nothing into a generation that was dropped: nobody would take it away again.
INSERT INTO documents (generation, tenant, source, doc_id)
SELECT %(generation)s, %(tenant)s, %(source)s, %(doc_id)s
WHERE NOT EXISTS (SELECT FROM generations WHERE id = %(generation)s AND state = 'dropped')
ON CONFLICT DO NOTHING
