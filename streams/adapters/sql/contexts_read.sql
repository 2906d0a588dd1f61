SELECT chunk_id::text, context
FROM chunk_contexts
WHERE tenant = %(tenant)s AND chunk_id = ANY (%(chunk_ids)s::uuid[])
