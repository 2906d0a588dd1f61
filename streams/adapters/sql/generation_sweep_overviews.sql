DELETE FROM graph_overviews WHERE generation = %(generation)s
