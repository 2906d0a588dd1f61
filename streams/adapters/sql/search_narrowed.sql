-- For a caller who sees little of what matches: only visible rows count towards the bound.
SELECT c.chunk_id::text,
       ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', c.lexemes, %(query)s::tsquery)::float8 AS score
FROM (
    SELECT c.chunk_id, c.lexemes
    FROM live_chunks l
    JOIN chunks c ON c.chunk_id = l.chunk_id
    WHERE c.lexemes @@ ((%(query)s::tsquery) && %(owner)s::tsquery) AND c.level = {level} AND {visible}
    LIMIT %(bound)s
) AS c
ORDER BY score DESC, c.chunk_id
LIMIT %(limit)s
