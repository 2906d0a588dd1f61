-- Natural questions are OR-ed, and ranking reads every matched text, so the number of ranked rows is bounded: terms are
-- taken from the rarest on until `bound` rows are found. `owner` is the lexeme of the generation and tenant: the index
-- meets it with each term, so that a search costs what its own tenant's texts cost.
-- Where a caller narrows the search, rarity in all texts says little, and every term is looked for.
WITH term AS MATERIALIZED (
    SELECT (t.term::tsquery) && %(owner)s::tsquery AS query, t.position, seen.rows
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, position)
    CROSS JOIN LATERAL (
        SELECT count(*) AS rows
        FROM (
            SELECT FROM chunks c
            WHERE c.lexemes @@ ((t.term::tsquery) && %(owner)s::tsquery) AND c.level = 'parent'
            LIMIT %(bound)s
        ) AS matched
    ) AS seen
),
rarest AS (
    SELECT query, position, rows,
           CASE WHEN %(narrowed)s THEN 0 ELSE (sum(rows) OVER (ORDER BY rows, position))::bigint - rows END AS before
    FROM term
    WHERE rows > 0
),
candidate AS MATERIALIZED (
    SELECT DISTINCT found.chunk_id
    FROM rarest r
    CROSS JOIN LATERAL (
        SELECT c.chunk_id
        FROM chunks c
        JOIN live_chunks l ON l.chunk_id = c.chunk_id
        WHERE c.lexemes @@ r.query AND c.level = 'parent'
          AND {visible}
        LIMIT greatest(%(bound)s - r.before, 0)
    ) AS found
    WHERE r.before < %(bound)s
)
SELECT c.chunk_id::text, ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', c.lexemes, %(query)s::tsquery)::float8 AS score
FROM candidate
JOIN chunks c USING (chunk_id)
ORDER BY score DESC, c.chunk_id
LIMIT %(limit)s
