SELECT id, model, dimension, also, lexical, average_length FROM generations WHERE state = 'live'
