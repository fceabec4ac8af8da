-- The spine: people, conversations, what came in, the turns over it, what goes out.
-- Every table that belongs to a tenant carries tenant_id, refers to others by (tenant_id, id), and is under
-- row-level security; core/people/tenant_tables.py lists them.

create table tenants (
    tenant_id   text primary key,
    name        text not null default '',
    language    text not null default '',
    timezone    text not null default '',
    role        text not null default 'member' check (role in ('owner', 'member', 'guest')),
    created_at  timestamptz not null default clock_timestamp()
);

create table identities (
    tenant_id    text not null references tenants on delete cascade,
    id           text not null,
    channel      text not null,
    account      text not null,
    user_key     text not null check (user_key <> ''),
    name         text not null default '',
    timezone     text not null default '',
    state        text not null default 'active' check (state in ('active', 'stopped', 'blocked')),
    state_reason text not null default '',
    state_at     timestamptz not null default clock_timestamp(),
    created_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    unique (channel, account, user_key)
);

create table conversations (
    tenant_id       text not null,
    id              text not null,
    identity_id     text not null,
    channel         text not null,
    account         text not null,
    peer            text not null,
    thread          text not null default '',
    session         int not null default 1,
    in_seq          bigint not null default 0,
    out_seq         bigint not null default 0,
    history_seq     bigint not null default 0,
    last_inbound_at timestamptz,
    created_at      timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    unique (tenant_id, channel, account, peer, thread),
    foreign key (tenant_id, identity_id) references identities on delete cascade
);

