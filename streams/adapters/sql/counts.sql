SELECT tenant, count(DISTINCT document) AS documents, count(*) AS chunks
FROM live_chunks
WHERE generation = %(generation)s
GROUP BY tenant
ORDER BY tenant
