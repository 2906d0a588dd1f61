-- What the graph says around some keys: how common each is, which chunks mention it most, its strongest relations in
-- both directions, those between two keys of `pairs`, and which of `completed` the chunks found here or given mention.
-- Every list is read from an index in its order and ends when enough of it is visible, or after `scanned` rows; counts
-- stop at `frequent`. LIMIT or OFFSET in each lateral part keeps the planner from joining whole tables.
WITH asked AS MATERIALIZED (
    SELECT DISTINCT a.key FROM unnest(%(keys)s::text[]) AS a (key)
),
pair AS MATERIALIZED (
    SELECT DISTINCT s.key AS subject, o.key AS object
    FROM unnest(%(pairs)s::text[]) AS s (key), unnest(%(pairs)s::text[]) AS o (key)
    WHERE s.key <> o.key
),
mentioned AS MATERIALIZED (
    SELECT m.chunk_id, a.key, m.mentions
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT g.chunk_id, g.mentions
        FROM (
            SELECT g.chunk_id, g.mentions
            FROM graph_mentions g
            WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.key = a.key
            ORDER BY g.mentions DESC, g.chunk_id
            LIMIT %(scanned)s
        ) AS g
        CROSS JOIN LATERAL (SELECT FROM live_chunks l WHERE l.chunk_id = g.chunk_id AND {visible} LIMIT 1) AS seen
        ORDER BY g.mentions DESC, g.chunk_id
        LIMIT %(mentions)s
    ) AS m
),
related AS MATERIALIZED (
    SELECT r.*
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT g.*
        FROM (
            SELECT g.chunk_id, g.subject, g.object, g.label, g.weight, g.subject_name, g.object_name
            FROM graph_relations g
            WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.subject = a.key
            ORDER BY g.weight DESC, g.chunk_id, g.object, g.label
            LIMIT %(scanned)s
        ) AS g
        CROSS JOIN LATERAL (SELECT FROM live_chunks l WHERE l.chunk_id = g.chunk_id AND {visible} LIMIT 1) AS seen
        ORDER BY g.weight DESC, g.chunk_id, g.object, g.label
        LIMIT %(relations)s
    ) AS r
    UNION
    SELECT r.*
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT g.*
        FROM (
            SELECT g.chunk_id, g.subject, g.object, g.label, g.weight, g.subject_name, g.object_name
            FROM graph_relations g
            WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.object = a.key
            ORDER BY g.weight DESC, g.chunk_id, g.subject, g.label
            LIMIT %(scanned)s
        ) AS g
        CROSS JOIN LATERAL (SELECT FROM live_chunks l WHERE l.chunk_id = g.chunk_id AND {visible} LIMIT 1) AS seen
        ORDER BY g.weight DESC, g.chunk_id, g.subject, g.label
        LIMIT %(relations)s
    ) AS r
    UNION
    SELECT r.*
    FROM pair p
    CROSS JOIN LATERAL (
        SELECT g.*
        FROM (
            SELECT g.chunk_id, g.subject, g.object, g.label, g.weight, g.subject_name, g.object_name
            FROM graph_relations g
            WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s
              AND g.subject = p.subject AND g.object = p.object
            ORDER BY g.weight DESC, g.chunk_id, g.label
            LIMIT %(scanned)s
        ) AS g
        CROSS JOIN LATERAL (SELECT FROM live_chunks l WHERE l.chunk_id = g.chunk_id AND {visible} LIMIT 1) AS seen
        ORDER BY g.weight DESC, g.chunk_id, g.label
        LIMIT %(relations)s
    ) AS r
),
found AS MATERIALIZED (
    SELECT chunk_id FROM mentioned
    UNION
    SELECT chunk_id FROM related
    UNION
    SELECT unnest(%(chunk_ids)s::uuid[])
)
SELECT 'frequency' AS what, NULL AS chunk_id, a.key, seen.rows::float8 AS number,
       NULL AS object, NULL AS label, NULL AS subject_name, NULL AS object_name
FROM asked a
CROSS JOIN LATERAL (
    SELECT count(*) AS rows
    FROM (
        SELECT FROM graph_mentions g
        WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.key = a.key
        LIMIT %(frequent)s
    ) AS counted
) AS seen
UNION ALL
SELECT 'mention', chunk_id::text, key, mentions, NULL, NULL, NULL, NULL FROM mentioned
UNION ALL
SELECT 'relation', chunk_id::text, subject, weight, object, label, subject_name, object_name FROM related
UNION ALL
SELECT 'mention', f.chunk_id::text, m.key, m.mentions, NULL, NULL, NULL, NULL
FROM found f
CROSS JOIN LATERAL (
    SELECT g.key, g.mentions
    FROM graph_mentions g
    WHERE g.chunk_id = f.chunk_id AND g.key = ANY (%(completed)s::text[]) AND g.tenant = %(tenant)s
    OFFSET 0
) AS m
