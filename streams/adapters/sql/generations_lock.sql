SELECT id, state, live_until FROM generations ORDER BY id FOR UPDATE
