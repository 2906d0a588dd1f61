SELECT id, model, dimension, average_length FROM generations WHERE state = 'live'
