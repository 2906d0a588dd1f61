-- Who may come in over HTTP and MCP. Of a key only its SHA-256 is kept; the query role has no right on this table.
CREATE TABLE api_keys (
    key_id     text PRIMARY KEY,
    digest     bytea NOT NULL CHECK (octet_length(digest) = 32),
    tenant     text NOT NULL,
    agents     text[] NOT NULL,
    roles      text[] NOT NULL,
    name       text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
