l.tenant = %(tenant)s
AND l.generation = %(generation)s
AND (cardinality(l.agents) = 0 OR %(agent)s::text = ANY (l.agents))
AND (%(sources)s::text[] IS NULL OR l.source = ANY (%(sources)s::text[]))
AND (%(tags)s::text[] IS NULL OR l.tags && %(tags)s::text[])
AND (%(directory)s::text IS NULL OR starts_with(l.doc_id, %(directory)s::text))
AND (%(kinds)s::text[] IS NULL OR l.kind = ANY (%(kinds)s::text[]))
