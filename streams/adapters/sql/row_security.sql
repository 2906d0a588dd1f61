-- Row-level security for the role that queries run as; beside the explicit filter, never instead of it.
-- Run at every migration: roles and the mark on the match function are not part of a dump. Where the database's user
-- may not do this, queries run as that user, with the explicit filter alone.
DO $$
DECLARE
    relation text;
BEGIN
    -- Without the mark the planner may not use the full-text index below a policy.
    IF NOT (SELECT proleakproof FROM pg_proc WHERE oid = 'ts_match_vq(tsvector,tsquery)'::regprocedure) THEN
        ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
    END IF;
    IF to_regrole('rankstream_query') IS NULL THEN
        BEGIN
            CREATE ROLE rankstream_query NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server was quicker
        END;
    END IF;
    IF NOT pg_has_role(to_regrole('rankstream_query'), 'MEMBER') THEN
        EXECUTE format('GRANT rankstream_query TO %I', current_user);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO rankstream_query', current_schema());
    GRANT SELECT ON documents, document_versions, version_chunks, chunks, deletions, live_chunks, graph_mentions,
        graph_relations, graph_overviews, chunk_contexts TO rankstream_query;
    FOREACH relation IN ARRAY ARRAY[
        'documents', 'document_versions', 'chunks', 'deletions', 'graph_mentions', 'graph_relations', 'graph_overviews',
        'chunk_contexts'
    ] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_policy WHERE polrelid = relation::regclass AND polname = 'own_tenant'
        ) THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
            EXECUTE format(
                'CREATE POLICY own_tenant ON %I FOR SELECT TO rankstream_query '
                'USING (tenant = (SELECT current_setting(''rankstream.tenant'', true)))', relation);
        END IF;
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'row-level security is off, the explicit filter stands alone: %', SQLERRM;
END
$$;
