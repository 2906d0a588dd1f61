INSERT INTO chunks (chunk_id, document, tenant, level, heading_path, body, lexemes)
VALUES (%(id)s, %(document)s, %(tenant)s, %(level)s, %(heading_path)s, %(body)s, %(lexemes)s::tsvector)
ON CONFLICT DO NOTHING
