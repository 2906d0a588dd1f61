-- The knowledge graph: what chunks mention, and how what they mention connects. Rows follow from their chunk's text, are
-- never changed, and go with their chunk (collect.sql). The graph is advisory: no version waits for it.

CREATE TABLE graph_mentions (
    chunk_id   uuid NOT NULL,
    document   bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    generation text NOT NULL,
    tenant     text NOT NULL,
    key        text COLLATE "C" NOT NULL,
    name       text NOT NULL,
    kind       text NOT NULL,
    mentions   integer NOT NULL CHECK (mentions > 0),
    PRIMARY KEY (chunk_id, key)
);
CREATE INDEX graph_mentions_of_key ON graph_mentions (tenant, generation, key, mentions DESC, chunk_id);
CREATE INDEX graph_mentions_of_document ON graph_mentions (document);

-- With the names as the chunk writes them: facts are shown without another look-up.
CREATE TABLE graph_relations (
    chunk_id     uuid NOT NULL,
    document     bigint NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    generation   text NOT NULL,
    tenant       text NOT NULL,
    subject      text COLLATE "C" NOT NULL,
    object       text COLLATE "C" NOT NULL,
    label        text COLLATE "C" NOT NULL,
    weight       double precision NOT NULL,
    subject_name text NOT NULL,
    object_name  text NOT NULL,
    PRIMARY KEY (chunk_id, subject, object, label)
);
CREATE INDEX graph_relations_of_subject ON graph_relations (tenant, generation, subject, weight DESC, chunk_id);
CREATE INDEX graph_relations_of_object ON graph_relations (tenant, generation, object, weight DESC, chunk_id);
CREATE INDEX graph_relations_of_pair ON graph_relations (tenant, generation, subject, object, weight DESC, chunk_id);
CREATE INDEX graph_relations_of_document ON graph_relations (document);
