-- What a person's model calls cost: reserved before a call, settled after it, by the person's own day.

-- task_id is '' for the whole day, to which caps apply; otherwise the task that spent this part of it.
create table spending (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    task_id   text not null default '',
    spent     numeric(14, 8) not null default 0 check (spent >= 0),
    primary key (tenant_id, day, task_id)
);
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
