-- Webhooks: who is told of a company's events, and the outbox of what is still to be told.

-- seen is the number of the last event that was turned into deliveries: it moves on in their transaction.
CREATE TABLE webhook (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  company_id INTEGER NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('standard', 'slack', 'discord')),
  types TEXT,
  secret BLOB NOT NULL,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  failing_since INTEGER,
  seen INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES byline (id),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_of_company ON webhook (company_id, id);

-- A lane keeps its order: the deliveries of one ticket, or (0) those about the company as a whole. Only the first
-- that is pending in a lane has a time at which it is due.
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  webhook_id INTEGER NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  lane INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL,
  due_at INTEGER,
  first_at INTEGER,
  last_at INTEGER,
  status INTEGER,
  error TEXT,
  ms INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_of_webhook ON delivery (webhook_id, id);
CREATE INDEX delivery_of_event ON delivery (event_id);
CREATE INDEX delivery_due ON delivery (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_waiting ON delivery (webhook_id, lane, id) WHERE state = 'pending';
CREATE INDEX delivery_done ON delivery (last_at) WHERE state <> 'pending';
