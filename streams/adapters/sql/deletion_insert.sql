INSERT INTO deletions AS known (tenant, source, doc_id, version)
VALUES (%(tenant)s, %(source)s, %(doc_id)s, %(version)s)
ON CONFLICT (tenant, source, doc_id) DO UPDATE SET version = greatest(known.version, excluded.version)
