-- A group is a tenant of its own, so what is said, remembered and listed there is kept from everybody else by the policy
-- that keeps people apart, and is searched, exported and deleted as a person's is. peer: its address at the provider,
-- which is also the user key of its identity. state: 'asked', until the provider has said whether who asked may decide
-- that for the group; 'waiting', for the word of the installation's owner; 'on'; 'off'; 'left'. asked_by: the tenant of
-- who asked, asked_key: their user key there. owner_ok: whether the owner has allowed it.
create table group_chats (
    tenant_id text primary key references tenants on delete cascade,
    channel   text not null,
    account   text not null,
    peer      text not null,
    title     text not null default '',
    state     text not null check (state in ('asked', 'waiting', 'on', 'off', 'left')),
    asked_by  text not null,
    asked_key text not null,
    asked_at  timestamptz not null default clock_timestamp(),
    owner_ok  boolean not null default false,
    -- A group that could not be settled comes again by itself, later each time.
    attempts  int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    constraint group_chats_place_key unique (channel, account, peer)
);
create index group_chats_asked on group_chats (next_attempt_at) where state = 'asked';
select tenant_table('group_chats');

-- The last words of a group that were not for us: others' words, which are kept for a day at most.
create table group_words (
    tenant_id   text not null references group_chats on delete cascade,
    provider_id text not null,
    name        text not null,
    words       text not null,
    said_at     timestamptz not null default clock_timestamp(),
    primary key (tenant_id, provider_id)
);
create index group_words_by_age on group_words (said_at);
select tenant_table('group_words');

-- Who wrote a message to us in a group: their own tenant, and the name that the message begins with.
create table group_askers (
    tenant_id  text not null references group_chats on delete cascade,
    inbound_id text not null,
    asker      text not null,
    name       text not null,
    primary key (tenant_id, inbound_id)
);
select tenant_table('group_askers');

-- A person's own message that came from a group, for their own assistant: never any other member's.
create table group_requests (
    tenant_id  text not null references tenants on delete cascade,
    inbound_id text not null,
    group_id   text not null,
    at         timestamptz not null default clock_timestamp(),
    primary key (tenant_id, inbound_id)
);
select tenant_table('group_requests');
