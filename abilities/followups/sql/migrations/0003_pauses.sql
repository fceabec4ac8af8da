-- A person whose follow-ups could not be looked at comes again by themselves, later each time. Null: no look has failed, and
-- none is under way.
alter table followup_choices
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz;
create index followup_choices_paused on followup_choices (next_attempt_at) where next_attempt_at is not null;
