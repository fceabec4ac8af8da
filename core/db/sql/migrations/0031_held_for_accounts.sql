-- Calls and agents that wait until their person has connected an account.
alter table pool_entries drop constraint pool_entries_status_check;
alter table pool_entries add check (
    status in ('WAITING_FOR_INPUT', 'WAITING_FOR_APPROVAL', 'WAITING_FOR_ACCOUNT', 'PAUSED', 'CANCELLED',
               'COMPLETED'));

-- What a person was asked to connect or to renew, and by which turn: nobody is told the same every day. Connecting an
-- account clears it.
create table account_prompts (
    tenant_id text not null references tenants on delete cascade,
    topic     text not null,
    turn_id   text not null,
    told_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, topic)
);
select tenant_table('account_prompts');
