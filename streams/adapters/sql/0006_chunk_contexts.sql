-- What a language model says of where a passage stands; empty: it was asked, and nothing of it was believed. A row
-- follows from its chunk, may come before or after its text, and goes with it (collect.sql). No version waits for it.
CREATE TABLE chunk_contexts (
    chunk_id uuid PRIMARY KEY,
    document bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    tenant   text NOT NULL,
    context  text NOT NULL
);
CREATE INDEX chunk_contexts_of_document ON chunk_contexts (document);
