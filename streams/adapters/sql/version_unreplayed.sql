-- Whether a version of the log has still to be brought into a generation: not where a higher one is live in any, or a
-- deletion came after it, or this generation has it already from whoever accepts changes.
SELECT NOT EXISTS (
    SELECT FROM documents d
    JOIN generations g ON g.id = d.generation AND g.state <> 'dropped'
    WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s AND d.live_version > %(version)s
) AND NOT EXISTS (
    SELECT FROM deletions x
    WHERE x.tenant = %(tenant)s AND x.source = %(source)s AND x.doc_id = %(doc_id)s AND x.version > %(version)s
) AND NOT EXISTS (
    SELECT FROM documents d
    LEFT JOIN document_versions v ON v.document = d.id AND v.version = %(version)s
    WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s AND d.generation = %(generation)s
      AND (d.accepted_version > %(version)s OR d.live_version = %(version)s OR NOT v.replayed)
) AS unreplayed
