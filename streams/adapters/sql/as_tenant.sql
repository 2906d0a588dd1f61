SELECT set_config('rankstream.tenant', %(tenant)s, true),
       set_config('statement_timeout', %(timeout)s, true),
       set_config('role', CASE
           WHEN pg_has_role(to_regrole('rankstream_query'), 'MEMBER') THEN 'rankstream_query' ELSE 'none'
       END, true)
