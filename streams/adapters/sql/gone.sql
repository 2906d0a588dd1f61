SELECT EXISTS (
    SELECT FROM unnest(%(chunk_ids)s::uuid[]) AS found (chunk_id)
    WHERE NOT EXISTS (SELECT FROM version_chunks m WHERE m.chunk_id = found.chunk_id)
) AS gone
