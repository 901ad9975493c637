-- The queue of tickets that agents claim: the unresolved ones of a column, the most urgent first. A project names the
-- label that sends a ticket to agents.

CREATE INDEX ticket_ready ON ticket (column_id, priority DESC, position) WHERE status = 'active' AND resolved = 0;
ALTER TABLE project ADD COLUMN agent_label TEXT NOT NULL DEFAULT 'agent';
