-- The prompts of model calls as they were sent (core/journal/prompts.py): copies that are kept for hours to find faults.

-- One of a model's step. `packed` is compressed already, so Postgres need not try.
create table prompts (
    tenant_id  text not null,
    turn_id    text not null,
    agent_path text not null default '',
    step       int not null,
    packed     bytea not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, turn_id, agent_path, step),
    foreign key (tenant_id, turn_id) references turns on delete cascade deferrable
);
alter table prompts alter column packed set storage external;
create index prompts_created on prompts (created_at);
select tenant_table('prompts');
