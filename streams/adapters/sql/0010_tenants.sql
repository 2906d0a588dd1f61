-- Whose chunks a version has: row-level security needs it in the row.
ALTER TABLE version_chunks ADD COLUMN tenant text;
UPDATE version_chunks m SET tenant = d.tenant FROM documents d WHERE d.id = m.document;
ALTER TABLE version_chunks ALTER COLUMN tenant SET NOT NULL;

-- Whoever only reads asks for the epoch of one tenant, and never sees which tenants there are.
CREATE FUNCTION epoch_of(wanted text) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT epoch FROM tenant_epochs WHERE tenant = wanted;
END;
REVOKE ALL ON FUNCTION epoch_of(text) FROM PUBLIC;
