-- Ordered before the chunks are looked at: reading ends when enough overviews are visible.
WITH term AS MATERIALIZED (
    SELECT t.term::tsquery AS query, (t.position - 1)::integer AS position
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, position)
)
SELECT o.hash, o.title, o.text, o.weight, o.evidence::text[] AS evidence, o.terms
FROM (
    SELECT g.hash, g.title, g.text, g.weight, g.evidence, has.terms, cardinality(has.terms) AS shared
    FROM graph_overviews g
    CROSS JOIN LATERAL (
        SELECT ARRAY(SELECT term.position FROM term WHERE g.lexemes @@ term.query ORDER BY term.position) AS terms
        OFFSET 0
    ) AS has
    WHERE g.tenant = %(tenant)s AND g.generation = %(generation)s AND g.text <> ''
    ORDER BY shared DESC, g.weight DESC, g.hash
    OFFSET 0
) AS o
WHERE (cardinality(%(terms)s::text[]) = 0 OR o.shared > 0)
  AND NOT EXISTS (
      SELECT FROM unnest(o.evidence) AS e (chunk_id)
      WHERE NOT EXISTS (SELECT FROM live_chunks l WHERE l.chunk_id = e.chunk_id AND {visible})
  )
ORDER BY o.shared DESC, o.weight DESC, o.hash
LIMIT %(limit)s
