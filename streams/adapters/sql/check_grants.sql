-- Which of these privileges the user has not; on tables, columns and functions that are there.
SELECT wanted.place
FROM unnest(%(privileges)s::text[], %(names)s::text[], %(columns)s::text[])
    WITH ORDINALITY AS wanted (privilege, name, columns, place)
WHERE CASE
    WHEN wanted.privilege = 'EXECUTE' THEN
        to_regprocedure(wanted.name) IS NOT NULL AND NOT has_function_privilege(to_regprocedure(wanted.name), 'EXECUTE')
    WHEN wanted.columns = '' THEN
        to_regclass(wanted.name) IS NOT NULL AND NOT has_table_privilege(to_regclass(wanted.name), wanted.privilege)
    ELSE to_regclass(wanted.name) IS NOT NULL AND NOT has_column_privilege(to_regclass(wanted.name), wanted.columns, wanted.privilege)
END
ORDER BY wanted.place
