-- The roles of rankstream, none of which can log in. Run at every migration, since they are not part of a dump. Roles are the
-- server's and what they may do is the database's (grants.sql).
DO $$
DECLARE
    wanted text;
    member text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY[
        'rankstream_query', 'rankstream_reader', 'rankstream_writer', 'rankstream_operator', 'rankstream_gateway'
    ] LOOP
        IF to_regrole(wanted) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database of this server was quicker
            END;
        END IF;
    END LOOP;
    -- Questions run as rankstream_query, whoever asks them.
    FOREACH member IN ARRAY ARRAY['rankstream_reader', 'rankstream_operator', 'rankstream_gateway'] LOOP
        IF NOT pg_has_role(member, 'rankstream_query', 'USAGE') THEN
            EXECUTE format('GRANT rankstream_query TO %I', member);
        END IF;
    END LOOP;
END
$$
