-- Which of a generation's embedders have lexical weights in the vector index. What was made before has none.
ALTER TABLE generations ADD COLUMN lexical text[] NOT NULL DEFAULT '{}';
