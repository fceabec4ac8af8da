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
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index tasks_due on tasks (next_at) where state = 'ACTIVE' and next_at is not null;
create index tasks_events on tasks (tenant_id) where kind = 'event' and state = 'ACTIVE';

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

-- Each run leaves a lane of its own behind: whoever asks how many of a person's lanes run must not read them all.
create index lanes_busy on lanes (tenant_id) where lease_until is not null;

-- Where a person is spoken to unasked: the channel asked for, else where they wrote last. Top level, and reachable.
create function home_conversation(p_tenant text, p_channel text)
returns text
language sql stable as $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants t on t.tenant_id = c.tenant_id
    where c.tenant_id = p_tenant and i.state = 'active' and c.channel not in ('push', 'email')
    order by (c.channel = p_channel) desc, (c.channel = t.preferred_channel) desc, (c.thread = '') desc,
             c.last_inbound_at desc nulls last, c.id
    limit 1
$$;

-- Makes one run, unless this occurrence has one; gives its lane. A skipped one is only written down.
create function start_run(p_tenant text, p_task text, p_run jsonb)
returns text
language plpgsql as $$
declare
    v_run text := p_run ->> 'run_id';
    v_queued boolean := p_run ->> 'state' = 'QUEUED';
begin
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

-- Notes that a run's turn runs, and where its person is spoken to, which is settled when it begins.
create function begin_run(p_tenant text, p_turn text)
returns table (run_id text, history jsonb, conversation_id text)
language plpgsql as $$
declare
    v_home text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn and r.started_at is null) then
        select home_conversation(p_tenant, coalesce(k.output ->> 'channel', '')) into v_home
        from task_runs r join tasks k on k.tenant_id = r.tenant_id and k.id = r.task_id
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
        update turns t set conversation_id = v_home where t.tenant_id = p_tenant and t.id = p_turn;
        update task_runs r set conversation_id = v_home, started_at = clock_timestamp()
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
    end if;
    return query update task_runs r set state = 'RUNNING'
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.state in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
    returning r.id, r.history, r.conversation_id;
end $$;

-- The tasks that are due, of all people, locked until the transaction ends; tells places in time only.
create function claim_due_tasks(p_now timestamptz, p_most int)
returns table (tenant_id text, task_id text, kind text, due_at timestamptz, schedule jsonb, person_zone text,
               channel text, anchor timestamptz, fired int, rezone boolean, revision int)
language sql security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.id, t.kind, t.due_at, case t.kind when 'schedule' then t.trigger else '{}' end, p.timezone,
           coalesce(t.output ->> 'channel', ''), t.anchor, t.fired, t.rezone, t.revision
    from tasks t join tenants p on p.tenant_id = t.tenant_id
    where t.state = 'ACTIVE' and t.next_at <= p_now
    order by t.next_at limit p_most
    for update of t skip locked
$$;

-- When the next task is due, of anybody's.
create function next_due_task()
returns table (tenant_id text, due timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.next_at from tasks t where t.state = 'ACTIVE' and t.next_at is not null
    order by t.next_at limit 1
$$;

-- Writes back what became of claimed tasks, of all people, and starts their runs; gives the lanes. The rows are checked.
create function fire_tasks(p_tasks jsonb)
returns table (tenant_id text, lane_id text)
language sql security definer set search_path = public, pg_temp as $$
    with given as (
        select * from jsonb_to_recordset(p_tasks) as x (
            tenant_id text, task_id text, due_at timestamptz, next_at timestamptz, zone text, fires int, runs jsonb)
    ), moved as (
        update tasks t
        set due_at = g.due_at, next_at = g.next_at, zone = g.zone, rezone = false, fired = t.fired + g.fires,
            state = case when g.next_at is null then 'COMPLETED' else t.state end
        from given g where t.tenant_id = g.tenant_id and t.id = g.task_id
        returning t.tenant_id, t.id, g.runs
    ), made as (
        insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause, turn_id, finished_at)
        select m.tenant_id, r.run_id, m.id, r.occurrence, r.due_at, r.state, r.reason, r.cause,
               case when r.state = 'QUEUED' then r.turn_id end,
               case when r.state <> 'QUEUED' then clock_timestamp() end
        from moved m, jsonb_to_recordset(m.runs) as r (
            run_id text, turn_id text, occurrence text, due_at timestamptz, state text, reason text, cause jsonb)
        on conflict (tenant_id, task_id, occurrence) do nothing
        returning task_runs.tenant_id, task_runs.id, task_runs.turn_id
    ), laned as (
        insert into lanes (tenant_id, id, pending, pending_since)
        select m.tenant_id, m.id, true, clock_timestamp() from made m where m.turn_id is not null
    )
    insert into turns (tenant_id, id, lane_id, state, ready, fence)
    select m.tenant_id, m.turn_id, m.id, 'waiting', true, 0 from made m where m.turn_id is not null
    returning turns.tenant_id, turns.lane_id
$$;

-- Starts runs of one person's tasks: on an event, by hand. Gives the lanes.
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
                state = case when (t.trigger ->> 'count')::int <= t.fired + 1 and t.kind = 'event' then 'COMPLETED'
                        else t.state end
            where t.tenant_id = p_tenant and t.id = v_run ->> 'task_id' and not coalesce((v_run ->> 'by_hand')::boolean, false);
            return next v_lane;
        end if;
    end loop;
end $$;

-- What a look at a condition found. It counts only against the revision that was read: a slow look changes nothing.
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

