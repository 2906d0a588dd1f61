INSERT INTO documents (generation, tenant, source, doc_id)
VALUES (%(generation)s, %(tenant)s, %(source)s, %(doc_id)s)
ON CONFLICT DO NOTHING
