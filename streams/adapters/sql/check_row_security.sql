-- Whether questions of this user see their tenant's rows alone, and what is so kept.
SELECT to_regrole('rankstream_query') IS NOT NULL AND pg_has_role(to_regrole('rankstream_query'), 'MEMBER') AS member,
       coalesce((SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass('chunks')), false) AS enabled
