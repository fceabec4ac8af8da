-- Webhooks out (functions/webhooks.sql): who is told of what, and each thing that is to be told.

-- An address that an operator subscribed. Its secrets are computed from ONEVALET_SECRET_KEYS, its id and `generation`;
-- the generation before signs too for a day after `rotated_at`. `failures` and `given_up`: calls that failed, and
-- messages that were given up, since the last that was accepted; nothing is tried before `retry_at`. `reason`: why it was
-- disabled. `told_at`: when the operator was told.
create table webhook_endpoints (
    id         text primary key,
    url        text not null,
    kinds      text[] not null,
    created_at timestamptz not null default clock_timestamp(),
    generation int not null default 1,
    rotated_at timestamptz,
    active     boolean not null default true,
    reason     text not null default '',
    failures   int not null default 0,
    given_up   int not null default 0,
    retry_at   timestamptz not null default clock_timestamp(),
    told_at    timestamptz
);
select shared_table('webhook_endpoints', 'select, insert, update, delete');

-- Something that happened, for an endpoint: written in the transaction in which it did. The id is what the receiver knows
-- repeats by. `data`: ids, never a text. `status`: that of the last answer, null without one. What belongs to nobody is not
-- referred to by a key.
create table webhook_messages (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    endpoint_id     text not null,
    kind            text not null,
    data            jsonb not null,
    at              timestamptz not null default clock_timestamp(),
    state           text not null default 'waiting' check (state in ('waiting', 'sent', 'failed')),
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    owner           text,
    lease_until     timestamptz,
    status          int,
    reason          text not null default '',
    finished_at     timestamptz,
    primary key (tenant_id, id)
);
create index webhook_messages_due on webhook_messages (next_attempt_at) where state = 'waiting';
create index webhook_messages_owner on webhook_messages (owner) where owner is not null;
create index webhook_messages_endpoint on webhook_messages (endpoint_id);
create index webhook_messages_at on webhook_messages (at);
select tenant_table('webhook_messages');
