-- Whose chunks a version has: row-level security needs it in the row. It may be null, and no row is changed here: the table
-- is locked for a moment only (0011 fills old rows), and pods of the release before write on without it.
ALTER TABLE version_chunks ADD COLUMN tenant text;
CREATE FUNCTION member_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT d.tenant INTO NEW.tenant FROM documents d WHERE d.id = NEW.document;
    RETURN NEW;
END
$$;
CREATE TRIGGER member_tenant BEFORE INSERT ON version_chunks
    FOR EACH ROW WHEN (NEW.tenant IS NULL) EXECUTE FUNCTION member_tenant();

-- Whoever only reads asks for the epoch of one tenant, and never sees which tenants there are.
CREATE FUNCTION epoch_of(wanted text) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT epoch FROM tenant_epochs WHERE tenant = wanted;
END;
REVOKE ALL ON FUNCTION epoch_of(text) FROM PUBLIC;
