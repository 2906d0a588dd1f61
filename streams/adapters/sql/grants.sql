-- What each role may do, a line each; `rankstream check` reads these lines too. UPDATE of a column is also what a lock needs.

-- Questions, as the tenant of their transaction: row_security.sql keeps all others' rows from this role.
GRANT SELECT ON documents TO rankstream_query;
GRANT SELECT ON document_versions TO rankstream_query;
GRANT SELECT ON version_chunks TO rankstream_query;
GRANT SELECT ON chunks TO rankstream_query;
GRANT SELECT ON deletions TO rankstream_query;
GRANT SELECT ON live_chunks TO rankstream_query;
GRANT SELECT ON graph_mentions TO rankstream_query;
GRANT SELECT ON graph_relations TO rankstream_query;
GRANT SELECT ON graph_overviews TO rankstream_query;
GRANT SELECT ON chunk_contexts TO rankstream_query;

-- What answers questions.
GRANT SELECT ON generations TO rankstream_reader;
GRANT SELECT ON migrations TO rankstream_reader;
GRANT EXECUTE ON FUNCTION epoch_of(text) TO rankstream_reader;

-- What takes documents in.
GRANT SELECT, INSERT ON generations TO rankstream_writer;
GRANT SELECT ON migrations TO rankstream_writer;
GRANT SELECT, INSERT, UPDATE (accepted_version, accepted_hash, live_version) ON documents TO rankstream_writer;
GRANT SELECT, INSERT, UPDATE (state, reason, parts, chunks, waits, rewrite, overtaken), DELETE ON document_versions TO rankstream_writer;
GRANT SELECT, INSERT, DELETE ON version_chunks TO rankstream_writer;
GRANT SELECT (chunk_id), INSERT, DELETE ON chunks TO rankstream_writer;
GRANT SELECT, INSERT, UPDATE (version) ON deletions TO rankstream_writer;
GRANT SELECT, INSERT, DELETE ON garbage TO rankstream_writer;
GRANT SELECT, INSERT, UPDATE (epoch) ON tenant_epochs TO rankstream_writer;
GRANT SELECT (chunk_id), INSERT, DELETE ON graph_mentions TO rankstream_writer;
GRANT SELECT (chunk_id), INSERT, DELETE ON graph_relations TO rankstream_writer;
GRANT SELECT (evidence), DELETE ON graph_overviews TO rankstream_writer;
GRANT SELECT, INSERT, DELETE ON chunk_contexts TO rankstream_writer;

-- HTTP and MCP.
GRANT SELECT ON generations TO rankstream_gateway;
GRANT SELECT ON migrations TO rankstream_gateway;
GRANT SELECT ON api_keys TO rankstream_gateway;

-- `rankstream reindex`, `graph summarize`, `status`, `keys`.
GRANT SELECT, INSERT, UPDATE (state, live_until) ON generations TO rankstream_operator;
GRANT SELECT ON migrations TO rankstream_operator;
GRANT SELECT, UPDATE (id), DELETE ON documents TO rankstream_operator;
GRANT SELECT ON document_versions TO rankstream_operator;
GRANT SELECT ON version_chunks TO rankstream_operator;
GRANT SELECT ON deletions TO rankstream_operator;
GRANT SELECT ON live_chunks TO rankstream_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON graph_overviews TO rankstream_operator;
GRANT SELECT, INSERT, UPDATE (epoch) ON tenant_epochs TO rankstream_operator;
GRANT EXECUTE ON FUNCTION epoch_of(text) TO rankstream_operator;
GRANT SELECT, INSERT, UPDATE (revoked_at) ON api_keys TO rankstream_operator;
