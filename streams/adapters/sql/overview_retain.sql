DELETE FROM graph_overviews
WHERE tenant = %(tenant)s AND generation = %(generation)s AND NOT hash = ANY (%(hashes)s::text[])
