-- The stores of the ingest side. A document's row is what every transaction about it locks first.

CREATE TABLE generations (
    id             text PRIMARY KEY,
    model          text NOT NULL,
    dimension      integer NOT NULL CHECK (dimension > 0),
    average_length double precision NOT NULL CHECK (average_length > 0),
    chunker        text NOT NULL DEFAULT '',
    state          text NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX one_live_generation ON generations (state) WHERE state = 'live';

CREATE TABLE documents (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation       text NOT NULL,
    tenant           text NOT NULL,
    source           text NOT NULL,
    doc_id           text NOT NULL,
    accepted_version bigint,
    accepted_hash    text,
    live_version     bigint,
    UNIQUE (tenant, source, doc_id, generation)
);

CREATE TABLE document_versions (
    document    bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version     bigint NOT NULL,
    tenant      text NOT NULL,
    hash        text NOT NULL,
    op          text NOT NULL CHECK (op IN ('upsert', 'delete')),
    kind        text NOT NULL,
    title       text NOT NULL,
    uri         text NOT NULL,
    trust       text NOT NULL,
    language    text NOT NULL,
    agents      text[] NOT NULL,
    pinned      text[] NOT NULL,
    tags        text[] NOT NULL,
    metadata    jsonb NOT NULL,
    updated_at  text,
    parts       integer NOT NULL,
    chunks      integer NOT NULL,
    waits       text[] NOT NULL,
    state       text NOT NULL CHECK (state IN ('pending', 'live', 'deleted', 'superseded', 'failed')),
    reason      text,
    -- What its publication said, so that a repeated receipt can say it again.
    rewrite     uuid[] NOT NULL DEFAULT '{}',
    overtaken   bigint[] NOT NULL DEFAULT '{}',
    accepted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document, version)
);

-- Which chunks a version has; only versions that are live or can still become live have rows here.
CREATE TABLE version_chunks (
    document  bigint NOT NULL,
    version   bigint NOT NULL,
    chunk_id  uuid NOT NULL,
    parent_id uuid NOT NULL,
    level     text NOT NULL,
    ordinal   integer NOT NULL,
    PRIMARY KEY (document, version, chunk_id),
    FOREIGN KEY (document, version) REFERENCES document_versions (document, version) ON DELETE CASCADE
);
CREATE INDEX version_chunks_of_chunk ON version_chunks (chunk_id);

-- What a chunk says, which follows from its id and never changes. Only parents have lexemes, and one more than their
-- text: the generation and tenant (see search.sql). The level of a Q&A pair's parent is `pair` here.
CREATE TABLE chunks (
    chunk_id     uuid PRIMARY KEY,
    document     bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    tenant       text NOT NULL,
    level        text NOT NULL,
    heading_path text[] NOT NULL,
    body         text NOT NULL,
    lexemes      tsvector STORAGE MAIN NOT NULL
) WITH (toast_tuple_target = 4500);  -- bytes; lexemes stay in the row, unpacked: ranking reads them for every match
CREATE INDEX chunks_of_document ON chunks (document);
-- A short pending list: every search reads all of it.
CREATE INDEX chunks_lexemes ON chunks USING gin (lexemes) WITH (gin_pending_list_limit = 256) WHERE level = 'parent';
-- Pairs are few, and their words may be asked for by their first letters: a search that reads every word so begun must
-- not read those of all documents.
CREATE INDEX chunks_pairs ON chunks USING gin (lexemes) WITH (gin_pending_list_limit = 256) WHERE level = 'pair';

-- The highest deletion of a document, for all generations; outlives its versions and every replay.
CREATE TABLE deletions (
    tenant     text NOT NULL,
    source     text NOT NULL,
    doc_id     text NOT NULL,
    version    bigint NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source, doc_id)
);

-- Chunks that a flip took out, until they are gone from the vector index too.
CREATE TABLE garbage (
    document bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk_id uuid NOT NULL,
    PRIMARY KEY (document, chunk_id)
);

CREATE TABLE tenant_epochs (
    tenant text PRIMARY KEY,
    epoch  bigint NOT NULL
);

-- The fence: what queries may see at all. Deletions count from the moment they are accepted.
CREATE VIEW live_chunks WITH (security_invoker = true) AS
SELECT d.id AS document, d.generation, d.tenant, d.source, d.doc_id,
       v.version, v.kind, v.title, v.uri, v.trust, v.language, v.agents, v.tags,
       m.chunk_id, m.parent_id, m.level, m.ordinal
FROM documents d
JOIN document_versions v ON v.document = d.id AND v.version = d.live_version
JOIN version_chunks m ON m.document = d.id AND m.version = d.live_version
WHERE v.state = 'live'
  AND NOT EXISTS (
      SELECT FROM deletions x
      WHERE x.tenant = d.tenant AND x.source = d.source AND x.doc_id = d.doc_id AND x.version > d.live_version
  );
