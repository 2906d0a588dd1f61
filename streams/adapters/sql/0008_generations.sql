-- Generations beside the live one: building, then live, then kept until it is dropped. Of a dropped one the row stays, so
-- that its id is never given again.
ALTER TABLE generations DROP CONSTRAINT generations_state_check;
UPDATE generations SET state = 'kept' WHERE state = 'retired';
ALTER TABLE generations ADD CONSTRAINT generations_state_check
    CHECK (state IN ('building', 'live', 'kept', 'dropped'));
ALTER TABLE generations ADD COLUMN replayed boolean NOT NULL DEFAULT false;
ALTER TABLE generations ADD COLUMN fresh boolean NOT NULL DEFAULT false;
ALTER TABLE generations ADD COLUMN live_until timestamptz;  -- when another one last took its place
CREATE UNIQUE INDEX one_building_generation ON generations (state) WHERE state = 'building';

-- Accepted from the log: whoever replays it must see to it, since nobody delivers its change again.
ALTER TABLE document_versions ADD COLUMN replayed boolean NOT NULL DEFAULT false;