-- What a run's turn ended with, in the same transaction. Repeating it changes nothing. After so many failures in a
-- row the task is disabled, which is given back.
create function note_run(p_tenant text, p_turn text, p_state text, p_reason text, p_history jsonb, p_key text,
                         p_text text, p_most_failures int, p_disabled text)
returns boolean
language plpgsql as $$
declare
    v_run task_runs%rowtype;
    v_failures int;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_run from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn for update;
    if v_run.state is null or v_run.state not in ('QUEUED', 'RUNNING') then
        return false;
    end if;
    update task_runs r
    set state = p_state, reason = p_reason, history = p_history,
        finished_at = case when p_state <> 'PENDING_APPROVAL' then clock_timestamp() end
    where r.tenant_id = p_tenant and r.id = v_run.id;
    if p_text <> '' then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run.id, p_key, p_text)
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    if p_state = 'PENDING_APPROVAL' then
        -- An answer is looked for where the question goes to.
        update pool_entries e set conversation_id = v_run.conversation_id
        where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
    if p_state not in ('FAILED', 'COMPLETED') then
        return false;
    end if;
    update tasks t set failures = case p_state when 'FAILED' then t.failures + 1 else 0 end
    where t.tenant_id = p_tenant and t.id = v_run.task_id returning t.failures into v_failures;
    if v_failures < p_most_failures then
        return false;
    end if;
    update tasks t set state = 'DISABLED', reason = 'failed ' || v_failures || ' times in a row', next_at = null
    where t.tenant_id = p_tenant and t.id = v_run.task_id and t.state = 'ACTIVE';
    if found then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run.id, 'disabled', p_disabled)
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    return found;
end $$;

-- Pauses, resumes or ends a task; true where it was in a state that allows it. What waits of an ended one ends too.
create function change_task(p_tenant text, p_task text, p_change text, p_now timestamptz, p_due timestamptz,
                            p_next timestamptz, p_zone text)
returns boolean
language plpgsql as $$
declare
    v_run record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t
    set state = case p_change when 'pause' then 'PAUSED' when 'resume' then 'ACTIVE' else 'COMPLETED' end,
        reason = case p_change when 'delete' then 'stopped by the person' else '' end,
        failures = case p_change when 'resume' then 0 else t.failures end,
        due_at = p_due, next_at = p_next, zone = p_zone, rezone = false, revision = t.revision + 1,
        deleted_at = case p_change when 'delete' then p_now end
    where t.tenant_id = p_tenant and t.id = p_task and t.deleted_at is null
      and case p_change when 'pause' then t.state = 'ACTIVE' when 'resume' then t.state in ('PAUSED', 'DISABLED')
                        when 'delete' then true else false end;
    if not found then
        return false;
    end if;
    if p_change = 'delete' then
        for v_run in select r.id, r.turn_id from task_runs r
                     where r.tenant_id = p_tenant and r.task_id = p_task and r.state in ('QUEUED', 'PENDING_APPROVAL')
        loop
            perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_run.id for update;
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

-- What is to be told and nobody is telling, of all people.
create function claim_notices(p_most int, p_lease interval)
returns table (tenant_id text, run_id text, key text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    update run_notices n set next_attempt_at = clock_timestamp() + p_lease, attempts = n.attempts + 1
    from (select d.tenant_id, d.run_id, d.key from run_notices d
          where d.state = 'open' and d.next_attempt_at <= clock_timestamp()
          order by d.next_attempt_at limit p_most for update skip locked) due
    where n.tenant_id = due.tenant_id and n.run_id = due.run_id and n.key = due.key
    returning n.tenant_id, n.run_id, n.key;
end $$;

-- Owes a person something that they did not ask for just now, and writes it into that conversation's history, so that
-- "yes, do that" makes sense. Repeatable by the message's id; true when it was new.
create function owe_unasked(p_tenant text, p_conversation text, p_message jsonb, p_history jsonb)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = p_conversation for update;
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_message ->> 'id') then
        return false;
    end if;
    perform owe(p_tenant, p_conversation, null, jsonb_build_array(p_message));
    insert into history (tenant_id, conversation_id, position, session, message)
    select p_tenant, c.id, c.history_seq + h.position, c.session, h.value
    from conversations c, jsonb_array_elements(p_history) with ordinality as h (value, position)
    where c.tenant_id = p_tenant and c.id = p_conversation;
    update conversations c set history_seq = c.history_seq + jsonb_array_length(p_history)
    where c.tenant_id = p_tenant and c.id = p_conversation;
    return true;
end $$;

-- A person who moves takes along what is in their own time: it is computed anew at the next look.
create function rezone_tasks()
returns trigger
language plpgsql as $$
begin
    update tasks t set rezone = true, next_at = '2000-01-01'
    where t.tenant_id = new.tenant_id and t.state = 'ACTIVE' and t.kind = 'schedule' and t.next_at is not null
      and coalesce(t.trigger ->> 'timezone', '') = '';
    return null;
end $$;
create trigger tenants_rezone after update of timezone on tenants for each row
    when (old.timezone is distinct from new.timezone) execute function rezone_tasks();

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['tasks', 'task_runs', 'run_notices'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname in
            ('home_conversation', 'start_run', 'begin_run', 'claim_due_tasks', 'next_due_task', 'fire_tasks', 'start_runs',
             'record_look', 'note_run', 'change_task', 'claim_notices', 'owe_unasked', 'rezone_tasks')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
