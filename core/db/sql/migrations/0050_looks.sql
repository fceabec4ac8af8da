-- A look at a condition is counted before it is made, and counts no more once it ended, in whatever way: one that takes
-- its worker along, or never ends, is made so often and no more.
alter table tasks add column looks_begun int not null default 0;

-- Whatever ends a look or takes a task up again changes its revision.
create function forget_looks()
returns trigger
language plpgsql as $$
begin
    new.looks_begun := 0;
    return new;
end $$;
create trigger tasks_looks before update of revision on tasks for each row
    when (old.revision is distinct from new.revision) execute function forget_looks();

-- Counts a look that is about to be made, which was read to follow on p_begun that never ended; the next worker makes it
-- later and later. Repeating it changes nothing; false where another worker was quicker.
create function begin_look(p_tenant text, p_task text, p_begun int, p_now timestamptz, p_lease interval)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t set looks_begun = p_begun + 1, next_at = p_now + p_lease * power(2, least(p_begun, 5))
    where t.tenant_id = p_tenant and t.id = p_task and t.state = 'ACTIVE' and t.looks_begun in (p_begun, p_begun + 1);
    return found;
end $$;

-- A look that was stopped from outside, as by a worker's end or a database that was away, does not count.
create function put_off_look(p_tenant text, p_task text, p_begun int)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t set looks_begun = p_begun
    where t.tenant_id = p_tenant and t.id = p_task and t.looks_begun = p_begun + 1;
    return found;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('forget_looks', 'begin_look', 'put_off_look')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
