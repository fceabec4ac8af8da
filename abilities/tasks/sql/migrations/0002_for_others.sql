-- Reminders that somebody wants for a person with whom they share a household, in that person's rows.

-- Whether somebody may set them: the person is asked once.
create table reminder_permits (
    tenant_id text not null references tenants on delete cascade,
    from_id   text not null,
    from_name text not null,
    state     text not null default 'asked' check (state in ('asked', 'allowed', 'refused')),
    -- Whether the person has been asked: the notifier has the question.
    told      boolean not null default false,
    asked_at  timestamptz not null,
    primary key (tenant_id, from_id)
);
create index reminder_permits_untold on reminder_permits (asked_at) where not told;
select tenant_table('reminder_permits');

-- Each reminder. It waits for the permit, then it is a task of the person's; `text` goes once it is over.
create table reminder_wishes (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    from_id   text not null,
    from_name text not null,
    text      text not null,
    at        timestamptz not null,
    state     text not null default 'waiting' check (state in ('waiting', 'set', 'over')),
    -- Whether it had to wait: whoever wants it is told then what became of it.
    waited    boolean not null default false,
    task_id   text not null default '',
    made_at   timestamptz not null,
    primary key (tenant_id, id)
);
create index reminder_wishes_waiting on reminder_wishes (made_at) where state = 'waiting';
create index reminder_wishes_from on reminder_wishes (from_id);
select tenant_table('reminder_wishes');
