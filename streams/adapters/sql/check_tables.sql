-- What the user of the database may not do on the tables, and whether it may ask as the role that rows are hidden from.
SELECT tables.tablename AS name, array_agg(wanted.privilege ORDER BY wanted.place) AS lacking
FROM pg_tables AS tables
CROSS JOIN (VALUES (1, 'SELECT'), (2, 'INSERT'), (3, 'UPDATE'), (4, 'DELETE')) AS wanted (place, privilege)
WHERE tables.schemaname = current_schema()
  AND NOT has_table_privilege(format('%I.%I', tables.schemaname, tables.tablename), wanted.privilege)
GROUP BY tables.tablename
ORDER BY tables.tablename
