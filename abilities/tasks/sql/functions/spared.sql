-- Runs that were spared a model call: in quiet hours, which one run makes up for, or as nothing had changed.

-- Lists tasks whose quiet hours are over. Only ids: `make_up` decides.
create function find_spared(p_now timestamptz, p_limit int)
returns table (tenant_id text, task_id text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
    if is_halted() then
        return;
    end if;
    return query
    select t.tenant_id, t.id from tasks t where t.make_up_at <= p_now order by t.make_up_at limit p_limit;
end $$;

-- Starts the run that makes up for those that quiet hours spared, and returns its lane; null if none is needed: another
-- worker was faster, the task is over, or a regular run of a schedule comes at this very moment. The run has the causes of
-- all of them; of events as many as the model can be shown, and the rest are left for another run.
create function make_up(p_tenant text, p_task text, p_now timestamptz, p_run jsonb, p_size int)
returns text
language plpgsql as $$
declare
    v_task tasks%rowtype;
    v record;
    v_left boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_task from tasks t where t.tenant_id = p_tenant and t.id = p_task for update;
    if v_task.make_up_at is null or v_task.make_up_at > p_now then
        return null;
    end if;
    select array_agg(s.id) as ids, min(s.due_at) as since, max(s.due_at) as last, jsonb_agg(s.cause order by s.place) as causes into v from (
        select r.id, r.due_at, r.cause, row_number() over (order by r.created_at, r.id) as place,
               sum(length(r.cause::text)) over (order by r.created_at, r.id) as size
        from task_runs r
        where r.tenant_id = p_tenant and r.task_id = p_task and r.state = 'SKIPPED' and r.reason = 'quiet') s
    where v_task.kind <> 'event' or s.place = 1 or s.size <= p_size;
    update task_runs r set reason = 'made_up' where r.tenant_id = p_tenant and r.id = any (v.ids);
    v_left := exists (select from task_runs r where r.tenant_id = p_tenant and r.task_id = p_task
                      and r.state = 'SKIPPED' and r.reason = 'quiet');
    if v.ids is null or v_task.deleted_at is not null or v_task.state not in ('ACTIVE', 'COMPLETED')
       or v_task.kind = 'schedule' and (v_task.next_at <= p_now or exists (
            select from task_runs r where r.tenant_id = p_tenant and r.task_id = p_task
            and r.due_at > v.last and r.state <> 'SKIPPED')) then
        update tasks t set make_up_at = null where t.tenant_id = p_tenant and t.id = p_task;
        return null;
    end if;
    update tasks t set make_up_at = case when v_left then t.make_up_at end
    where t.tenant_id = p_tenant and t.id = p_task;
    -- A run that was itself to make up for others, and came too late, stands for those.
    v.causes := (select jsonb_agg(w.cause order by c.place, w.place)
                 from jsonb_array_elements(v.causes) with ordinality c (cause, place),
                      jsonb_array_elements(coalesce(c.cause -> 'waited', jsonb_build_array(c.cause)))
                          with ordinality w (cause, place));
    return start_run(p_tenant, p_task, p_run || jsonb_build_object(
        'occurrence', 'quiet ' || v.ids[1],
        'cause', (v.causes -> -1) || jsonb_build_object('missed_since', v.since, 'waited', v.causes)
            || case when v_task.kind = 'condition' then jsonb_build_object('old', v.causes -> 0 -> 'old') else '{}' end));
end $$;

-- When somebody's quiet hours change, what they have spared is made up for as the new ones say.
create or replace function reconsider_spared()
returns trigger
language plpgsql as $$
begin
    update tasks t set make_up_at = '2000-01-01' where t.tenant_id = new.tenant_id and t.make_up_at is not null;
    return null;
end $$;

create or replace trigger tenants_spared after update of quiet_from, quiet_until, timezone on tenants for each row
    when ((old.quiet_from, old.quiet_until, old.timezone)
          is distinct from (new.quiet_from, new.quiet_until, new.timezone))
    execute function reconsider_spared();

-- What a task that looks by itself would find changed, besides what it reads: since p_since something has come in, and
-- the mark of the person's words and other tasks.
create function state_for_task(p_tenant text, p_task text, p_since timestamptz)
returns table (at timestamptz, came boolean, mark text)
language sql stable as $$
    select clock_timestamp(),
           exists (select from events e where e.received_at > p_since and e.tenant_id = p_tenant),
           md5(concat_ws(' ',
               (select max(c.last_inbound_at) from conversations c where c.tenant_id = p_tenant),
               (select string_agg(concat_ws(' ', t.id, t.state, t.title, t.trigger), ',' order by t.id) from tasks t
                where t.tenant_id = p_tenant and t.id <> p_task and t.deleted_at is null)))
$$;

-- Counts the model calls that some tasks of a person were spared since a moment, and estimates their cost by each task's
-- own runs. unknown: calls of a task of which no run has a known price.
create function spared_runs(p_tenant text, p_tasks text[], p_since timestamptz)
returns table (quiet bigint, unchanged bigint, unknown bigint, cost numeric)
language sql stable as $$
    select coalesce(sum(s.quiet), 0)::bigint, coalesce(sum(s.unchanged), 0)::bigint,
           coalesce(sum(s.quiet + s.unchanged) filter (where s.price is null), 0)::bigint,
           coalesce(sum((s.quiet + s.unchanged) * s.price), 0)
    from (
        select count(*) filter (where r.reason in ('quiet', 'made_up'))
                   - count(*) filter (where r.cause ? 'waited' and r.state <> 'SKIPPED') as quiet,
               count(*) filter (where r.reason = 'unchanged') as unchanged,
               nullif((select sum(u.cost) from usage_days u
                       where u.tenant_id = p_tenant and u.task_id = r.task_id and u.kind = 'model'
                         and u.day >= p_since::date), 0)
                   / nullif(count(*) filter (
                        where r.state in ('COMPLETED', 'FAILED', 'EXPIRED', 'PENDING_APPROVAL')), 0) as price
        from task_runs r
        where r.tenant_id = p_tenant and r.task_id = any (p_tasks) and r.created_at >= p_since
        group by r.task_id) s
$$;
