-- Row-level security for the role that questions run as; beside the explicit filter, never instead of it. Run at every
-- migration. Those who write, and the operator, work for all tenants. The owner of the tables is not held to it: it prepares
-- the database, and what asks as rankstream_query is not the owner, whoever logged in.
DO $$
DECLARE
    relation text;
BEGIN
    IF NOT pg_has_role('rankstream_query', 'MEMBER') THEN
        BEGIN
            EXECUTE format('GRANT rankstream_query TO %I', current_user);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'row-level security is off for questions of %, who is no member of rankstream_query', current_user;
        END;
    END IF;
    FOREACH relation IN ARRAY ARRAY[
        'documents', 'document_versions', 'version_chunks', 'chunks', 'deletions', 'graph_mentions', 'graph_relations',
        'graph_overviews', 'chunk_contexts'
    ] LOOP
        IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = relation::regclass AND polname = 'own_tenant') THEN
            EXECUTE format(
                'CREATE POLICY own_tenant ON %I FOR SELECT TO rankstream_query '
                'USING (tenant = (SELECT current_setting(''rankstream.tenant'', true)))', relation);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = relation::regclass AND polname = 'every_tenant') THEN
            EXECUTE format(
                'CREATE POLICY every_tenant ON %I TO rankstream_writer, rankstream_operator USING (true)', relation);
        END IF;
        -- Done again, it would still wait for every question in progress.
        IF NOT (SELECT relrowsecurity FROM pg_class WHERE oid = relation::regclass) THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
        END IF;
    END LOOP;
END
$$
