INSERT INTO api_keys (key_id, digest, tenant, agents, roles, name, created_at, expires_at)
VALUES (%(key_id)s, %(digest)s, %(tenant)s, %(agents)s, %(roles)s, %(name)s, %(created_at)s, %(expires_at)s)
