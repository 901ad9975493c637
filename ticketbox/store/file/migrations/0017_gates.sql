-- Gates: a project can require that a person approves an agent's plan, and accepts that a ticket is done. A request for
-- either is a question of the session; `column_id` and `resolved` are what happens to the ticket if it is accepted.

ALTER TABLE project ADD COLUMN plan_approval INTEGER NOT NULL DEFAULT 0 CHECK (plan_approval IN (0, 1));
ALTER TABLE project ADD COLUMN done_approval INTEGER NOT NULL DEFAULT 0 CHECK (done_approval IN (0, 1));
ALTER TABLE work_session ADD COLUMN needs_plan_approval INTEGER NOT NULL DEFAULT 0
  CHECK (needs_plan_approval IN (0, 1));
ALTER TABLE work_question ADD COLUMN kind TEXT NOT NULL DEFAULT 'question' CHECK (kind IN ('question', 'plan', 'done'));
ALTER TABLE work_question ADD COLUMN note TEXT;
ALTER TABLE work_question ADD COLUMN column_id INTEGER REFERENCES board_column (id) ON DELETE SET NULL;
ALTER TABLE work_question ADD COLUMN resolved INTEGER CHECK (resolved IN (0, 1));
CREATE INDEX work_question_of_column ON work_question (column_id) WHERE column_id IS NOT NULL;
