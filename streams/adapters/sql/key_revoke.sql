-- The first revocation counts: when it was is what an investigation asks for.
UPDATE api_keys SET revoked_at = coalesce(revoked_at, %(now)s) WHERE key_id = %(key_id)s RETURNING key_id
