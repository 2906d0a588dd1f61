SELECT key_id, digest, tenant, agents, roles, name, created_at, expires_at, revoked_at
FROM api_keys
WHERE %(revoked)s OR revoked_at IS NULL
ORDER BY created_at, key_id
