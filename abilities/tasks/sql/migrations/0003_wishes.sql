-- Reminders for others come again by themselves, later each time, until they are done; counted as an attempt begins.
alter table reminder_permits
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp();
alter table reminder_wishes
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp(),
    -- Whether it is still to be told what became of it. Since it was set, its task says whether it is over.
    add column untold boolean not null default false;
create index reminder_wishes_open on reminder_wishes (next_attempt_at) where state = 'waiting' or untold;
create index reminder_wishes_done on reminder_wishes (next_attempt_at) where state <> 'waiting' and not untold;
