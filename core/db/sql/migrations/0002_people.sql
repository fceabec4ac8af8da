-- People: who they are, how each identity was let in, and how identities were linked.

create table tenants (
    tenant_id   text primary key,
    name        text not null default '',
    language    text not null default '',
    timezone    text not null default '',
    role        text not null default 'member' check (role in ('owner', 'member', 'guest')),
    created_at  timestamptz not null default clock_timestamp(),
    -- The tier of a person; '' is the one named like the role.
    tier        text not null default '',
    preferred_channel text not null default '',
    -- In the person's own timezone, HH:MM; both '' for none. They may pass midnight.
    quiet_from  text not null default '' check (quiet_from ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'),
    quiet_until text not null default '' check (quiet_until ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'),
    -- Categories of notifications that a person has muted; '*' is everything that is not urgent.
    muted       text[] not null default '{}',
    while_running text not null default 'steer'
        check (while_running in ('steer', 'queue', 'interrupt')),
    -- Whether this person's channels publish events (message received, delivery failed): only on demand, so that other
    -- people's messages do not pay for it.
    channel_events boolean not null default false,
    -- When the person was last told that too many of their messages wait.
    told_full_at timestamptz,
    constraint tenants_quiet_check check ((quiet_from = '') = (quiet_until = ''))
);
select tenant_table('tenants');

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
    -- How an identity was let in; '' is a stranger who was given a code and waits to be let in.
    admitted     text not null
        check (admitted in ('', 'open', 'allowlist', 'pairing', 'link', 'operator')),
    primary key (tenant_id, id),
    unique (channel, account, user_key)
);
create index identities_strangers on identities (tenant_id, id) where admitted = '';
select tenant_table('identities');

-- The consents of each address, given by itself or its provider. Append-only, and kept when a person is deleted: a STOP
-- outlives the person's data.
create table consents (
    id       bigint generated always as identity primary key,
    channel  text not null,
    account  text not null,
    user_key text not null,
    state    text not null check (state in ('active', 'stopped', 'blocked')),
    how      text not null,
    at       timestamptz not null default clock_timestamp()
);
create index consents_address on consents (channel, account, user_key, id);
-- The serving role may append to the record, and query it for one address at a time, by a function.
alter table consents enable row level security;
alter table consents force row level security;
create policy owner on consents to current_user using (true) with check (true);
create policy nobodys on consents for insert with check (true);
grant insert on consents to onevalet_app;

-- Codes given to strangers, as hashes; they belong to no tenant yet. Times are from the Clock.
create table pairings (
    code_hash  bytea primary key,
    channel    text not null,
    account    text not null,
    user_key   text not null check (user_key <> ''),
    asked_at   timestamptz not null,
    expires_at timestamptz not null,
    used_at    timestamptz,
    used_by    text not null default ''
);
create index pairings_account on pairings (channel, account, asked_at);
select shared_table('pairings', 'select, insert, update');

-- Wrong guesses at codes, counted here so that no restart and no flush forgets them.
create table guesses (
    scope text not null,
    at    timestamptz not null
);
create index guesses_scope on guesses (scope, at);
select shared_table('guesses', 'select, insert, update');

-- Codes that a person gets in one place and types in another, as hashes. Times are from the Clock.
create table link_codes (
    tenant_id   text not null references tenants on delete cascade,
    code_hash   bytea not null unique,
    identity_id text not null,
    turn_id     text not null,
    made_at     timestamptz not null,
    expires_at  timestamptz not null,
    used_at     timestamptz,
    used_by     text not null default '',
    scrubbed    boolean not null default false,
    -- The address that was asked whether its person agrees to this code's link, and the turn or the message that asked:
    -- an answer counts only there, and only in a later message.
    asked_channel text not null default '',
    asked_account text not null default '',
    asked_user_key text not null default '',
    asked_by    text not null default '',
    primary key (tenant_id, code_hash)
);
create index link_codes_made on link_codes (made_at);
select tenant_table('link_codes');

-- Changes to a person's identities, and their causes. Append-only.
create table person_audit (
    tenant_id   text not null references tenants on delete cascade,
    id          bigint generated by default as identity,
    at          timestamptz not null default clock_timestamp(),
    what        text not null check (what in ('code', 'linked', 'merged', 'unlinked', 'preference')),
    channel     text not null default '',
    account     text not null default '',
    identity_id text not null default '',
    other       text not null default '',
    turn_id     text not null default '',
    primary key (tenant_id, id)
);
select tenant_table('person_audit');
revoke update, delete on person_audit from onevalet_app;

-- A link that can be undone within a day, from either side. other_id, other: the person who was merged into this one,
-- and their row; before: this person's row before the link. made_at is from the Clock, linked_at from the database.
create table links (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    other_id  text not null,
    other     jsonb not null,
    before    jsonb not null,
    made_at   timestamptz not null,
    linked_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
select tenant_table('links');

-- The rows that were the other person's, by table and key (without the tenant), with the number and the name that they
-- had there. copied: both had the same, so there is one now.
create table linked_rows (
    tenant_id text not null references tenants on delete cascade,
    link_id   text not null,
    of        text not null,
    key       text[] not null,
    number    bigint,
    name      text not null default '',
    copied    boolean not null default false,
    primary key (tenant_id, link_id, of, key),
    foreign key (tenant_id, link_id) references links (tenant_id, id) on delete cascade
);
select tenant_table('linked_rows');
