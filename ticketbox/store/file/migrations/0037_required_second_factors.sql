-- Whether members sign in to the web app only with a second factor.
ALTER TABLE company ADD COLUMN second_factor_required INTEGER NOT NULL DEFAULT 0;
