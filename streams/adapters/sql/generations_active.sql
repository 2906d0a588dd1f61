SELECT id, model, dimension, also, lexical, average_length, chunker, state, replayed, fresh
FROM generations
WHERE state <> 'dropped'
ORDER BY state <> 'live', created_at, id
