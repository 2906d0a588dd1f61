INSERT INTO graph_mentions (chunk_id, document, generation, tenant, key, name, kind, mentions)
SELECT m.chunk_id, %(document)s, %(generation)s, %(tenant)s, m.key, m.name, m.kind, m.mentions
FROM unnest(%(chunk_ids)s::uuid[], %(keys)s::text[], %(names)s::text[], %(kinds)s::text[], %(mentions)s::integer[])
    AS m (chunk_id, key, name, kind, mentions)
ORDER BY m.chunk_id, m.key COLLATE "C" -- one order for all, or two writers of the same chunks wait for each other
ON CONFLICT DO NOTHING
