-- stands for 0061_undelivered 9a36e99c7bbad06221eb60ccde7dd41267f4c179cdd3f15480c49187d4b83dac
-- catch up: alter table inbound validate constraint inbound_origin_check;

-- Promise 11: the database itself separates tenants. The serving role sees one tenant's rows, and none while no tenant
-- is set. The migrating role owns the functions that look across tenants (they return ids only); it has a policy of its
-- own, because FORCE binds owners too.

do $$
begin
    execute format('grant usage on schema %I to onevalet_app', current_schema());
end $$;

-- Call it for each table with rows of tenants, after creating the table. Such a table has tenant_id and refers to
-- others by (tenant_id, id); core/people/tenant_tables.py lists them all.
create function tenant_table(p_table text)
returns void
language plpgsql as $body$
declare
    v_key text;
begin
    execute format($$
        alter table %1$I enable row level security;
        alter table %1$I force row level security;
        create policy owner on %1$I to current_user using (true) with check (true);
        create policy one_tenant on %1$I to onevalet_app
            using (tenant_id = nullif(current_setting('onevalet.tenant', true), ''))
            with check (tenant_id = nullif(current_setting('onevalet.tenant', true), ''));
        grant select, insert, update, delete on %1$I to onevalet_app;
    $$, p_table);
    -- merge_people moves one person's rows table by table, so keys are checked at its end.
    for v_key in select k.conname from pg_constraint k where k.conrelid = p_table::regclass and k.contype = 'f' loop
        execute format('alter table %I alter constraint %I deferrable initially immediate', p_table, v_key);
    end loop;
end $body$;

-- The same for a table without tenants' data: provider keys with a reason, one row for each account of ours.
create function shared_table(p_table text, p_rights text)
returns void
language plpgsql as $body$
begin
    execute format($$
        alter table %1$I enable row level security;
        alter table %1$I force row level security;
        create policy nobodys on %1$I using (true) with check (true);
        grant %2$s on %1$I to onevalet_app;
    $$, p_table, p_rights);
end $body$;

-- Migrations of abilities that were applied: each ability numbers its own.
create table schema_ability_migrations (
    ability    text not null,
    number     int not null,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (ability, number)
);
alter table schema_ability_migrations enable row level security;
alter table schema_ability_migrations force row level security;
create policy owner on schema_ability_migrations to current_user using (true) with check (true);
create policy nobodys on schema_ability_migrations for select using (true);
grant select on schema_ability_migrations to onevalet_app;

alter table schema_migrations enable row level security;
alter table schema_migrations force row level security;
create policy owner on schema_migrations to current_user using (true) with check (true);
create policy nobodys on schema_migrations for select using (true);
grant select on schema_migrations to onevalet_app;

alter table schema_functions enable row level security;
alter table schema_functions force row level security;
create policy owner on schema_functions to current_user using (true) with check (true);
create policy nobodys on schema_functions for select using (true);
grant select on schema_functions to onevalet_app;

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
    -- Where the language comes from: the channel that told it, or 'profile'; '' is the person's own choice, which nothing
    -- that is found replaces.
    language_from text not null default '',
    constraint tenants_quiet_check check ((quiet_from = '') = (quiet_until = ''))
);
create index tenants_newest on tenants (created_at, tenant_id);
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
    -- The language that a provider told of the address when it was asked; '' for none. A person who takes their own choice
    -- back is spoken to in it at once: the provider is asked once an hour at most.
    told_language text not null default '',
    primary key (tenant_id, id)
);
create index identities_strangers on identities (tenant_id, id) where admitted = '';
select tenant_table('identities');

-- Whose an address is: the one key over all people. Functions that look across tenants read it, and nobody else; the
-- trigger on identities keeps it (functions/directory.sql).
create table directory (
    channel     text not null,
    account     text not null,
    user_key    text not null,
    person      text not null,
    identity_id text not null,
    primary key (channel, account, user_key)
);
alter table directory enable row level security;
alter table directory force row level security;
create policy owner on directory to current_user using (true) with check (true);

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
    what        text not null check (
        what in ('code', 'linked', 'merged', 'unlinked', 'preference', 'export_link', 'exported', 'token', 'revoked')),
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

-- Links to a person's archive. token_hash: of the link's end, which is stored nowhere. used_at: it works once.
create table export_links (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    made_at    timestamptz not null,
    expires_at timestamptz not null,
    used_at    timestamptz,
    primary key (tenant_id, token_hash)
);
create index export_links_by_token on export_links (token_hash);
select tenant_table('export_links');

