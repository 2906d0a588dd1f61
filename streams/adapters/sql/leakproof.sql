-- Without the mark the planner may not use the full-text index below a policy. Only a superuser may set it.
DO $$
BEGIN
    IF NOT (SELECT proleakproof FROM pg_proc WHERE oid = 'ts_match_vq(tsvector,tsquery)'::regprocedure) THEN
        ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
    END IF;
END
$$
