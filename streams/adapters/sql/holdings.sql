SELECT count(DISTINCT document) AS documents, count(*) AS chunks
FROM live_chunks
WHERE tenant = %(tenant)s AND generation = %(generation)s
