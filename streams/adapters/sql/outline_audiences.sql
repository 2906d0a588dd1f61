SELECT a.audience
FROM (
    SELECT ARRAY(SELECT DISTINCT x COLLATE "C" FROM unnest(l.agents) AS x ORDER BY 1) AS audience
    FROM live_chunks l
    WHERE l.tenant = %(tenant)s AND l.generation = %(generation)s AND l.chunk_id = l.parent_id
) AS a
GROUP BY a.audience
ORDER BY count(*) DESC, a.audience
LIMIT %(limit)s
