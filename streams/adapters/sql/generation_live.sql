SELECT id, model, dimension, also, average_length FROM generations WHERE state = 'live'
