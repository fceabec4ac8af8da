-- Tasks: what people want done at a time, on an event or under a condition, and each run of it, unique by (task,
-- occurrence): promise 13. It has a lane and a turn of its own; the turn stands ready from the beginning, so that
-- claiming, taking over and going on are those of any other turn.
create table tasks (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      int not null,
    title       text not null,
    kind        text not null check (kind in ('schedule', 'event', 'condition')),
    trigger     jsonb not null,
    executor    text not null default 'orchestrator',
    action      jsonb not null default '{}',
    output      jsonb not null default '{}',
    state       text not null default 'ACTIVE' check (state in ('ACTIVE', 'PAUSED', 'DISABLED', 'COMPLETED')),
    reason      text not null default '',
    -- People's time, from the Clock: what intervals count from, the occurrence that comes next, and when it is to be
    -- taken, which is later by the jitter. "zone" is the one that they were computed in.
    anchor      timestamptz not null,
    due_at      timestamptz,
    next_at     timestamptz,
    zone        text not null default '',
    rezone      boolean not null default false,
    fired       int not null default 0,
    failures    int not null default 0,
    -- What a condition saw, and how often it was looked at: a look counts against the revision that it read.
    watch       jsonb not null default '{}',
    revision    int not null default 0,
    deleted_at  timestamptz,
    created_at  timestamptz not null,
    -- When a task ended, by the database's clock.
    ended_at    timestamptz,
    -- The unforeseen error after which a task was disabled; empty for all others.
    set_aside   text not null default '',
    -- The tasks of a person who cannot be reached anywhere rest: nothing that they do could be told, so nothing runs, no
    -- model is asked, and what they miss follows their policy once the person is back.
    held        boolean not null default false,
    -- A look at a condition is counted before it is made, and counts no more once it ended, in whatever way: one that takes
    -- its worker along, or never ends, is made so often and no more.
    looks_begun int not null default 0,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index tasks_events on tasks (tenant_id) where kind = 'event' and state = 'ACTIVE';
create index tasks_over on tasks (ended_at) where ended_at is not null;
create index tasks_set_aside on tasks (tenant_id, number) where set_aside <> '';
create index tasks_due on tasks (next_at) where state = 'ACTIVE' and next_at is not null and not held;
select tenant_table('tasks');

create table task_runs (
    tenant_id       text not null,
    id              text not null,
    task_id         text not null,
    occurrence      text not null,
    due_at          timestamptz not null,
    state           text not null check (state in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL', 'COMPLETED', 'FAILED',
                                                   'EXPIRED', 'SKIPPED', 'CANCELLED')),
    reason          text not null default '',
    -- What made it run: the event, the old and the new value, what was missed.
    cause           jsonb not null default '{}',
    -- The conversation that its cards and questions go to, as it was when it began.
    conversation_id text,
    turn_id         text,
    -- What was said in its turn before it came to wait: a conversation of its own.
    history         jsonb not null default '[]',
    created_at      timestamptz not null default clock_timestamp(),
    started_at      timestamptz,
    finished_at     timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, task_id, occurrence),
    foreign key (tenant_id, task_id) references tasks on delete cascade,
    foreign key (tenant_id, conversation_id) references conversations on delete set null (conversation_id)
);
create index task_runs_task on task_runs (tenant_id, task_id, created_at desc);
create index task_runs_turn on task_runs (tenant_id, turn_id);
create index task_runs_conversation on task_runs (tenant_id, conversation_id);
-- Tasks do not grow without end: runs that are over go after a time, and so do tasks that have ended.
create index task_runs_over on task_runs (finished_at) where finished_at is not null;
select tenant_table('task_runs');

-- What the person is to be told of a run, committed with the turn that says it and handed to the notifier after it.
create table run_notices (
    tenant_id       text not null,
    run_id          text not null,
    key             text not null,
    text            text not null,
    state           text not null default 'open' check (state in ('open', 'handed_over', 'failed')),
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    notification_id text not null default '',
    fate            text not null default '',
    place           text not null default '',
    created_at      timestamptz not null default clock_timestamp(),
    primary key (tenant_id, run_id, key),
    foreign key (tenant_id, run_id) references task_runs on delete cascade
);
create index run_notices_open on run_notices (next_attempt_at) where state = 'open';
create index run_notices_failed on run_notices (tenant_id) where state = 'failed';
select tenant_table('run_notices');