-- People who are deleted: what is still to do, and that it was done. A person's rows cannot say so themselves.
-- person: the id that the tenant had; it tells nothing of them. due_at: a person's own wish leaves time for the answer
-- to it. claimed_until: one worker at a time goes on. finished_at: nothing is left.
create table deletions (
    person        text primary key,
    asked_by      text not null check (asked_by in ('person', 'operator')),
    asked_at      timestamptz not null,
    due_at        timestamptz not null,
    claimed_until timestamptz,
    finished_at   timestamptz
);
create index deletions_open on deletions (due_at) where finished_at is null;
select shared_table('deletions', 'select, insert, update');

-- What hashes the keys of messages of deleted people, so that a message that comes again is known and nobody can read
-- from the hash which it was. It is made with the first deletion.
create table deletion_secret (
    one    boolean primary key default true check (one),
    secret bytea not null
);
select shared_table('deletion_secret', 'select');

-- The number of this database among those that people are divided over; no row means 0.
create table own_partition (
    one    boolean primary key default true check (one),
    number int not null check (number between 0 and 99)
);
select shared_table('own_partition', 'select');

-- People whom messages on a person's behalf went to. A recipient is nobody's identity: what they answer is handed to the
-- person, and lets nobody in. written_at is from the Clock. open: answers are waited for; answers: how many came since
-- the last message.
create table recipients (
    tenant_id  text not null references tenants on delete cascade,
    id         text not null,
    channel    text not null,
    account    text not null,
    user_key   text not null check (user_key <> ''),
    name       text not null default '',
    written_at timestamptz not null,
    open       boolean not null default true,
    answers    int not null default 0,
    primary key (tenant_id, id)
);
create index recipients_address on recipients (channel, account, user_key, written_at);
select tenant_table('recipients');

-- Turns: the lanes that they run on, their journals, and their histories.

-- A conversation is with the person at an identity of theirs, or with a recipient. After two people became one, both may
-- have written to the same address.
create table conversations (
    tenant_id       text not null,
    id              text not null,
    identity_id     text,
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
    recipient_id    text,
    primary key (tenant_id, id),
    foreign key (tenant_id, identity_id) references identities on delete cascade,
    constraint conversations_recipient_fkey foreign key (tenant_id, recipient_id) references recipients on delete cascade,
    constraint conversations_with_check check (num_nonnulls(identity_id, recipient_id) = 1),
    constraint conversations_place_key
        unique nulls not distinct (tenant_id, channel, account, peer, thread, recipient_id)
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
    -- functions/outages.sql: when the first of its tries in a row failed because its model is down, and how many of them
    -- did; whether its person has been told that it takes longer, which is said once a turn.
    model_down_since timestamptz,
    model_tries     int not null default 0,
    told_of_delay   boolean not null default false,
    -- The context of the span in which a row began (W3C Trace Context), null if nothing was recorded. A function that is
    -- given a context sets onevalet.trace, and what begins in its transaction takes it from there.
    traceparent     text default nullif(current_setting('onevalet.trace', true), ''),
    primary key (tenant_id, id),
    foreign key (tenant_id, lane_id) references lanes on delete cascade,
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create unique index turns_one_running on turns (tenant_id, lane_id) where state = 'running';
create index turns_id on turns (id);
create index turns_ready on turns (tenant_id, lane_id) where state = 'waiting' and ready;
create index turns_quarantined on turns (tenant_id, lane_id) where state = 'running' and quarantined;
create index turns_waiting on turns (started_at, id) where state = 'waiting';
-- The open turn of a conversation, which the list of conversations shows.
create index turns_open on turns (tenant_id, conversation_id) where state in ('running', 'waiting');
create index turns_poison on turns (started_at desc, id) where state = 'poison';
create index turns_finished on turns (finished_at) where finished_at is not null;
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
create index history_turn on history (tenant_id, turn_id) where turn_id is not null;
create index history_apart on history (created_at) where turn_id is null;
select tenant_table('history');

-- The prompts of model calls as they were sent (core/journal/prompts.py): copies that are kept for hours to find faults.
-- One row for each step of a model; `packed` is compressed already, so Postgres need not try.
create table prompts (
    tenant_id  text not null,
    turn_id    text not null,
    agent_path text not null default '',
    step       int not null,
    packed     bytea not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, turn_id, agent_path, step),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
alter table prompts alter column packed set storage external;
create index prompts_created on prompts (created_at);
select tenant_table('prompts');

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
    origin          text not null default 'own' check (origin in ('own', 'forwarded', 'via_bot', 'client')),
    -- What was said in the voice notes of a message, beside what was typed.
    heard           text not null default '',
    -- What an email is about, which stands in the answer's subject again.
    subject         text not null default '',
    traceparent     text default nullif(current_setting('onevalet.trace', true), ''),
    -- What a message points at: the words of messages that it answers, quotes or shares, and whose they are.
    points          jsonb not null default '[]',
    -- A text that its provider cut in two: what stood at the cut, and whether a message is the rest of the one before it.
    goes_on         text check (goes_on in ('', E'\n')),
    continues       boolean not null default false,
    primary key (tenant_id, id),
    unique (tenant_id, conversation_id, seq),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns
);
create index inbound_waiting on inbound (tenant_id, conversation_id, seq) where state = 'waiting';
create index inbound_turn on inbound (tenant_id, turn_id);
create index inbound_id on inbound (id);
create index inbound_provider on inbound (provider_id) where provider_id <> '';
-- What belongs to no turn, such as ignored messages, is found by its age.
create index inbound_apart on inbound (received_at) where turn_id is null;
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
    outbound         text,
    language         text,
    subject          text,
    traceparent      text,
    points           jsonb,
    goes_on          text
);

