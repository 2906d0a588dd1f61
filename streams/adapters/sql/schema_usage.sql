-- Into a schema of one's own nobody else may look; into `public` everybody may, unless that was taken away.
DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['rankstream_query', 'rankstream_writer', 'rankstream_operator'] LOOP
        IF NOT has_schema_privilege(role, current_schema(), 'USAGE') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
        END IF;
    END LOOP;
END
$$
