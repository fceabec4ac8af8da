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