-- Promise 2: any known key is a duplicate, however it arrived.
create table inbox_keys (
    channel     text not null,
    account     text not null,
    key         text not null,
    tenant_id   text not null references tenants on delete cascade,
    inbound_id  text not null,
    received_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, channel, account, key)
);
create index inbox_keys_inbound on inbox_keys (tenant_id, inbound_id);
create index inbox_keys_received on inbox_keys (received_at);
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
    kind            text not null check (kind in ('reply', 'card', 'notification', 'receipt', 'outreach')),
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
    -- What the text is made of at the first rendering, in the person's language: an array of {key, values}. Empty: the
    -- text is fixed.
    sentences       jsonb not null default '[]',
    -- What was decided about a message that failed or whose arrival nobody knows; `elsewhere`: its news went to another
    -- place, which settles it.
    resolution      text not null default '' check (resolution in ('', 'resent', 'dropped', 'elsewhere')),
    -- The message that this one says again.
    resends         text not null default '',
    traceparent     text default nullif(current_setting('onevalet.trace', true), ''),
    -- Its provider took it, and said later that it did not arrive.
    undelivered     boolean not null default false,
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
-- What waits for somebody's decision, for all people and for one.
create index outbound_unsettled on outbound (created_at, id)
    where (state in ('held', 'failed', 'ambiguous') or state = 'sent' and undelivered) and resolution = '';
create index outbound_unsettled_of_person on outbound (tenant_id, created_at, id)
    where (state in ('held', 'failed', 'ambiguous') or state = 'sent' and undelivered) and resolution = '';
-- An answer of a turn, which the console and `trace` look for.
create index outbound_turn on outbound (tenant_id, turn_id) where turn_id is not null;
-- What went wrong, which is counted and listed, is little of all.
create index outbound_trouble on outbound (state, created_at desc, id) where state in ('failed', 'ambiguous');
create index outbound_apart on outbound (created_at) where turn_id is null;
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
create index segment_days_day on segment_days (day);
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

