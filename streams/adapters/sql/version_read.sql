SELECT version, op, state, reason, parts, chunks, waits, agents, tags, rewrite::text[] AS rewrite, overtaken
FROM document_versions
WHERE document = %(document)s AND version = %(version)s
