-- The turns of tasks' runs: begun in a conversation of their person, and ended with what is told.

-- Records that the turn of a task's run is running: see begin_run.
create function begin_task_run(p_tenant text, p_turn text, p_on text[])
returns table (run_id text, history jsonb, conversation_id text)
language plpgsql as $$
declare
    v_home text;
begin
    if exists (select 1 from task_runs r
               where r.tenant_id = p_tenant and r.turn_id = p_turn and r.started_at is null) then
        select home_conversation(p_tenant, coalesce(k.output ->> 'channel', ''), p_on) into v_home
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

-- Records the end of a run's turn: see note_run. After so many failures in a row the task is disabled, which is returned.
create function note_task_run(p_tenant text, p_turn text, p_note jsonb)
returns boolean
language plpgsql as $$
declare
    v record;
    v_run task_runs%rowtype;
    v_failures int;
begin
    select * into v from jsonb_to_record(p_note) as n (
        state text, reason text, history jsonb, key text, kind text, text text, max_failures int, disabled text,
        media jsonb, outside boolean, even_waiting boolean);
    select * into v_run from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn for update;
    if v_run.state is null or v_run.state not in ('QUEUED', 'RUNNING')
       and not (v.even_waiting is true and v_run.state = 'PENDING_APPROVAL') then
        return false;
    end if;
    update task_runs r
    set state = v.state, reason = v.reason, history = v.history,
        finished_at = case when v.state <> 'PENDING_APPROVAL' then clock_timestamp() end
    where r.tenant_id = p_tenant and r.id = v_run.id;
    if v.text <> '' or jsonb_array_length(coalesce(v.media, '[]')) > 0 then
        insert into run_notices (tenant_id, run_id, key, kind, text, media, outside)
        values (p_tenant, v_run.id, v.key, v.kind, v.text, coalesce(v.media, '[]'), coalesce(v.outside, false))
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    if v.state = 'PENDING_APPROVAL' then
        -- An answer is looked for in the conversation of the question.
        update pool_entries e set conversation_id = v_run.conversation_id
        where e.tenant_id = p_tenant and e.turn_id = p_turn;
        if exists (select from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn
                   and e.status = 'WAITING_FOR_ACCOUNT') then
            perform end_earlier_waits(p_tenant, v_run.task_id, v_run.id);
        end if;
    end if;
    if v.state not in ('FAILED', 'COMPLETED') then
        return false;
    end if;
    update tasks t set failures = case v.state when 'FAILED' then t.failures + 1 else 0 end
    where t.tenant_id = p_tenant and t.id = v_run.task_id returning t.failures into v_failures;
    if v_failures < v.max_failures then
        return false;
    end if;
    update tasks t set state = 'DISABLED', reason = 'failed ' || v_failures || ' times in a row', next_at = null
    where t.tenant_id = p_tenant and t.id = v_run.task_id and t.state = 'ACTIVE';
    if found then
        insert into run_notices (tenant_id, run_id, key, kind, text)
        values (p_tenant, v_run.id, 'disabled', 'disabled', v.disabled)
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    return found;
end $$;

-- Ends the runs of a task that wait for an account and nothing else, since a later one waits in their place.
create function end_earlier_waits(p_tenant text, p_task text, p_run text)
returns void
language plpgsql as $$
declare
    v_run record;
begin
    for v_run in
        select r.id, r.turn_id from task_runs r
        where r.tenant_id = p_tenant and r.task_id = p_task and r.id <> p_run and r.state = 'PENDING_APPROVAL'
          and not exists (select from approvals a where a.tenant_id = p_tenant and a.turn_id = r.turn_id
                          and a.state = 'pending')
          and exists (select from pool_entries e where e.tenant_id = p_tenant and e.turn_id = r.turn_id
                      and e.status = 'WAITING_FOR_ACCOUNT')
          and not exists (select from pool_entries e where e.tenant_id = p_tenant and e.turn_id = r.turn_id
                          and e.status in ('WAITING_FOR_INPUT', 'PAUSED'))
        order by r.id
    loop
        -- Its own lane is locked, and comes after this one: whoever has this one wakes or ends the run.
        perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_run.id for no key update skip locked;
        continue when not found;
        update turns t set state = 'done', reason = 'superseded', ready = false, finished_at = clock_timestamp()
        where t.tenant_id = p_tenant and t.id = v_run.turn_id and t.state = 'waiting' and not t.ready;
        if found then
            delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_run.turn_id;
            update task_runs r
            set state = 'SKIPPED', reason = 'a later run waits in its place', finished_at = clock_timestamp()
            where r.tenant_id = p_tenant and r.id = v_run.id;
        end if;
    end loop;
end $$;
