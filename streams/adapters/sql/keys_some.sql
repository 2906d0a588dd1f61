SELECT key_id, digest, tenant, agents, roles, name, created_at, expires_at, revoked_at
FROM api_keys
WHERE key_id = ANY(%(key_ids)s) AND revoked_at IS NULL
