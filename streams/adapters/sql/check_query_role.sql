SELECT to_regrole('rankstream_query') IS NOT NULL AND pg_has_role(to_regrole('rankstream_query'), 'MEMBER') AS member
