-- How common the terms are among a tenant's passages of a kind, counted up to the bound.
SELECT (
    SELECT count(*)
    FROM (
        SELECT FROM chunks c
        WHERE c.lexemes @@ (t.term::tsquery && %(owner)s::tsquery) AND c.level = {level}
        LIMIT %(bound)s + 1
    ) AS matched
)::integer AS rows
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, position)
ORDER BY t.position
