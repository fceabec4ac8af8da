-- stands for 0001_events 07ab8b9ae440a634c5c19e71c74136460cbce10875961a6d43a85e3d12bb7e8c
-- catch up: alter table event_work drop column streamed_at;

-- former_names: what it was called before two people became one. A bearer's requests still arrive under these.
create table event_sources (
    tenant_id    text not null references tenants on delete cascade,
    id           text not null unique,
    name         text not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
    former_names text[] not null default '{}',
    style        text not null check (style in ('bearer', 'hmac', 'github', 'stripe')),
    secret_hash  bytea,
    key_version  int,
    sealed       bytea,
    options      jsonb not null default '{}',
    created_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    unique (tenant_id, name),
    check ((style = 'bearer') = (secret_hash is not null) and (style = 'bearer') = (sealed is null)),
    foreign key (tenant_id, key_version) references data_keys
);
create index event_sources_hash on event_sources (secret_hash) where secret_hash is not null;
-- Requests at /events come from strangers too. Web processes cache every source's id and the key of its bearer's
-- secret, so that a request for none of them ends before it costs a transaction.
create index event_sources_created on event_sources (created_at);
select tenant_table('event_sources');

create table events (
    tenant_id   text not null references tenants on delete cascade,
    source      text not null,
    id          text not null,
    type        text not null,
    data        jsonb not null,
    occurred_at timestamptz not null,
    received_at timestamptz not null default clock_timestamp(),
    -- The context of the span in which a row began, as other tables have it.
    traceparent text default nullif(current_setting('onevalet.trace', true), ''),
    primary key (tenant_id, source, id)
);
create index events_received on events (received_at);
select tenant_table('events');

-- Which groups want which events, for all tenants: a group is a name that its consumers in any worker share. `pattern`
-- is for LIKE, over 'source:type'.
create table event_groups (
    name    text not null,
    pattern text not null,
    primary key (name, pattern)
);
alter table event_groups enable row level security;
alter table event_groups force row level security;
create policy owner on event_groups to current_user using (true) with check (true);
create policy nobodys on event_groups for select using (true);
grant select on event_groups to onevalet_app;

-- One row per event and group that wants it. poison: set aside with its reason, never retried automatically.
create table event_work (
    tenant_id       text not null,
    source          text not null,
    event_id        text not null,
    group_name      text not null,
    state           text not null default 'waiting' check (state in ('waiting', 'done', 'poison')),
    attempts        int not null default 0,
    reason          text not null default '',
    next_attempt_at timestamptz not null default clock_timestamp(),
    owner           text,
    lease_until     timestamptz,
    ended_at        timestamptz,
    primary key (tenant_id, source, event_id, group_name),
    foreign key (tenant_id, source, event_id) references events on delete cascade
);
create index event_work_waiting on event_work (group_name, next_attempt_at) where state = 'waiting';
select tenant_table('event_work');
