WITH taken AS (
    DELETE FROM garbage WHERE document = %(document)s RETURNING document, chunk_id
),
unwanted AS (
    SELECT t.chunk_id FROM taken t
    WHERE NOT EXISTS (SELECT FROM version_chunks m WHERE m.document = t.document AND m.chunk_id = t.chunk_id)
),
deleted AS (
    DELETE FROM chunks USING unwanted WHERE chunks.chunk_id = unwanted.chunk_id
),
unmentioned AS (
    DELETE FROM graph_mentions USING unwanted WHERE graph_mentions.chunk_id = unwanted.chunk_id
),
unsituated AS (
    DELETE FROM chunk_contexts USING unwanted WHERE chunk_contexts.chunk_id = unwanted.chunk_id
),
unrelated AS (
    DELETE FROM graph_relations USING unwanted WHERE graph_relations.chunk_id = unwanted.chunk_id
),
untold AS (
    DELETE FROM graph_overviews WHERE evidence && ARRAY(SELECT chunk_id FROM unwanted)
)
SELECT chunk_id::text FROM unwanted ORDER BY chunk_id
