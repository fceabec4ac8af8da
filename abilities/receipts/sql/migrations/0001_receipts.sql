-- A receipt is read from the journal and the approval behind it for as long as these are kept. When retention deletes
-- them, the receipt moves here in the same transaction, and counts instead of what the journal still has. Without a key
-- to the turn, which it outlives.
create table receipts (
    tenant_id  text not null references tenants on delete cascade,
    turn_id    text not null,
    agent_path text not null,
    step       int not null,
    call_index int not null,
    number     text not null,
    at         timestamptz not null,
    told       jsonb not null,
    primary key (tenant_id, turn_id, agent_path, step, call_index)
);
create index receipts_period on receipts (tenant_id, at);
create index receipts_at on receipts (at);
select tenant_table('receipts');

-- What had an effect is little of all that a journal holds.
create index steps_effects on steps (tenant_id, started_at) where effect <> 'read';
