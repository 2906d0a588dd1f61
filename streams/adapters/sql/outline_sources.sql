SELECT m.chunk_id::text, c.heading_path, c.body, l.language
FROM (
    SELECT g.chunk_id, count(*) AS keys, sum(least(g.mentions, 5)) AS mentions
    FROM graph_mentions g
    WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.key = ANY (%(keys)s::text[])
    GROUP BY g.chunk_id
    HAVING count(*) > 1
) AS m
JOIN live_chunks l ON l.chunk_id = m.chunk_id
JOIN chunks c ON c.chunk_id = m.chunk_id
WHERE l.tenant = %(tenant)s AND l.generation = %(generation)s
  AND ARRAY(SELECT DISTINCT x COLLATE "C" FROM unnest(l.agents) AS x ORDER BY 1) = %(audience)s::text[]
ORDER BY m.keys DESC, m.mentions DESC, m.chunk_id
LIMIT %(limit)s