-- A lane is what a turn's lease is on: a conversation, or one of its own for a triggered run.
create table lanes (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    conversation_id text,
    pending         boolean not null default false,
    pending_since   timestamptz,
    not_before      timestamptz,
    owner           text,
    lease_until     timestamptz,
    fence           bigint not null default 0,
    primary key (tenant_id, id),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create index lanes_pending on lanes (pending_since) where pending;
create index lanes_id on lanes (id);

create table turns (
    tenant_id       text not null,
    id              text not null,
    lane_id         text not null,
    conversation_id text,
    state           text not null default 'running'
        check (state in ('running', 'waiting', 'done', 'failed', 'interrupted', 'poison')),
    attempts        int not null default 1,
    fence           bigint not null,
    owner           text not null default '',
    reason          text not null default '',
    usage           jsonb not null default '{}',
    stop_message    text,
    started_at      timestamptz not null default clock_timestamp(),
    finished_at     timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, lane_id) references lanes on delete cascade,
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create unique index turns_one_running on turns (tenant_id, lane_id) where state = 'running';

create table inbound (
    tenant_id       text not null,
    id              text not null,
    conversation_id text not null,
    seq             bigint not null,
    text            text not null,
    media           jsonb not null default '[]',
    command         jsonb,
    provider_id     text not null default '',
    sent_at         timestamptz,
    received_at     timestamptz not null default clock_timestamp(),
    state           text not null default 'waiting' check (state in ('waiting', 'taken', 'done', 'ignored')),
    reason          text not null default '',
    turn_id         text,
    primary key (tenant_id, id),
    unique (tenant_id, conversation_id, seq),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns
);
create index inbound_waiting on inbound (tenant_id, conversation_id, seq) where state = 'waiting';
create index inbound_turn on inbound (tenant_id, turn_id);

-- Promise 2: any known key is a duplicate, whatever way it came.
create table inbox_keys (
    channel     text not null,
    account     text not null,
    key         text not null,
    tenant_id   text not null references tenants on delete cascade,
    inbound_id  text not null,
    received_at timestamptz not null default clock_timestamp(),
    primary key (channel, account, key)
);
create index inbox_keys_inbound on inbox_keys (tenant_id, inbound_id);

-- Authentic messages that get no turn, kept without their text (promise 6).
create table ignored_messages (
    channel     text not null,
    account     text not null,
    key         text not null,
    reason      text not null,
    received_at timestamptz not null default clock_timestamp(),
    primary key (channel, account, key)
);

-- Promise 5: one row per model answer and per tool result; kind 'tool' with state 'started' before its run.
create table steps (
    tenant_id   text not null,
    turn_id     text not null,
    agent_path  text not null default '',
    step        int not null,
    call_index  int not null,
    kind        text not null,
    name        text not null default '',
    args_hash   text not null default '',
    effect      text not null default '',
    state       text not null check (state in ('started', 'done')),
    outcome     text not null default 'ok',
    idempotency_key text not null default '',
    result      jsonb not null default '{}',
    usage       jsonb not null default '{}',
    duration_ms int not null default 0,
    started_at  timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    primary key (tenant_id, turn_id, agent_path, step, call_index),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index steps_unknown on steps (tenant_id, name, args_hash) where outcome = 'unknown';

-- Ordered chat messages per conversation and session, as the model sees them.
create table history (
    tenant_id       text not null,
    conversation_id text not null,
    position        bigint not null,
    session         int not null,
    turn_id         text,
    message         jsonb not null,
    created_at      timestamptz not null default clock_timestamp(),
    primary key (tenant_id, conversation_id, position),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns on delete cascade
);

-- held: not yet sendable, has no seq. ready, sending, checking: open, in the way of what comes after.
-- sent, ambiguous, failed: final. checking: an answer was lost and is being looked up.
create table outbound (
    tenant_id       text not null,
    id              text not null,
    conversation_id text not null,
    turn_id         text,
    kind            text not null check (kind in ('reply', 'card', 'notification', 'receipt')),
    text            text not null,
    actions         jsonb not null default '[]',
    media           jsonb not null default '[]',
    state           text not null
        check (state in ('held', 'ready', 'sending', 'checking', 'sent', 'ambiguous', 'failed')),
    seq             bigint,
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    owner           text,
    lease_until     timestamptz,
    fence           bigint not null default 0,
    reason          text not null default '',
    ambiguities     int not null default 0,
    created_at      timestamptz not null default clock_timestamp(),
    sent_at         timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, conversation_id, seq),
    check ((state = 'held') = (seq is null)),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index outbound_open on outbound (tenant_id, conversation_id, seq)
    where state in ('ready', 'sending', 'checking');
create index outbound_due on outbound (next_attempt_at) where state in ('ready', 'sending', 'checking');
create index outbound_conversation on outbound (conversation_id)
    where state in ('ready', 'sending', 'checking');

create table outbound_parts (
    tenant_id   text not null,
    outbound_id text not null,
    part        int not null,
    ref         text not null unique,
    text        text not null,
    data        jsonb not null default '{}',
    segments    int not null default 1,
    state       text not null default 'ready'
        check (state in ('ready', 'sending', 'checking', 'sent', 'ambiguous', 'failed')),
    provider_id text not null default '',
    degraded    boolean not null default false,
    status      text not null default '',
    status_rank int not null default -1,
    status_at   timestamptz,
    error_code  text not null default '',
    sent_at     timestamptz,
    primary key (tenant_id, outbound_id, part),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index outbound_parts_provider on outbound_parts (provider_id) where provider_id <> '';

-- One row per provider call, committed before the call leaves (promise 7).
create table deliveries (
    tenant_id   text not null,
    outbound_id text not null,
    part        int not null,
    attempt     int not null,
    owner       text not null,
    started_at  timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    outcome     text not null default 'started',
    error_code  text not null default '',
    provider_id text not null default '',
    primary key (tenant_id, outbound_id, part, attempt),
    foreign key (tenant_id, outbound_id, part) references outbound_parts on delete cascade
);

-- What doctor shows per channel, what catch-up starts from, and who polls.
create table channel_state (
    channel     text not null,
    account     text not null,
    last_in_at  timestamptz,
    last_out_at timestamptz,
    watermark   timestamptz,
    poll_offset bigint,
    owner       text,
    lease_until timestamptz,
    primary key (channel, account)
);
