-- Replays have no pictures any more. Deleting them first lets the triggers subtract what the companies stored.
DELETE FROM replay_frame;
DROP TRIGGER project_replay_frames_removed;
DROP TABLE replay_frame;
UPDATE capture SET health = json_remove(health, '$.frames') WHERE health ->> 'frames' IS NOT NULL;
