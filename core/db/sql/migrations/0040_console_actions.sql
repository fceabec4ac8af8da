-- was 9ddc4fae9941cacdf9d64ee6d06b965276970c571ddd23ffec4b16e3b316f213
-- What people do in the console, and what its pages look for over everybody.

-- Each action is written before it is done. viewer: who acts, which for somebody else's rows is an operator. subject: the
-- id of what the action is about; approval_audit says more of approvals.
create table console_actions (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    viewer    text not null,
    what      text not null,
    subject   text not null,
    at        timestamptz not null,
    primary key (tenant_id, id)
);
select tenant_table('console_actions');
revoke update, delete on console_actions from onevalet_app;

create index turns_waiting on turns (started_at, id) where state = 'waiting';
