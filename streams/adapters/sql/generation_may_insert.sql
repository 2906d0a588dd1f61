SELECT has_table_privilege('generations', 'INSERT') AS insert
