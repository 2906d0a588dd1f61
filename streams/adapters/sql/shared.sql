-- The chunks of one version that another kept version has too, with other agents or tags: one point in the vector
-- index serves both, and whoever wrote it last left its own filter payload there.
SELECT DISTINCT m.chunk_id::text
FROM document_versions mine
JOIN version_chunks m ON m.document = mine.document AND m.version = mine.version
JOIN version_chunks other ON other.chunk_id = m.chunk_id AND other.version <> m.version
JOIN document_versions theirs ON theirs.document = other.document AND theirs.version = other.version
WHERE mine.document = %(document)s AND mine.version = %(version)s
  AND (theirs.agents <> mine.agents OR theirs.tags <> mine.tags)
ORDER BY 1
