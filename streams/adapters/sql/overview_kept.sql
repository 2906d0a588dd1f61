SELECT o.hash
FROM graph_overviews o
WHERE o.tenant = %(tenant)s AND o.generation = %(generation)s
  AND NOT EXISTS (
      SELECT FROM unnest(o.evidence) AS e (chunk_id)
      WHERE NOT EXISTS (
          SELECT FROM live_chunks l
          WHERE l.chunk_id = e.chunk_id AND l.tenant = %(tenant)s AND l.generation = %(generation)s
      )
  )
