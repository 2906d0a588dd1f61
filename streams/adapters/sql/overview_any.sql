SELECT EXISTS (
    SELECT FROM graph_overviews o WHERE o.tenant = %(tenant)s AND o.generation = %(generation)s AND o.text <> ''
) AS known
