-- Tasks and their runs: due, started, reported, and deleted when over.

-- Creates one run, unless this occurrence has one; returns its lane. A skipped run is only recorded.
create function start_run(p_tenant text, p_task text, p_run jsonb)
returns text
language plpgsql as $$
declare
    v_run text := p_run ->> 'run_id';
    v_queued boolean := p_run ->> 'state' = 'QUEUED';
begin
    if p_run ->> 'traceparent' is not null then
        perform set_config('onevalet.trace', p_run ->> 'traceparent', true);
    end if;
    insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause, turn_id, finished_at)
    values (p_tenant, v_run, p_task, p_run ->> 'occurrence', (p_run ->> 'due_at')::timestamptz, p_run ->> 'state',
            p_run ->> 'reason', p_run -> 'cause', case when v_queued then p_run ->> 'turn_id' end,
            case when not v_queued then clock_timestamp() end)
    on conflict (tenant_id, task_id, occurrence) do nothing;
    if not found then
        return null;
    end if;
    if p_run ->> 'say' <> '' then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run, 'end', p_run ->> 'say');
    end if;
    if not v_queued then
        return null;
    end if;
    insert into lanes (tenant_id, id, pending, pending_since) values (p_tenant, v_run, true, clock_timestamp());
    insert into turns (tenant_id, id, lane_id, state, ready, fence)
    values (p_tenant, p_run ->> 'turn_id', v_run, 'waiting', true, 0);
    return v_run;
end $$;

