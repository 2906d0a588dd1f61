-- Documents that an agent always gets are looked up with each of its questions.
CREATE INDEX document_versions_pinned ON document_versions USING gin (pinned) WHERE state = 'live' AND pinned <> '{}';

CREATE OR REPLACE VIEW live_chunks WITH (security_invoker = true) AS
SELECT d.id AS document, d.generation, d.tenant, d.source, d.doc_id,
       v.version, v.kind, v.title, v.uri, v.trust, v.language, v.agents, v.tags,
       m.chunk_id, m.parent_id, m.level, m.ordinal, v.pinned
FROM documents d
JOIN document_versions v ON v.document = d.id AND v.version = d.live_version
JOIN version_chunks m ON m.document = d.id AND m.version = d.live_version
WHERE v.state = 'live'
  AND NOT EXISTS (
      SELECT FROM deletions x
      WHERE x.tenant = d.tenant AND x.source = d.source AND x.doc_id = d.doc_id AND x.version > d.live_version
  );
