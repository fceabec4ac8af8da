-- Messages: received, to be sent, and each attempt to hand one to a provider.

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
    -- What a press or an exact word came to, once it is taken in: the key of what is said to the person.
    outcome         text,
    turn_id         text,
    reply_to        text not null default '',
    -- Whose words a message has: the person's own, forwarded ones, or a program's in their name.
    origin          text not null default 'own' check (origin in ('own', 'forwarded', 'via_bot')),
    primary key (tenant_id, id),
    unique (tenant_id, conversation_id, seq),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns
);
create index inbound_waiting on inbound (tenant_id, conversation_id, seq) where state = 'waiting';
create index inbound_turn on inbound (tenant_id, turn_id);
create index inbound_id on inbound (id);
create index inbound_provider on inbound (provider_id) where provider_id <> '';
select tenant_table('inbound');

-- What arrived from an address: the message, how its sender is let in if unknown, and ids for the rows that it may
-- need. It is passed to the inbox's functions as jsonb with these names, in one argument.
create type arrival as (
    channel          text,
    account          text,
    peer             text,
    thread           text,
    user_key         text,
    keys             text[],
    -- Of the message itself; null if there is none.
    id               text,
    text             text,
    media            jsonb,
    command          jsonb,
    provider_id      text,
    sent_at          timestamptz,
    reply_to         text,
    origin           text,
    name             text,
    timezone         text,
    -- How an unknown sender is let in, '' if not, and with which role; whether only listed senders are.
    admit            text,
    role             text,
    listed_only      boolean,
    new_tenant       text,
    new_identity     text,
    new_conversation text,
    outbound         text
);

-- Promise 2: any known key is a duplicate, however it arrived.
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
select tenant_table('inbox_keys');

-- Authentic messages that get no turn, stored without their text (promise 6).
create table ignored_messages (
    channel     text not null,
    account     text not null,
    key         text not null,
    reason      text not null,
    received_at timestamptz not null default clock_timestamp(),
    primary key (channel, account, key)
);
create index ignored_messages_received on ignored_messages (received_at);
select shared_table('ignored_messages', 'select, insert');

-- held: not yet sendable, has no seq. ready, sending, checking: open, block what follows. sent, ambiguous, failed:
-- final. checking: an answer was lost and is being looked up.
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
    -- May go to a person who said STOP: the one confirmation of that STOP.
    regardless      boolean not null default false,
    -- The person's next message answers it.
    wants_reply     boolean not null default false,
    -- The end of a card's text that holds only while the card is open.
    closing         text not null default '',
    -- An answer that grows on the screen before it is sent. Its row exists from the first word on, held, so that
    -- whoever ends the turn knows which message at the provider will hold the answer. `stream_at`: when it began;
    -- `stream`: the provider's id of the growing message, empty until it is known.
    stream          text not null default '',
    stream_at       timestamptz,
    -- A message that blocks its worker counts as a turn's crashes do: after three times it is given up.
    hangs           int not null default 0,
    -- A message whose outcome is unknown blocks its successors for two minutes, not for as long as it is retried. A
    -- message that was given up is reported with the next one of its conversation; a delay is reported elsewhere.
    unknown_since   timestamptz,
    given_up_at     timestamptz,
    told_missing_by text,
    delay_told_at   timestamptz,
    -- The rest after the first portion: an array of portions, each an array of parts as `keep_parts` takes them.
    rest            jsonb not null default '[]',
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
create index outbound_owner on outbound (owner) where owner is not null;
create index outbound_id on outbound (id);
-- Cards of tasks' runs that quiet hours hold: they get their seq, and their time begins, when they are released.
create index outbound_held on outbound (tenant_id) where state = 'held';
create unique index outbound_growing on outbound (tenant_id, turn_id) where state = 'held' and stream_at is not null;
create index outbound_given_up on outbound (tenant_id, conversation_id) where given_up_at is not null;
select tenant_table('outbound');

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
select tenant_table('outbound_parts');

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
create index deliveries_lost on deliveries (finished_at) where outcome in ('ambiguous', 'found', 'left');
select tenant_table('deliveries');

-- Segments about to be sent to one person, by the person's own day; `told`: that there are no more today.
create table segment_days (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    segments  int not null default 0 check (segments >= 0),
    told      boolean not null default false,
    primary key (tenant_id, day)
);
select tenant_table('segment_days');

-- The same for all people, by the day in UTC, with the number of messages that were not sent for it.
create table segments_of_all (
    day      date primary key,
    segments int not null default 0 check (segments >= 0),
    refused  int not null default 0
);
select shared_table('segments_of_all', 'select, insert, update, delete');

-- What doctor shows per channel, where catch-up starts, and who polls.
create table channel_state (
    channel     text not null,
    account     text not null,
    last_in_at  timestamptz,
    last_out_at timestamptz,
    watermark   timestamptz,
    poll_offset bigint,
    owner       text,
    lease_until timestamptz,
    -- One of many web processes polls a channel: a lease by the database's clock. A message that is polled twice is
    -- received once all the same, by its keys; the lease keeps processes from ending each other's polls.
    poll_problem text not null default '',
    -- Catch-up has a lease of its own: one worker at a time sweeps an account (promise 3).
    sweep_owner text,
    sweep_until timestamptz,
    -- An interrupted sweep continues in whatever process comes next: where processes die often or a provider is slow,
    -- no sweep would ever finish otherwise, and the watermark would never move.
    sweep_began timestamptz,
    sweep_place text not null default '',
    primary key (channel, account)
);
select shared_table('channel_state', 'select, insert, update');
