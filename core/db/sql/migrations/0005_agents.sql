create table pool_entries (
    tenant_id        text not null references tenants on delete cascade,
    agent_id         text not null,
    agent_type       text not null,
    conversation_id  text,
    turn_id          text not null,
    agent_path       text not null,
    tool_call_id     text not null,
    status           text not null,
    schema_version   text not null,
    collected_fields jsonb not null default '{}',
    context          jsonb not null default '{}',
    reason           text not null default '',
    revision         int not null default 0,
    expires_at       timestamptz not null,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, agent_id),
    check (status in ('WAITING_FOR_INPUT', 'WAITING_FOR_APPROVAL', 'PAUSED', 'CANCELLED', 'COMPLETED')),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index pool_entries_turn on pool_entries (tenant_id, turn_id);
create index pool_entries_due on pool_entries (expires_at) where status not in ('CANCELLED', 'COMPLETED');
select tenant_table('pool_entries');
