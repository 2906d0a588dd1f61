-- One batch, asked for again after the last document of the one before. Whoever writes a document locks it first, so that
-- here no two wait for each other's rows.
WITH batch AS MATERIALIZED (
    SELECT id, tenant FROM documents WHERE id > %(after)s ORDER BY id LIMIT %(documents)s FOR NO KEY UPDATE
),
filled AS (
    UPDATE version_chunks m SET tenant = b.tenant FROM batch b WHERE m.document = b.id AND m.tenant IS NULL
)
SELECT max(id) AS last FROM batch
