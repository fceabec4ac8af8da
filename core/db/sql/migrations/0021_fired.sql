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
