-- The tasks of a person who cannot be reached anywhere rest: nothing that they do could be told, so nothing runs, no
-- model is asked, and what they miss follows their policy once the person is back.

alter table tasks add column held boolean not null default false;

-- Whether all places of a person are stopped or blocked. Who has none at all was made by a program, and is left alone.
create function is_unreachable(p_tenant text)
returns boolean
language sql stable as $$
    select exists (select 1 from identities i where i.tenant_id = p_tenant)
       and not exists (select 1 from identities i where i.tenant_id = p_tenant and i.state = 'active')
$$;

create function hold_tasks()
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
create trigger identities_hold after insert or delete or update of state, tenant_id on identities
    for each row execute function hold_tasks();

-- A new task, or one that a merge brings, rests as its person's others do.
create function hold_task()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    new.held := is_unreachable(new.tenant_id);
    return new;
end $$;
create trigger tasks_hold before insert or update of tenant_id on tasks
    for each row execute function hold_task();

update tasks t set held = true where is_unreachable(t.tenant_id);

drop index tasks_due;
create index tasks_due on tasks (next_at) where state = 'ACTIVE' and next_at is not null and not held;

-- The tasks that are due, of all people, locked until the transaction ends; tells places in time only.
create or replace function claim_due_tasks(p_now timestamptz, p_most int)
returns table (tenant_id text, task_id text, kind text, due_at timestamptz, schedule jsonb, person_zone text,
               channel text, anchor timestamptz, fired int, rezone boolean, revision int)
language sql security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.id, t.kind, t.due_at, case t.kind when 'schedule' then t.trigger else '{}' end, p.timezone,
           coalesce(t.output ->> 'channel', ''), t.anchor, t.fired, t.rezone, t.revision
    from tasks t join tenants p on p.tenant_id = t.tenant_id
    where t.state = 'ACTIVE' and not t.held and t.next_at <= p_now
    order by t.next_at limit p_most
    for update of t skip locked
$$;

-- When the next task is due, of anybody's.
create or replace function next_due_task()
returns table (tenant_id text, due timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.next_at from tasks t where t.state = 'ACTIVE' and not t.held and t.next_at is not null
    order by t.next_at limit 1
$$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('is_unreachable', 'hold_tasks', 'hold_task', 'claim_due_tasks', 'next_due_task')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
