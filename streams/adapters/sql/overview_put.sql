INSERT INTO graph_overviews (tenant, generation, hash, title, text, language, weight, evidence, lexemes, model)
SELECT %(tenant)s, %(generation)s, %(hash)s, %(title)s, %(text)s, %(language)s, %(weight)s, %(evidence)s::uuid[],
       %(lexemes)s::tsvector, %(model)s
WHERE NOT EXISTS (
    SELECT FROM unnest(%(evidence)s::uuid[]) AS e (chunk_id)
    WHERE NOT EXISTS (
        SELECT FROM live_chunks l
        WHERE l.chunk_id = e.chunk_id AND l.tenant = %(tenant)s AND l.generation = %(generation)s
    )
)
ON CONFLICT (tenant, generation, hash) DO UPDATE
SET title = excluded.title, text = excluded.text, weight = excluded.weight, lexemes = excluded.lexemes, made_at = now()
