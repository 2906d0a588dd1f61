WITH accepted AS (
    UPDATE documents SET accepted_version = %(version)s, accepted_hash = %(hash)s WHERE id = %(document)s
)
INSERT INTO document_versions (
    document, version, tenant, hash, op, kind, title, uri, trust, language, agents, pinned, tags, metadata, updated_at,
    parts, chunks, waits, replayed, state
)
VALUES (
    %(document)s, %(version)s, %(tenant)s, %(hash)s, %(op)s, %(kind)s, %(title)s, %(uri)s, %(trust)s, %(language)s,
    %(agents)s, %(pinned)s, %(tags)s, %(metadata)s, %(updated_at)s, %(parts)s, %(chunks)s, %(waits)s, %(replayed)s, 'pending'
)
