-- stands for 0001_memory 275ee17eec30457ad63f388ddffceb3db954742eeeb25457990d9eb91f280e6d

-- Memory: sessions of talk kept for applications, and memories of a person. The truth is here; a worker's structured
-- index is built from these rows alone, and may be dropped at any time.

-- Keeps the workers' indexes consistent: `version` is the number of the newest memory; `epoch` rises whenever one was
-- deleted, and an index of another epoch is dropped.
create table memory_versions (
    tenant_id text primary key references tenants on delete cascade,
    version   bigint not null default 0,
    epoch     bigint not null default 0
);
select tenant_table('memory_versions');

create table memory_sessions (
    tenant_id     text not null references tenants on delete cascade,
    id            text not null check (length(id) between 1 and 200),
    last_position bigint not null default 0,
    expires_at    timestamptz not null,
    created_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index memory_sessions_due on memory_sessions (expires_at);
select tenant_table('memory_sessions');

create table memory_messages (
    tenant_id  text not null,
    session    text not null,
    position   bigint not null,
    message    jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, session, position),
    foreign key (tenant_id, session) references memory_sessions on delete cascade
);
select tenant_table('memory_messages');

-- One statement each. `kind` is its source: told by the person, inferred by the assistant, or from outside content,
-- which never is a fact about the person. valid_to null: it holds. `number` is shown to the person. held: only rules have
-- read it, as the model was away, or the model found nothing in it: it is neither recalled nor listed.
create table memories (
    tenant_id     text not null references tenants on delete cascade,
    id            text not null,
    number        bigint not null,
    collection    text not null default '',
    text          text not null check (length(text) between 1 and 4000),
    speaker       text not null,
    kind          text not null check (kind in ('told', 'inferred', 'outside')),
    source_key    text not null,
    turn_id       text,
    said_at       timestamptz not null,
    slot          text not null default '',
    knowledge     jsonb not null default '{}',
    extractor     text not null default '',
    valid_from    timestamptz not null,
    valid_to      timestamptz,
    superseded_by text,
    repeated      int not null default 0,
    held          boolean not null default false,
    created_at    timestamptz not null default clock_timestamp(),
    words         tsvector generated always as (to_tsvector('english', text) || to_tsvector('simple', text)) stored,
    primary key (tenant_id, id),
    unique (tenant_id, number),
    unique (tenant_id, source_key)
);
create index memories_valid on memories (tenant_id, collection) where valid_to is null;
-- Statements that were stored at once, by rule, and that a model reads when their person has become quiet.
create index memories_unread on memories (tenant_id, number) where extractor = 'rules, until read';
select tenant_table('memories');

-- Each vector names its embedder: after a change of embedder the old ones are useless.
create table memory_vectors (
    tenant_id text not null,
    memory_id text not null,
    embedder  text not null,
    embedding vector not null,
    primary key (tenant_id, memory_id, embedder),
    foreign key (tenant_id, memory_id) references memories on delete cascade
);
-- Inline, as far as a page allows: a scan over all of a person's vectors reads no second table.
alter table memory_vectors alter column embedding set storage main;
select tenant_table('memory_vectors');

create table memory_terms (
    tenant_id text not null references tenants on delete cascade,
    embedder  text not null,
    term      text not null,
    embedding vector not null,
    primary key (tenant_id, embedder, term)
);
alter table memory_terms alter column embedding set storage main;
select tenant_table('memory_terms');

-- What is still to be remembered: a turn's words, which are in history, or messages that were handed over.
create table memory_jobs (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    turn_id     text,
    collection  text not null default '',
    messages    jsonb not null default '[]',
    infer       boolean not null default true,
    attempts    int not null default 0,
    owner       text,
    lease_until timestamptz,
    not_before  timestamptz not null default clock_timestamp(),
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index memory_jobs_due on memory_jobs (not_before);
select tenant_table('memory_jobs');

-- What the person was asked about forgetting, and phrases that must still be redacted where they were said. The phrases
-- are deleted with the row as soon as that is done. Nothing said in the turns that asked and agreed is remembered.
create table memory_forgettings (
    tenant_id    text not null references tenants on delete cascade,
    id           text not null,
    turn_id      text not null default '',
    memory_ids   text[] not null,
    phrases      text[] not null default '{}',
    confirmed    boolean not null default false,
    confirmed_in text not null default '',
    expires_at   timestamptz not null,
    -- The newest memory when the person was asked: what is newer was not shown to them. By default nothing counts as newer.
    known        bigint not null default 9223372036854775807,
    primary key (tenant_id, id)
);
select tenant_table('memory_forgettings');

-- Which retriever found which memories in a turn's recall; ids and times, never text.
create table memory_recalls (
    tenant_id  text not null,
    turn_id    text not null,
    report     jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
select tenant_table('memory_recalls');

-- A shared collection is a tenant of its own; each member has a row among their own.
create table memory_members (
    tenant_id text not null references tenants on delete cascade,
    name      text not null check (length(name) between 1 and 200),
    shared_id text not null,
    role      text not null check (role in ('owner', 'member')),
    primary key (tenant_id, name)
);
create index memory_members_shared on memory_members (shared_id);
select tenant_table('memory_members');
