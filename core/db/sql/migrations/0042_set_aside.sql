-- A task that raises what nobody foresaw is set aside by itself, named to the operator, and can be tried again.

-- The unforeseen error after which a task was disabled; empty for all others.
alter table tasks add column set_aside text not null default '';
create index tasks_set_aside on tasks (tenant_id, number) where set_aside <> '';

-- What older versions let in and no run ever reached: an end or a count that means "for ever" is none, a span that is
-- longer than any that counts is the longest one.
update tasks t set trigger = t.trigger - 'until' where t.trigger ->> 'until' >= '2200';
update tasks t set trigger = t.trigger - 'count'
where jsonb_typeof(t.trigger -> 'count') = 'number' and (t.trigger ->> 'count')::numeric > 1000000;
update tasks t set trigger = jsonb_set(t.trigger, array[bound.name], to_jsonb(bound.longest))
from (values ('jitter_seconds', 86400), ('grace_minutes', 527040)) as bound (name, longest)
where jsonb_typeof(t.trigger -> bound.name) = 'number' and (t.trigger ->> bound.name)::numeric > bound.longest;

-- Whatever takes a task up again, or ends it, also ends its being set aside.
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

-- The tasks of all people that were set aside: ids and causes only.
create function find_set_aside(p_most int)
returns table (tenant_id text, task_id text, number int, cause text)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.id, t.number, t.set_aside from tasks t where t.set_aside <> ''
    order by t.tenant_id, t.number limit p_most
$$;

-- How much of all people's was set aside.
create function count_set_aside()
returns table (tasks bigint, notices bigint, events bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from tasks t where t.set_aside <> ''),
           (select count(*) from run_notices n where n.state = 'failed'),
           (select count(*) from event_work w where w.state = 'poison')
$$;

-- What was to be told and raised what nobody foresaw comes later and later, then is set aside; true when it is.
create function leave_notice(p_tenant text, p_run text, p_key text, p_most int)
returns boolean
language plpgsql as $$
declare
    v_state text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update run_notices n
    set state = case when n.attempts >= p_most then 'failed' else 'open' end,
        next_attempt_at = clock_timestamp() + least(interval '10 seconds' * 2 ^ least(n.attempts, 10), interval '15 minutes')
    where n.tenant_id = p_tenant and n.run_id = p_run and n.key = p_key and n.state = 'open'
    returning n.state into v_state;
    return coalesce(v_state = 'failed', false);
end $$;

-- Tries again what of a person's was to be told and was set aside; gives how much that is.
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

-- The people of whom something was to be told and was set aside.
create function find_failed_notices(p_most int)
returns table (tenant_id text, notices bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select n.tenant_id, count(*) from run_notices n where n.state = 'failed' group by 1 order by 1 limit p_most
$$;
create index run_notices_failed on run_notices (tenant_id) where state = 'failed';

-- Starts runs of one person's tasks: on an event, by hand. Gives the lanes. A count that no int holds is never reached.
create or replace function start_runs(p_tenant text, p_runs jsonb)
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
            where t.tenant_id = p_tenant and t.id = v_run ->> 'task_id' and not coalesce((v_run ->> 'by_hand')::boolean, false);
            return next v_lane;
        end if;
    end loop;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('note_task_end', 'find_set_aside', 'count_set_aside', 'leave_notice', 'retry_notices',
                            'find_failed_notices', 'start_runs')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
