-- Overviews of parts of the graph, each made of some passages; they go with the first of these (collect.sql) and are
-- shown only while all of them are live and visible. One with an empty text says that the model's answer to these
-- passages was not believed, so that it is not asked again.

CREATE TABLE graph_overviews (
    tenant     text NOT NULL,
    generation text NOT NULL,
    hash       text COLLATE "C" NOT NULL,
    title      text NOT NULL,
    text       text NOT NULL,
    language   text NOT NULL,
    weight     double precision NOT NULL,
    evidence   uuid[] NOT NULL CHECK (cardinality(evidence) > 0),
    lexemes    tsvector NOT NULL,
    model      text NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, generation, hash)
);
CREATE INDEX graph_overviews_of_chunk ON graph_overviews USING gin (evidence) WITH (fastupdate = off);
