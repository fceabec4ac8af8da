-- What a person's model calls cost: reserved before a call, settled after it, by the person's own day.

-- task_id is '' for the whole day, which is what caps look at, else what one task has spent of it.
create table spending (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    task_id   text not null default '',
    spent     numeric(14, 8) not null default 0 check (spent >= 0),
    primary key (tenant_id, day, task_id)
);

-- One row per paid step, kept after it is settled so that nobody pays twice. A reservation whose worker died
-- counts until held_until; its turn's next worker takes the same key, or settles it from the journal.
create table reservations (
    tenant_id  text not null references tenants on delete cascade,
    turn_id    text not null,
    agent_path text not null,
    step       int not null,
    call_index int not null,
    day        date not null,
    task_id    text not null default '',
    amount     numeric(14, 8) not null check (amount >= 0),
    settled    boolean not null default false,
    held_until timestamptz not null,
    primary key (tenant_id, turn_id, agent_path, step, call_index)
);
create index reservations_day on reservations (tenant_id, day) where not settled;

-- Locks a day's row: all that one person reserves and pays happens one after another.
create function lock_spending(p_tenant text, p_day date)
returns numeric
language sql as $$
    insert into spending as s (tenant_id, day) values (p_tenant, p_day)
    on conflict (tenant_id, day, task_id) do update set spent = s.spent
    returning s.spent
$$;

-- False when the day's spending, what others hold, and this together pass the cap. Repeating it changes nothing.
create function reserve_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_amount numeric, p_cap numeric, p_held interval)
returns boolean
language plpgsql as $$
declare
    v_spent numeric;
    v_held numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_spent := lock_spending(p_tenant, p_day);
    delete from reservations r where r.tenant_id = p_tenant and r.day < p_day - 7;
    select coalesce(sum(r.amount), 0) into v_held from reservations r
    where r.tenant_id = p_tenant and r.day = p_day and not r.settled and r.held_until > clock_timestamp()
      and (r.turn_id, r.agent_path, r.step, r.call_index) <> (p_turn, p_agent_path, p_step, p_call_index);
    if v_spent + v_held + p_amount > p_cap then
        return false;
    end if;
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, p_amount, clock_timestamp() + p_held)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set day = excluded.day, amount = excluded.amount, held_until = excluded.held_until
    where not r.settled;
    return true;
end $$;

-- Pays what a step cost, or what was reserved where that is not known; once, however often it is called.
create function settle_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_cost numeric)
returns void
language plpgsql as $$
declare
    v_day date;
    v_amount numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select r.day into v_day from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.agent_path = p_agent_path and r.step = p_step
      and r.call_index = p_call_index;
    v_day := coalesce(v_day, p_day);
    perform lock_spending(p_tenant, v_day);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, settled,
                                   held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, v_day, p_task, coalesce(p_cost, 0), true,
            clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set settled = true, amount = coalesce(p_cost, r.amount)
    where not r.settled
    returning r.amount into v_amount;
    if v_amount is null then
        return;
    end if;
    update spending s set spent = s.spent + v_amount
    where s.tenant_id = p_tenant and s.day = v_day and s.task_id = '';
    if p_task <> '' then
        insert into spending as s (tenant_id, day, task_id, spent) values (p_tenant, v_day, p_task, v_amount)
        on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
    end if;
end $$;

-- Gives back what a call that failed had reserved.
create function release_money(p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.agent_path = p_agent_path and r.step = p_step
      and r.call_index = p_call_index and not r.settled;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['spending', 'reservations'] loop
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
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('lock_spending', 'reserve_money', 'settle_money', 'release_money')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