-- Locks the due tasks of all people until the transaction ends, which may wait for its worker only so long; returns ids,
-- times and schedules only.
create function take_due_tasks(p_now timestamptz, p_limit int)
returns table (tenant_id text, task_id text, kind text, due_at timestamptz, schedule text, person_zone text,
               channel text, anchor timestamptz, fired int, rezone boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if is_halted() then
        return;
    end if;
    perform set_config('idle_in_transaction_session_timeout', '10s', true);
    return query
    select t.tenant_id, t.id, t.kind, t.due_at, case t.kind when 'schedule' then t.trigger::text else '' end, p.timezone,
           coalesce(t.output ->> 'channel', ''), t.anchor, t.fired, t.rezone
    from tasks t join tenants p on p.tenant_id = t.tenant_id
    where t.state = 'ACTIVE' and not t.held and t.next_at <= p_now
    order by t.next_at limit p_limit
    for update of t skip locked;
end $$;

create function next_due_task()
returns table (tenant_id text, due timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.next_at from tasks t where t.state = 'ACTIVE' and not t.held and t.next_at is not null
    order by t.next_at limit 1
$$;

-- Stores the new state of claimed tasks of all people, and starts their runs; returns the lanes. The rows are checked.
create function fire_tasks(p_tasks fired_task[], p_runs fired_run[])
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    with moved as (
        update tasks t
        set due_at = g.due_at, next_at = g.next_at, zone = g.zone, rezone = false, fired = t.fired + g.fires,
            state = case when g.next_at is null then 'COMPLETED' else t.state end
        from unnest(p_tasks) g where t.tenant_id = g.tenant_id and t.id = g.task_id
    ), made as (
        insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause, turn_id, finished_at)
        select r.tenant_id, r.run_id, r.task_id, r.occurrence, r.due_at, r.state, r.reason, r.cause::jsonb,
               case when r.state = 'QUEUED' then r.turn_id end,
               case when r.state <> 'QUEUED' then clock_timestamp() end
        from unnest(p_runs) r
        on conflict on constraint task_runs_tenant_id_task_id_occurrence_key do nothing
        returning task_runs.tenant_id, task_runs.id, task_runs.turn_id
    ), laned as (
        insert into lanes (tenant_id, id, pending, pending_since)
        select m.tenant_id, m.id, true, clock_timestamp() from made m where m.turn_id is not null
    )
    insert into turns (tenant_id, id, lane_id, state, ready, fence)
    select m.tenant_id, m.turn_id, m.id, 'waiting', true, 0 from made m where m.turn_id is not null
    returning turns.tenant_id, turns.lane_id;
end $$;

-- Starts runs of one person's tasks: on an event, by hand. Returns the lanes. No count comes near the limit of an int.
create function start_runs(p_tenant text, p_runs jsonb)
returns setof text
language plpgsql as $$
declare
    v_run jsonb;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_run in select * from jsonb_array_elements(p_runs) loop
        v_lane := start_run(p_tenant, v_run ->> 'task_id', v_run);
        if v_lane is not null then
            update tasks t set fired = t.fired + 1,
                state = case when t.kind = 'event' and jsonb_typeof(t.trigger -> 'count') = 'number'
                             and (t.trigger ->> 'count')::numeric <= t.fired + 1 then 'COMPLETED' else t.state end
            where t.tenant_id = p_tenant and t.id = v_run ->> 'task_id'
              and not coalesce((v_run ->> 'by_hand')::boolean, false);
            return next v_lane;
        end if;
    end loop;
end $$;

-- Records the result of checking a condition. It counts only for the revision that was read: a slow check changes
-- nothing.
create function record_look(p_tenant text, p_task text, p_revision int, p_watch jsonb, p_next timestamptz, p_runs jsonb)
returns setof text
language plpgsql as $$
declare
    v_run jsonb;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t
    set watch = p_watch, revision = t.revision + 1, due_at = p_next, next_at = p_next,
        state = case when p_next is null then 'COMPLETED' else t.state end
    where t.tenant_id = p_tenant and t.id = p_task and t.revision = p_revision and t.state = 'ACTIVE';
    if not found then
        return;
    end if;
    for v_run in select * from jsonb_array_elements(p_runs) loop
        v_lane := start_run(p_tenant, p_task, v_run);
        update tasks t set fired = t.fired + (v_run ->> 'state' = 'QUEUED')::int
        where t.tenant_id = p_tenant and t.id = p_task;
        if v_lane is not null then
            return next v_lane;
        end if;
    end loop;
end $$;

-- Pauses, resumes, ends or restores a task; true if its state allowed it. The agents and approvals of an ended task end
-- too; a restored one goes on as it was planned.
create function change_task(p_tenant text, p_task text, p_change text, p_now timestamptz, p_due timestamptz,
                            p_next timestamptz, p_zone text)
returns boolean
language plpgsql as $$
declare
    v_run record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_change = 'delete' then
        perform 1 from lanes l join task_runs r on r.tenant_id = l.tenant_id and r.id = l.id
        where r.tenant_id = p_tenant and r.task_id = p_task and r.state in ('QUEUED', 'PENDING_APPROVAL')
        order by l.id for no key update of l;
    end if;
    update tasks t
    set state = case p_change when 'pause' then 'PAUSED' when 'delete' then 'COMPLETED' else 'ACTIVE' end,
        reason = case p_change when 'delete' then 'stopped by the person' else '' end,
        failures = case p_change when 'resume' then 0 else t.failures end,
        due_at = p_due, next_at = p_next, zone = p_zone, rezone = false, revision = t.revision + 1,
        deleted_at = case p_change when 'delete' then p_now end
    where t.tenant_id = p_tenant and t.id = p_task and (t.deleted_at is null) = (p_change <> 'restore')
      and case p_change when 'pause' then t.state = 'ACTIVE' when 'resume' then t.state in ('PAUSED', 'DISABLED')
                        when 'delete' then true when 'restore' then true else false end;
    if not found then
        return false;
    end if;
    if p_change = 'delete' then
        for v_run in select r.id, r.turn_id from task_runs r
                     where r.tenant_id = p_tenant and r.task_id = p_task and r.state in ('QUEUED', 'PENDING_APPROVAL')
        loop
            perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_run.id for no key update;
            update turns t set state = 'done', reason = 'task stopped', ready = false, finished_at = clock_timestamp()
            where t.tenant_id = p_tenant and t.id = v_run.turn_id and t.state = 'waiting';
            if found then
                delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_run.turn_id;
                update task_runs r set state = 'CANCELLED', reason = 'task stopped', finished_at = clock_timestamp()
                where r.tenant_id = p_tenant and r.id = v_run.id;
            end if;
        end loop;
    end if;
    return true;
end $$;

-- Gives a task another trigger, title and action, from p_now on; true unless it is over.
create function edit_task(p_tenant text, p_task text, p_values jsonb, p_now timestamptz, p_due timestamptz,
                          p_next timestamptz, p_zone text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t
    set trigger = p_values -> 'trigger', title = p_values ->> 'title', action = p_values -> 'action', anchor = p_now,
        due_at = case t.state when 'ACTIVE' then p_due end, next_at = case t.state when 'ACTIVE' then p_next end,
        zone = p_zone, rezone = false, failures = 0, revision = t.revision + 1
    where t.tenant_id = p_tenant and t.id = p_task and t.deleted_at is null and t.state in ('ACTIVE', 'PAUSED');
    return found;
end $$;

-- Claims notices of all people that nobody is sending. Materialized: see claim_next_event.
create function claim_notices(p_limit int, p_lease interval)
returns table (tenant_id text, run_id text, key text, traceparent text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if is_halted() then
        return;
    end if;
    return query
    with due as materialized (
        select d.tenant_id, d.run_id, d.key, d.next_attempt_at as due_at from run_notices d
        where d.state = 'open' and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update run_notices n set next_attempt_at = clock_timestamp() + p_lease, attempts = n.attempts + 1
        from due
        where n.tenant_id = due.tenant_id and n.run_id = due.run_id and n.key = due.key
        returning n.tenant_id, n.run_id, n.key, n.traceparent, due.due_at)
    select c.tenant_id, c.run_id, c.key, c.traceparent from claimed c order by c.due_at;
end $$;

-- When a person's timezone changes, schedules in their own time are computed again at the next check.
create or replace function rezone_tasks()
returns trigger
language plpgsql as $$
begin
    update tasks t set rezone = true, next_at = '2000-01-01'
    where t.tenant_id = new.tenant_id and t.state = 'ACTIVE' and t.kind = 'schedule' and t.next_at is not null
      and coalesce(t.trigger ->> 'timezone', '') = '';
    return null;
end $$;

create or replace trigger tenants_rezone after update of timezone on tenants for each row
    when (old.timezone is distinct from new.timezone) execute function rezone_tasks();

-- Resuming or ending a task also ends its being set aside.
create or replace function note_task_end()
returns trigger
language plpgsql as $$
begin
    new.ended_at := case when new.state = 'COMPLETED' then clock_timestamp() end;
    if new.state <> 'DISABLED' then
        new.set_aside := '';
    end if;
    return new;
end $$;

create or replace trigger tasks_end before update of state on tasks for each row
    when (old.state is distinct from new.state) execute function note_task_end();

-- Deletes runs that have been over for so long, with their lanes, turns and journals. What the person was told stays:
-- messages and history only forget their turn. A press belongs to the turn that it decided on, and does not keep that
-- turn from being deleted.
create function prune_runs(p_kept interval, p_limit int)
returns table (pruned bigint, left_over bigint)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_run record;
    v_pruned bigint := 0;
begin
    for v_run in select r.tenant_id, r.id, r.turn_id from task_runs r
                 where r.finished_at < clock_timestamp() - p_kept
                 order by r.finished_at limit p_limit for update skip locked
    loop
        if v_run.turn_id is not null then
            -- A lane that somebody has waits for no run: that one goes later.
            perform 1 from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id for update skip locked;
            continue when not found and exists (
                select from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id);
            perform keep_of_turn(v_run.tenant_id, v_run.turn_id);
            update history h set turn_id = null where h.tenant_id = v_run.tenant_id and h.turn_id = v_run.turn_id;
            update outbound o set turn_id = null where o.tenant_id = v_run.tenant_id and o.turn_id = v_run.turn_id;
            update inbound i set turn_id = null where i.tenant_id = v_run.tenant_id and i.turn_id = v_run.turn_id;
            delete from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id;
        end if;
        delete from task_runs r where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
        v_pruned := v_pruned + 1;
    end loop;
    return query select v_pruned, greatest(0, p_limit - v_pruned);
end $$;

-- Deletes tasks that ended so long ago, once their runs are gone. Materialized: see claim_next_event.
create function prune_tasks(p_kept interval, p_limit int)
returns table (pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.id from tasks o
            where o.ended_at < clock_timestamp() - p_kept
              and not exists (select 1 from task_runs r where r.tenant_id = o.tenant_id and r.task_id = o.id)
            order by o.ended_at limit p_limit for update skip locked),
    gone as (
        delete from tasks t using old o
        where t.tenant_id = o.tenant_id and t.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

-- Lists tasks of all people that were set aside: ids and causes only.
create function find_set_aside(p_limit int)
returns table (tenant_id text, task_id text, number int, cause text)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.id, t.number, t.set_aside from tasks t where t.set_aside <> ''
    order by t.tenant_id, t.number limit p_limit
$$;

-- Postpones a notice that raised an unforeseen error, later each time, and finally sets it aside: `failed`. `pause`:
-- after how long it is due again.
create function put_off_notice(p_tenant text, p_run text, p_key text, p_limit int)
returns table (failed boolean, pause interval)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    update run_notices n
    set state = case when n.attempts >= p_limit then 'failed' else 'open' end,
        next_attempt_at = clock_timestamp() + pause_after(n.attempts)
    where n.tenant_id = p_tenant and n.run_id = p_run and n.key = p_key and n.state = 'open'
    returning n.state = 'failed', case when n.state = 'open' then n.next_attempt_at - clock_timestamp() end;
end $$;

-- Retries a person's notices that were set aside; returns their number.
create function retry_notices(p_tenant text)
returns bigint
language plpgsql as $$
declare
    v_count bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update run_notices n set state = 'open', attempts = 0, next_attempt_at = clock_timestamp()
    where n.tenant_id = p_tenant and n.state = 'failed';
    get diagnostics v_count = row_count;
    return v_count;
end $$;

create function find_failed_notices(p_limit int)
returns table (tenant_id text, notices bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select n.tenant_id, count(*) from run_notices n where n.state = 'failed' group by 1 order by 1 limit p_limit
$$;

-- Returns whether all places of a person are stopped or blocked. A person without any was created by a program, and is
-- left alone.
create function is_unreachable(p_tenant text)
returns boolean
language sql stable as $$
    select exists (select 1 from identities i where i.tenant_id = p_tenant)
       and not exists (select 1 from identities i where i.tenant_id = p_tenant and i.state = 'active')
$$;

create or replace function hold_tasks()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_held boolean;
begin
    foreach v_tenant in array array_remove(array[
        case when tg_op <> 'DELETE' then new.tenant_id end, case when tg_op <> 'INSERT' then old.tenant_id end], null)
    loop
        v_held := is_unreachable(v_tenant);
        update tasks t set held = v_held where t.tenant_id = v_tenant and t.held <> v_held;
    end loop;
    return null;
end $$;

create or replace trigger identities_hold after insert or delete or update of state, tenant_id on identities
    for each row execute function hold_tasks();

-- A new task, or one that a merge brings, is on hold if the person's others are.
create or replace function hold_task()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    new.held := is_unreachable(new.tenant_id);
    return new;
end $$;

create or replace trigger tasks_hold before insert or update of tenant_id on tasks
    for each row execute function hold_task();

-- Every update that ends a check or resumes a task changes its revision.
create or replace function forget_looks()
returns trigger
language plpgsql as $$
begin
    new.looks_begun := 0;
    return new;
end $$;

create or replace trigger tasks_looks before update of revision on tasks for each row
    when (old.revision is distinct from new.revision) execute function forget_looks();

-- Lists everybody's tasks by when they come next, from a place on; those that nothing is planned for come last, under
-- 'infinity'.
create function console_tasks(p_state text, p_after text, p_after_id text, p_limit int)
returns table (tenant_id text, task_id text, state text, next_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.id, t.state, t.next_at from tasks t
    where t.deleted_at is null and (p_state = '' or t.state = p_state)
      and (coalesce(t.next_at, timestamptz 'infinity'), t.id)
          > (coalesce(nullif(p_after, ''), '-infinity')::timestamptz, p_after_id)
    order by coalesce(t.next_at, timestamptz 'infinity'), t.id limit p_limit
$$;
