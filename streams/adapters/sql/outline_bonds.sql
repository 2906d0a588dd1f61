-- Sums of numerics: they are exact, so that the same graph always falls into the same clusters.
WITH seen AS MATERIALIZED (
    SELECT l.chunk_id
    FROM live_chunks l
    WHERE l.tenant = %(tenant)s AND l.generation = %(generation)s AND l.chunk_id = l.parent_id
      AND ARRAY(SELECT DISTINCT x COLLATE "C" FROM unnest(l.agents) AS x ORDER BY 1) = %(audience)s::text[]
)
SELECT least(r.subject, r.object) AS a, greatest(r.subject, r.object) AS b,
       round(sum(r.weight::numeric), 6)::float8 AS weight
FROM seen
JOIN graph_relations r ON r.chunk_id = seen.chunk_id
WHERE r.tenant = %(tenant)s AND r.generation = %(generation)s
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2
LIMIT %(limit)s
