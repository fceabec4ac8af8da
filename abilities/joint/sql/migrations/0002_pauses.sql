-- A joint consent that could not be taken further comes again by itself, later each time.
alter table joint_consents
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp(),
    -- When the other's quiet hours end, in people's time: they are asked then.
    add column ask_at timestamptz;
drop index joint_consents_open;
create index joint_consents_open on joint_consents (next_attempt_at) where state <> 'ended';
