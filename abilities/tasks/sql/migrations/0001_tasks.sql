-- stands for 0001_tasks 9d357a86fae0cecb3b19d0934fa8049ea970e4057e7ed19892785dba2d1d5296

-- Tasks: what people want done at a time, on an event or under a condition, and each run of it, unique by (task,
-- occurrence): promise 13. A run has a lane and a turn of its own; the turn is ready from the beginning, so that
-- claiming, taking over and resuming it work as for any other turn.
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
    -- From the Clock: the start of intervals, the next occurrence, and when it is due, which is later by the jitter.
    -- They were computed in "zone".
    anchor      timestamptz not null,
    due_at      timestamptz,
    next_at     timestamptz,
    zone        text not null default '',
    rezone      boolean not null default false,
    fired       int not null default 0,
    failures    int not null default 0,
    -- The state of a condition, and how often it was checked: a check counts for the revision that it read.
    watch       jsonb not null default '{}',
    revision    int not null default 0,
    deleted_at  timestamptz,
    created_at  timestamptz not null,
    -- When a task ended, by the database's clock.
    ended_at    timestamptz,
    -- The unforeseen error after which a task was disabled; empty for all others.
    set_aside   text not null default '',
    -- The tasks of a person who cannot be reached anywhere are on hold: no result could be told, so nothing runs, no
    -- model is asked, and missed occurrences follow the task's policy once the person is back.
    held        boolean not null default false,
    -- A check of a condition is counted before it starts, and no longer once it has ended in any way: one that kills
    -- its worker, or never ends, is started a bounded number of times.
    looks_begun int not null default 0,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index tasks_events on tasks (tenant_id) where kind = 'event' and state = 'ACTIVE';
create index tasks_over on tasks (ended_at) where ended_at is not null;
create index tasks_set_aside on tasks (tenant_id, number) where set_aside <> '';
create index tasks_due on tasks (next_at) where state = 'ACTIVE' and next_at is not null and not held;
-- In the order of the console.
create index tasks_by_next on tasks ((coalesce(next_at, timestamptz 'infinity')), id) where deleted_at is null;
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
    -- Why it ran: the event, the old and the new value, the missed occurrences.
    cause           jsonb not null default '{}',
    -- The conversation for its cards and questions, fixed when it began.
    conversation_id text,
    turn_id         text,
    -- What was said in its turn before it waited: a conversation of its own.
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
-- Tasks do not grow without end: runs that are over are deleted after a time, and so are tasks that have ended.
create index task_runs_over on task_runs (finished_at) where finished_at is not null;
select tenant_table('task_runs');

-- Notices of a run to the person, committed with the turn that writes them and handed to the notifier after it.
create table run_notices (
    tenant_id       text not null,
    run_id          text not null,
    key             text not null,
    kind            text not null default 'end' check (kind in ('end', 'question', 'disabled')),
    text            text not null,
    state           text not null default 'open' check (state in ('open', 'handed_over', 'failed')),
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    notification_id text not null default '',
    fate            text not null default '',
    place           text not null default '',
    created_at      timestamptz not null default clock_timestamp(),
    -- Files that a task's run sends its person, as `outbound.media` has them.
    media           jsonb not null default '[]',
    -- Its text has words of others, which the conversation's history leaves out.
    outside         boolean not null default false,
    -- The context of the span in which a row began, as other tables have it.
    traceparent     text default nullif(current_setting('onevalet.trace', true), ''),
    primary key (tenant_id, run_id, key),
    foreign key (tenant_id, run_id) references task_runs on delete cascade
);
create index run_notices_open on run_notices (next_attempt_at) where state = 'open';
create index run_notices_failed on run_notices (tenant_id) where state = 'failed';
select tenant_table('run_notices');