-- The words of a message, in a table of their own: a message's row changes several times, and would be copied with them.
-- Among the words is the person, so that one index finds the words of one person's messages.
create table message_words (
    tenant_id       text not null references tenants on delete cascade,
    message_id      text not null,
    conversation_id text not null,
    inward          boolean not null,
    at              timestamptz not null,
    words           tsvector not null,
    primary key (tenant_id, message_id),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
create index message_words_words on message_words using gin (words);
create index message_words_person on message_words (tenant_id, at desc, message_id desc);
create index message_words_at on message_words (at desc, message_id desc);
create index message_words_conversation on message_words (tenant_id, conversation_id);
select tenant_table('message_words');

-- How many messages of all people wait for their turn: the sum of these rows. Each transaction counts in a row that no
-- other is counting in, so that none waits for another; functions/inbox.sql has the triggers. One row alone may be
-- negative, since a message is taken by another connection than the one that received it.
create table waiting_counts (
    shard   int primary key,
    waiting bigint not null
) with (fillfactor = 30);
select shared_table('waiting_counts', 'select, insert, update');
insert into waiting_counts (shard, waiting) values (0, 0);

-- The pool: agents and calls that wait for a person, for an approval, or until an account is connected.
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
    check (status in ('WAITING_FOR_INPUT', 'WAITING_FOR_APPROVAL', 'WAITING_FOR_ACCOUNT', 'PAUSED', 'CANCELLED',
                      'COMPLETED')),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index pool_entries_turn on pool_entries (tenant_id, turn_id);
create index pool_entries_due on pool_entries (expires_at) where status not in ('CANCELLED', 'COMPLETED');
select tenant_table('pool_entries');

-- Questions with buttons: what a waiting agent or tool asks, until it is answered once.
-- `agent_id` is the entry of the pool that asks, `name` the field that the answer is for; `choices` are the labels with the
-- values that they stand for. `answer` is what was answered, as it is shown. The entry ends before its questions do, so
-- there is no foreign key to it.
create table questions (
    tenant_id        text not null references tenants on delete cascade,
    id               text not null,
    turn_id          text not null,
    agent_id         text not null,
    name             text not null,
    choices          jsonb not null,
    skip             boolean not null,
    token            text not null unique,
    state            text not null default 'open',
    answer           text not null default '',
    answered_by      text not null default '',
    answered_channel text not null default '',
    answered_at      timestamptz,
    created_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    check (state in ('open', 'chosen', 'skipped', 'closed', 'asked_again')),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index questions_turn on questions (tenant_id, turn_id);
create index questions_open on questions (tenant_id, agent_id) where state = 'open';
select tenant_table('questions');

-- The messages that show a question: one, and another where that was sent again.
create table question_cards (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    question_id text not null,
    primary key (tenant_id, outbound_id),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade,
    foreign key (tenant_id, question_id) references questions on delete cascade
);
create index question_cards_question on question_cards (tenant_id, question_id);
select tenant_table('question_cards');

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

-- Approvals: requests for consent to one exact action each, decided once (promises 9 and 10).
--
-- What was asked is bound by a hash over canonical JSON of approver, arguments, expiry, tenant and tool. The
-- expiry is known when the card is sent, and stands in the middle: the text before and after it is kept.
create table approvals (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    turn_id         text not null,
    -- The call within the turn: its agent path with step and index, or an agent's path with its run.
    place           text not null,
    generation      int not null,
    conversation_id text not null,
    name            text not null,
    summary         text not null,
    arguments       jsonb not null,
    -- What the card shows, as [label, text] pairs, and what a form may change (core.messaging.messages.FormField).
    shown           jsonb not null,
    form            jsonb not null default '[]',
    editable        boolean not null default true,
    risk            text not null default '',
    source          text not null default 'message',
    code            text not null,
    token           text not null,
    timeout         interval not null,
    sealed_head     text not null,
    sealed_tail     text not null,
    hash            text not null default '',
    expires_at      timestamptz,
    state           text not null default 'pending',
    reason          text not null default '',
    -- The changes that the person wants: field names with new values. The approval is "replaced" by then.
    proposed        jsonb,
    decided_at      timestamptz,
    decided_by      text not null default '',
    decided_channel text not null default '',
    decided_how     text not null default '',
    -- The message that decided, or the operator's own id of the decision: who repeats it finds that it was theirs.
    decided_in      text not null default '',
    confirm_hash    bytea,
    confirm_until   timestamptz,
    confirm_tries   int not null default 0,
    confirm_sent    int not null default 0,
    remind_at       timestamptz,
    ran_at          timestamptz,
    created_at      timestamptz not null,
    primary key (tenant_id, id),
    unique (token),
    check (state in ('pending', 'approved', 'cancelled', 'expired', 'replaced')),
    check ((expires_at is null) = (hash = '')),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index approvals_turn on approvals (tenant_id, turn_id);
create unique index approvals_code on approvals (tenant_id, code) where state = 'pending';
create index approvals_due on approvals (least(expires_at, remind_at)) where state = 'pending';
create index approvals_unsent on approvals (created_at) where state = 'pending' and expires_at is null;
select tenant_table('approvals');

-- A code is not issued again for a while: a late "OK 7K" must not meet another action.
create table approval_codes (
    tenant_id text not null references tenants on delete cascade,
    code      text not null,
    holder    text not null,
    issued_at timestamptz not null,
    primary key (tenant_id, code)
);
select tenant_table('approval_codes');

create table approval_audit (
    tenant_id   text not null references tenants on delete cascade,
    id          bigint generated always as identity,
    approval_id text not null,
    at          timestamptz not null,
    what        text not null,
    hash        text not null default '',
    identity_id text not null default '',
    channel     text not null default '',
    how         text not null default '',
    detail      jsonb not null default '{}',
    primary key (tenant_id, id),
    check (what in ('requested', 'sent', 'approved', 'cancelled', 'replaced', 'expired', 'ran', 'refused', 'confirm',
                    'reminded', 'snoozed', 'reissued', 'granted', 'used', 'ended'))
);
create index approval_audit_approval on approval_audit (tenant_id, approval_id);
create index approval_audit_at on approval_audit (at);
select tenant_table('approval_audit');
revoke update, delete on approval_audit from onevalet_app;

-- `role`: a card shows all of the approval; a prompt asks for what to change; a number proves possession of a phone.
create table approval_cards (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    approval_id text not null,
    role        text not null default 'card',
    primary key (tenant_id, outbound_id),
    check (role in ('card', 'prompt', 'number')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade,
    foreign key (tenant_id, approval_id) references approvals on delete cascade
);
create index approval_cards_approval on approval_cards (tenant_id, approval_id);
-- What waits to be made unreadable is looked for every few seconds: without reading all cards that ever were.
create index approval_cards_numbers on approval_cards (tenant_id) where role = 'number';
select tenant_table('approval_cards');

-- Cards to be redrawn: `outcome` is the key of the line to show from now on, and `outcome_at` the moment in it.
create table redraws (
    tenant_id       text not null references tenants on delete cascade,
    outbound_id     text not null,
    outcome         text not null,
    state           text not null default 'due',
    reason          text not null default '',
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    lease_until     timestamptz,
    fence           bigint not null default 0,
    drawn_at        timestamptz,
    outcome_at      timestamptz not null,
    primary key (tenant_id, outbound_id),
    check (state in ('due', 'drawn', 'given_up')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index redraws_due on redraws (next_attempt_at) where state = 'due';
select tenant_table('redraws');

-- Standing consent: a person agrees once to calls of one narrow shape, for a while and so many times.
-- `sealed` is the canonical JSON of all that was agreed to, `hash` its SHA-256; the other columns repeat what statements
-- need of it. `number` is what people call it. It has no foreign key to the turn: it outlives that.
create table standing_consents (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      bigint not null,
    turn_id     text not null,
    approval_id text not null,
    name        text not null,
    sealed      text not null,
    hash        text not null,
    told        text not null check (told in ('at once', 'digest')),
    max_uses    int not null check (max_uses > 0),
    used        int not null default 0,
    expires_at  timestamptz not null,
    state       text not null default 'active' check (state in ('active', 'ended')),
    reason      text not null default '',
    ended_at    timestamptz,
    created_at  timestamptz not null,
    primary key (tenant_id, id),
    check (used between 0 and max_uses)
);
create index standing_consents_number on standing_consents (tenant_id, number desc);
create index standing_consents_end on standing_consents (expires_at) where state = 'active';
select tenant_table('standing_consents');

-- One row for each call that ran by it: a call that is repeated after a crash finds its own.
create table consent_uses (
    tenant_id      text not null references tenants on delete cascade,
    id             text not null,
    consent_id     text not null,
    turn_id        text not null,
    call_id        text not null,
    arguments_hash text not null,
    number         int not null,
    outcome        text not null default '',
    at             timestamptz not null,
    primary key (tenant_id, id),
    unique (tenant_id, turn_id, call_id),
    unique (tenant_id, consent_id, number),
    foreign key (tenant_id, consent_id) references standing_consents on delete cascade
);
select tenant_table('consent_uses');

-- What was done for a person and can be taken back for a while: by which tool, with which arguments (functions/undo.sql).
-- `id` is the call's, so that a repeat of its result stores nothing more. `open_until` is from the Clock. A record that
-- was taken back keeps its title until then, to say so. `taken_by`: the calls that began to take it back.
create table undo_records (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    turn_id     text not null,
    number      bigint not null,
    title       text not null,
    tool        text not null,
    arguments   jsonb not null,
    open_until  timestamptz not null,
    taken_by    text[] not null default '{}',
    undone      boolean not null default false,
    created_at  timestamptz not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index undo_records_number on undo_records (tenant_id, number desc);
create index undo_records_until on undo_records (open_until);
select tenant_table('undo_records');

-- People's credentials, sealed by the application: the database never sees a key or a secret in clear.

-- A tenant's data key, wrapped under the operator's secret key that secret_key_id names.
create table data_keys (
    tenant_id     text not null references tenants on delete cascade,
    version       int not null check (version > 0),
    secret_key_id text not null,
    wrapped       bytea not null,
    created_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, version)
);
select tenant_table('data_keys');

-- credentials_json: the JSON object, sealed under the data key of key_version for exactly this row.
create table credentials (
    tenant_id        text not null,
    service          text not null check (length(service) between 1 and 200),
    account_name     text not null check (length(account_name) between 1 and 200),
    key_version      int not null,
    credentials_json bytea not null,
    preferred        boolean not null default false,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    -- Since when the service accepts what is stored no longer; connecting the account again clears it.
    revoked_at       timestamptz,
    -- Which process has its tokens refreshed, and how long the others leave it to that one.
    refreshed_by     text not null default '',
    refreshing_until timestamptz,
    -- The kinds of things for which an account is used if none is named, each kind in one row at most; it comes before
    -- preferred, which is the default of a service.
    preferred_for    text[] not null default '{}',
    -- When an account is next looked after without anybody asking: its tokens are refreshed ahead of their end, or, once
    -- it is revoked, its person is told to connect it again. Null: never.
    attend_at        timestamptz,
    primary key (tenant_id, service, account_name),
    foreign key (tenant_id, key_version) references data_keys on delete cascade
);
create unique index credentials_preferred on credentials (tenant_id, service) where preferred;
create index credentials_to_attend on credentials (attend_at) where attend_at is not null;
select tenant_table('credentials');

-- What a person's model calls cost: reserved before a call, settled after it, by the person's own day.

-- task_id is '' for the whole day, to which caps apply; otherwise the task that spent this part of it.
create table spending (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    task_id   text not null default '',
    spent     numeric(14, 8) not null default 0 check (spent >= 0),
    primary key (tenant_id, day, task_id)
);
create index spending_day on spending (day) where task_id = '';
select tenant_table('spending');

-- One row per paid step, kept after it is settled so that nobody pays twice. A reservation whose worker died counts
-- until held_until; its turn's next worker takes the same key, or settles it from the journal.
create table reservations (
    tenant_id  text not null references tenants on delete cascade,
    turn_id    text not null,
    agent_path text not null,
    step       int not null,
    call_index int not null,
    day        date not null,
    task_id    text not null default '',
    amount     numeric(14, 8) not null check (amount >= 0),
    settled    boolean not null default false,
    held_until timestamptz not null,
    -- What the person let a turn spend beyond the caps, by the step at which they were asked.
    allowed    numeric(14, 8) not null default 0 check (allowed >= 0),
    primary key (tenant_id, turn_id, agent_path, step, call_index)
);
create index reservations_day on reservations (tenant_id, day) where not settled;
select tenant_table('reservations');

-- What was used, summed by day. Workers add a turn when it ends and an answer when it was sent; a webhook adds nothing.

-- Sums of a person's day. kind and name: a model; a tool or an agent; a `message` that was received; a `turn` by how it
-- ended; an `answer` by how long it took, name being 4 * log2 of its milliseconds, rounded up; `background`: what
-- models do besides answering (core/budgets/background.py). An agent's tokens and cost are those of its own model calls,
-- which their model counts as well. task_id is '' for what was no task's.
create table usage_days (
    tenant_id     text not null references tenants on delete cascade,
    day           date not null,
    task_id       text not null default '',
    kind          text not null check (kind in ('model', 'tool', 'agent', 'message', 'turn', 'answer',
                                              'background')),
    name          text not null,
    calls         bigint not null default 0,
    failed        bigint not null default 0,
    input_tokens  bigint not null default 0,
    output_tokens bigint not null default 0,
    cached_tokens bigint not null default 0,
    cost          numeric(14, 8) not null default 0,
    took_ms       bigint not null default 0,
    primary key (tenant_id, day, task_id, kind, name)
);
create index usage_days_day on usage_days (day);
create index usage_days_models on usage_days (day) where kind = 'model';
create index usage_days_tasks on usage_days (day) where kind = 'model' and task_id <> '';
create index usage_days_background on usage_days (day) where kind = 'background';
select tenant_table('usage_days');

-- The sums of everybody's days that are over, for operators: nobody's data. The console adds a day when it is first looked at.
-- Besides the kinds above: what was `spent`, as cost, and each `segment` of SMS, as calls.
create table usage_totals (
    day           date not null,
    kind          text not null,
    name          text not null,
    calls         bigint not null,
    failed        bigint not null,
    input_tokens  bigint not null,
    output_tokens bigint not null,
    cached_tokens bigint not null,
    cost          numeric(20, 8) not null,
    took_ms       bigint not null,
    primary key (day, kind, name)
);
select shared_table('usage_totals', 'select');

-- Profiles: facts about a person, told or inferred, and every change undoable; and their preferences and consents.

-- One row per version of a fact. In force: neither replaced nor undone. A fact that was undone is not inferred again.
create table profile_facts (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      bigint not null,
    key         text not null check (key ~ '^[a-z][a-z0-9_]{0,39}$'),
    value       text not null check (length(value) between 1 and 300),
    source      text not null check (source in ('told', 'inferred', 'outside')),
    turn_id     text not null default '',
    since       timestamptz not null,
    replaced_by text,
    undone_at   timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index profile_facts_in_force on profile_facts (tenant_id, key) where replaced_by is null and undone_at is null;
select tenant_table('profile_facts');

-- Turns that have not been read for facts yet. Written at the end of the turn, so that none is forgotten.
create table profile_jobs (
    tenant_id   text not null,
    turn_id     text not null,
    not_before  timestamptz not null default clock_timestamp() + interval '20 seconds',
    attempts    int not null default 0,
    owner       text,
    lease_until timestamptz,
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index profile_jobs_due on profile_jobs (not_before);
select tenant_table('profile_jobs');

-- What tools store for a person: JSON values by key, in collections, of one tenant only.

-- last_number only rises, so that a number that the person was told never comes to mean something else.
create table stored_collections (
    tenant_id   text not null references tenants on delete cascade,
    name        text not null check (length(name) between 1 and 200),
    last_number bigint not null default 0,
    primary key (tenant_id, name)
);
select tenant_table('stored_collections');

create table stored_values (
    tenant_id   text not null,
    collection  text not null,
    key         text not null check (length(key) between 1 and 200),
    number      bigint not null,
    value       jsonb not null,
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, collection, key),
    unique (tenant_id, collection, number),
    foreign key (tenant_id, collection) references stored_collections on delete cascade
);
select tenant_table('stored_values');

-- What was decided about due tasks, as fire_tasks takes it: arrays of these, which cost less than half of jsonb.
create type fired_task as (
    tenant_id text,
    task_id   text,
    due_at    timestamptz,
    next_at   timestamptz,
    zone      text,
    fires     int
);

-- `cause` is JSON.
create type fired_run as (
    tenant_id  text,
    task_id    text,
    run_id     text,
    turn_id    text,
    occurrence text,
    due_at     timestamptz,
    state      text,
    reason     text,
    cause      text
);

-- Notifications: messages that people did not ask for just now. One row per piece of news, addressed to the person; it
-- becomes an outbound row in one of their conversations, at once or when quiet hours end. Times are from the Clock,
-- unless stated otherwise.

-- held: waits until not_before for the digest. queued: is in the outbox. sent: the provider accepted it. failed: it could
-- not be delivered there, and may go elsewhere. digested: was part of the notification digest_id.
create table notifications (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    category        text not null,
    urgency         text not null check (urgency in ('urgent', 'normal', 'low')),
    title           text not null default '',
    -- What the database has to say has no sentence yet: which notice it is, and of which channel. The sentence is made
    -- when it goes out, in the person's language; text is what it is about.
    notice          text check (notice in (
        'stopped', 'blocked', 'approval', 'answered', 'recipient_stopped', 'not_delivered')),
    notice_channel  text,
    text            text not null,
    actions         jsonb not null default '[]',
    media           jsonb not null default '[]',
    dedupe_key      text not null,
    task_id         text not null default '',
    run_id          text not null default '',
    wanted          text not null default '',
    state           text not null
        check (state in ('held', 'queued', 'sent', 'failed', 'nowhere', 'muted', 'digested')),
    reason          text not null default '',
    at              timestamptz not null,
    not_before      timestamptz,
    digest_id       text,
    repeats         int not null default 0,
    conversation_id text,
    outbound_id     text,
    tried           text[] not null default '{}',
    queued_at       timestamptz,
    fall_back_at    timestamptz,
    -- For channels that nobody can answer in (push, email): it announces something that waits elsewhere.
    aside           boolean not null default false,
    sent_at         timestamptz, -- the database's
    -- Its text has words of others, which the history leaves out.
    outside         boolean not null default false,
    traceparent     text default nullif(current_setting('onevalet.trace', true), ''),
    primary key (tenant_id, id),
    check ((state = 'held') <= (not_before is not null)),
    check ((notice is null) = (notice_channel is null)),
    foreign key (tenant_id, conversation_id) references conversations on delete set null (conversation_id)
);
create index notifications_key on notifications (tenant_id, dedupe_key, at);
create index notifications_at on notifications (at);
create index notifications_queued on notifications (tenant_id, queued_at);
create index notifications_outbound on notifications (tenant_id, outbound_id);
create index notifications_conversation on notifications (tenant_id, conversation_id);
create index notifications_held on notifications (not_before) where state = 'held';
create index notifications_failed on notifications (tenant_id, id) where state = 'failed';
create index notifications_open on notifications (queued_at) where state = 'queued';
create index notifications_silent on notifications (fall_back_at) where state = 'sent' and fall_back_at is not null;
select tenant_table('notifications');

-- Files that people sent: what is known of each in rows, the bytes in the store of files under `key` (functions/files.sql).

-- `id` is the beginning of the content's hash, so that the same file is one row however often a person sends it.
-- `sha256` is of what was sent; of a picture only a smaller copy without its place is kept. `storing`: the bytes are
-- perhaps not there yet.
create table files (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    sha256      text not null,
    key         text not null,
    kind        text not null,
    content_type text not null,
    name        text not null default '',
    state       text not null default 'storing' check (state in ('storing', 'kept')),
    size        bigint not null,
    pages       jsonb not null default '[]',
    page_count  int not null default 0,
    cut         boolean not null default false,
    caption     text not null default '',
    created_at  timestamptz not null,
    used_at     timestamptz not null,
    primary key (tenant_id, id)
);
create index files_used on files (used_at);
-- Two people who were one for a while and had sent the same file share its bytes: the last row that goes takes them along
-- (functions/files.sql).
create index files_key on files (key);
create index files_unfinished on files (created_at) where state = 'storing';
select tenant_table('files');

-- What became of each file of a message: `file_id`, or why there is none.
create table inbound_files (
    tenant_id   text not null,
    inbound_id  text not null,
    number      int not null,
    file_id     text,
    failure     text,
    primary key (tenant_id, inbound_id, number),
    foreign key (tenant_id, inbound_id) references inbound on delete cascade
);
select tenant_table('inbound_files');

-- Bytes that no row names any more, until a worker has deleted them.
create table file_deletions (
    key         text primary key,
    deleted_at  timestamptz not null default clock_timestamp()
);
select shared_table('file_deletions', 'select, insert, delete');

-- The console: links by which people sign in to it, their sessions, and who looked at whose texts.

-- token_hash: of the link's end, which is stored nowhere. operator: whether the console then shows everybody's.
create table console_links (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    operator   boolean not null,
    made_at    timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, token_hash)
);
create index console_links_by_token on console_links (token_hash);
select tenant_table('console_links');

create table console_sessions (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    operator   boolean not null,
    begun_at   timestamptz not null,
    seen_at    timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, token_hash)
);
create index console_sessions_by_token on console_sessions (token_hash);
select tenant_table('console_sessions');

-- Each look of an operator at what belongs to somebody else. viewer: the operator's own id.
create table console_looks (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    viewer    text not null,
    what      text not null,
    subject   text not null,
    at        timestamptz not null,
    primary key (tenant_id, id)
);
select tenant_table('console_looks');

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

-- Other programs of a person's, which ask their assistant by a token.
-- `token_hash` is keyed with a secret key of the installation: the table alone proves nothing. The id is also the user
-- key of the identity and the address of the conversation in which the program asks. `number` is what people call it.
create table client_tokens (
    tenant_id    text not null references tenants on delete cascade,
    id           text not null,
    number       bigint not null,
    name         text not null,
    token_hash   bytea not null unique,
    made_at      timestamptz not null,
    expires_at   timestamptz not null,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    uses         bigint not null default 0,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index client_tokens_ended on client_tokens (least(expires_at, revoked_at));
select tenant_table('client_tokens');

-- What an operator accepted of others' definitions: the tools of MCP servers, and skills. Nothing else is used of them.
create table accepted_definitions (
    kind        text not null check (kind in ('mcp', 'skill')),
    -- The MCP server's name, or the skill's.
    source      text not null,
    -- The tool's name at its server; empty for a skill.
    name        text not null,
    -- SHA-256 of what was accepted, as it came.
    hash        text not null,
    definition  jsonb not null,
    accepted_at timestamptz not null default clock_timestamp(),
    primary key (kind, source, name)
);
select shared_table('accepted_definitions', 'select, insert, update, delete');

-- Each worker's health, reported by itself every few seconds: nobody else can tell from outside.
create table worker_health (
    worker      text primary key,
    seen_at     timestamptz not null default clock_timestamp(),
    -- Seconds by which its machine's clock is ahead of the database's; null before the first check.
    clock_ahead double precision,
    -- Its parts that fail: [{part, failures, cause, at}].
    failing     jsonb not null default '[]'
);
select shared_table('worker_health', 'select, insert, update, delete');

-- Tests whether writes work again after one was refused for a full or broken disk: an update of an existing page would
-- prove nothing, so the probe needs new pages. Truncating gives it a new file each time, and the old one back.
create unlogged table write_probe (filler text not null);
alter table write_probe alter column filler set storage plain;
alter table write_probe enable row level security;
alter table write_probe force row level security;
create policy owner on write_probe to current_user using (true) with check (true);

-- Backups of the whole database, so that their age can be read, and so that one worker at a time takes one.
-- worker: who takes it; empty for a command. lease_until: whoever takes it lives. failure: why it came to nothing, as a
-- name. file: where it lies on the machine that took it.
create table backups (
    id          text primary key,
    worker      text not null default '',
    began_at    timestamptz not null,
    lease_until timestamptz not null,
    finished_at timestamptz,
    file        text not null default '',
    bytes       bigint not null default 0,
    failure     text not null default ''
);
create index backups_finished on backups (finished_at);
select shared_table('backups', 'select, insert, update, delete');

-- How far each kind of old rows is pruned. upto: the journals of turns that ended until then are gone, so that their turns are not looked at again.
create table retention_marks (
    kind text primary key,
    upto timestamptz not null
);
select shared_table('retention_marks', 'select');
