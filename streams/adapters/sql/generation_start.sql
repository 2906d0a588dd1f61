INSERT INTO generations (id, model, dimension, also, lexical, average_length, chunker, state, replayed, fresh)
VALUES (
    %(id)s, %(model)s, %(dimension)s, %(also)s, %(lexical)s, %(average_length)s, %(chunker)s, 'building', true, %(fresh)s
)
