INSERT INTO generations (id, model, dimension, also, lexical, average_length, chunker, state)
VALUES (%(id)s, %(model)s, %(dimension)s, %(also)s, %(lexical)s, %(average_length)s, %(chunker)s, 'live')
ON CONFLICT DO NOTHING
