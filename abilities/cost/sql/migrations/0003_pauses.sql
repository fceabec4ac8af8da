-- A held answer whose wait could not be ended comes again by itself, later each time.
alter table held_answers
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp();
