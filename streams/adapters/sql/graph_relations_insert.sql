INSERT INTO graph_relations (
    chunk_id, document, generation, tenant, subject, object, label, weight, subject_name, object_name
)
SELECT r.chunk_id, %(document)s, %(generation)s, %(tenant)s, r.subject, r.object, r.label, r.weight, r.subject_name,
       r.object_name
FROM unnest(
    %(chunk_ids)s::uuid[], %(subjects)s::text[], %(objects)s::text[], %(labels)s::text[], %(weights)s::float8[],
    %(subject_names)s::text[], %(object_names)s::text[]
) AS r (chunk_id, subject, object, label, weight, subject_name, object_name)
ORDER BY r.chunk_id, r.subject COLLATE "C", r.object COLLATE "C", r.label COLLATE "C"
ON CONFLICT DO NOTHING
