-- Turns: the lanes that they run on, their journals, and their histories.

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
select tenant_table('conversations');

-- A lane is what a turn's lease is on: a conversation, or one of its own for a triggered run.
create table lanes (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    conversation_id text,
    pending         boolean not null default false,
    pending_since   timestamptz,
    not_before      timestamptz,
    process         text,
    owner           text,
    lease_until     timestamptz,
    fence           bigint not null default 0,
    primary key (tenant_id, id),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create index lanes_pending on lanes (pending_since) where pending;
create index lanes_id on lanes (id);
create index lanes_owner on lanes (owner) where owner is not null;
create index lanes_process on lanes (process) where owner is not null;
-- Each run leaves a lane behind: counting a person's running lanes must not read them all.
create index lanes_busy on lanes (tenant_id) where lease_until is not null;
select tenant_table('lanes');

create table turns (
    tenant_id       text not null,
    id              text not null,
    lane_id         text not null,
    conversation_id text,
    state           text not null default 'running'
        check (state in ('running', 'waiting', 'done', 'failed', 'interrupted', 'poison')),
    attempts        int not null default 1,
    fence           bigint not null,
    reason          text not null default '',
    usage           jsonb not null default '{}',
    stop_message    text,
    started_at      timestamptz not null default clock_timestamp(),
    finished_at     timestamptz,
    -- A waiting turn holds no lease; it is "ready" once something that it waited for has been decided, and then resumes
    -- from its journal.
    ready           boolean not null default false,
    waiting_step    int,
    -- functions/quarantine.sql.
    quarantined     boolean not null default false,
    crashes         int not null default 0,
    solo_crashes    int not null default 0,
    crashed_after   int not null default -1,
    tried_at        timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    foreign key (tenant_id, lane_id) references lanes on delete cascade,
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create unique index turns_one_running on turns (tenant_id, lane_id) where state = 'running';
create index turns_id on turns (id);
create index turns_ready on turns (tenant_id, lane_id) where state = 'waiting' and ready;
create index turns_quarantined on turns (tenant_id, lane_id) where state = 'running' and quarantined;
select tenant_table('turns');

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
select tenant_table('steps');

-- Chat messages in order, per conversation and session, as the model sees them.
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
select tenant_table('history');
