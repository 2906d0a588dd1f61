-- Natural questions are OR-ed, and ranking reads every matched text, so that the number of ranked rows is bounded: the
-- rarest terms, all of whose rows fit in `bound`, and what room is left to the next one.
-- `owner` is the lexeme of the generation and tenant: the index meets it with each term, so that a search costs what its
-- own tenant's texts cost. Ranked rows are looked at, best first, until enough are visible; how common the terms are is
-- said even when none is.
WITH term AS MATERIALIZED (
    SELECT t.term::tsquery AS query, t.position, seen.rows
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, position)
    CROSS JOIN LATERAL (
        SELECT count(*) AS rows
        FROM (
            SELECT FROM chunks c
            WHERE c.lexemes @@ (t.term::tsquery && %(owner)s::tsquery) AND c.level = {level}
            LIMIT %(bound)s + 1
        ) AS matched
    ) AS seen
),
rarest AS (
    SELECT query, sum(rows) OVER (ORDER BY rows, position) AS upto
    FROM term
    WHERE rows > 0
),
split AS MATERIALIZED (
    SELECT (string_agg(query::text, ' | ') FILTER (WHERE upto <= %(bound)s))::tsquery AS rare,
           coalesce(max(upto) FILTER (WHERE upto <= %(bound)s), 0)::bigint AS found,
           (array_agg(query ORDER BY upto) FILTER (WHERE upto > %(bound)s))[1] AS next
    FROM rarest
),
-- Worked out here, since below a row-level policy the index takes no expression but a plain value.
wanted AS MATERIALIZED (
    SELECT rare && %(owner)s::tsquery AS rare,
           coalesce(next && !!rare, next) && %(owner)s::tsquery AS next,
           %(bound)s - found AS room
    FROM split
),
ranked AS MATERIALIZED (
    SELECT c.chunk_id, ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', c.lexemes, %(query)s::tsquery) AS score
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT c.chunk_id, c.lexemes
        FROM chunks c
        WHERE c.lexemes @@ wanted.rare AND c.level = {level}
        OFFSET 0
    ) AS c
    UNION ALL
    SELECT c.chunk_id, ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', c.lexemes, %(query)s::tsquery)
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT c.chunk_id, c.lexemes
        FROM chunks c
        WHERE c.lexemes @@ wanted.next AND c.level = {level}
        LIMIT wanted.room
    ) AS c
)
SELECT hit.chunk_id::text, hit.score::float8, counts.ranked, counts.frequencies
FROM (
    SELECT (SELECT count(*) FROM ranked) AS ranked,
           (SELECT array_agg(rows::integer ORDER BY position) FROM term) AS frequencies
) AS counts
LEFT JOIN (
    SELECT best.chunk_id, best.score
    FROM (SELECT chunk_id, score FROM ranked ORDER BY score DESC, chunk_id) AS best
    CROSS JOIN LATERAL (
        SELECT FROM live_chunks l
        WHERE l.chunk_id = best.chunk_id AND {visible}
        LIMIT 1
    ) AS seen
    ORDER BY best.score DESC, best.chunk_id
    LIMIT %(limit)s
) AS hit ON true
ORDER BY hit.score DESC, hit.chunk_id
