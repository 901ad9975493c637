-- What people and programs enter is stored in Normalization Form C. Texts from before are brought into it, so that
-- searches, filters, names and mentions find them; of two labels that differ in form only, one stays.
UPDATE user SET name = nfc(name) WHERE name <> nfc(name);
UPDATE company SET name = nfc(name) WHERE name <> nfc(name);
UPDATE project SET name = nfc(name), agent_label = nfc(agent_label)
  WHERE name <> nfc(name) OR agent_label <> nfc(agent_label);
UPDATE board_column SET name = nfc(name) WHERE name <> nfc(name);
UPDATE saved_view SET name = nfc(name), definition = nfc(definition)
  WHERE name <> nfc(name) OR definition <> nfc(definition);
UPDATE annotation SET text = nfc(text) WHERE text <> nfc(text);

UPDATE OR IGNORE label SET name = nfc(name) WHERE name <> nfc(name);
DELETE FROM label WHERE name <> nfc(name);
UPDATE label SET description = nfc(description) WHERE description <> nfc(description);
UPDATE OR IGNORE ticket_label SET label = nfc(label) WHERE label <> nfc(label);
DELETE FROM ticket_label WHERE label <> nfc(label);

UPDATE ticket SET title = nfc(title), title_key = title_key(nfc(title)), description = nfc(description),
    labels = (SELECT json_group_array(name) FROM (SELECT DISTINCT nfc(value) AS name FROM json_each(ticket.labels)))
  WHERE step('normalizing tickets', id)
    AND (title <> nfc(title) OR description <> nfc(description) OR labels <> nfc(labels));
UPDATE comment SET body = nfc(body) WHERE step('normalizing comments', id) AND body <> nfc(body);
