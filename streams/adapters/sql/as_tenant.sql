-- No question reads a table whole; the planner, which cannot know how rare a question's words are, may think so.
SELECT set_config('enable_seqscan', 'off', true),
       set_config('rankstream.tenant', %(tenant)s, true),
       set_config('statement_timeout', %(timeout)s, true),
       set_config('plan_cache_mode', %(plans)s, true),
       set_config('role', CASE
           WHEN pg_has_role(to_regrole('rankstream_query'), 'MEMBER') THEN 'rankstream_query' ELSE 'none'
       END, true)
