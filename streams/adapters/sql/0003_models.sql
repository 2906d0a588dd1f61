-- Further embedders of a generation: [{"name": …, "dimension": …}]. What was made before has none.

ALTER TABLE generations ADD COLUMN also jsonb NOT NULL DEFAULT '[]';
