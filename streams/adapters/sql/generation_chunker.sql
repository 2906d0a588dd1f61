SELECT chunker FROM generations WHERE state = 'live'
