-- Money: reserved before a paid call and settled after it.

-- Locks a day's row: all that one person reserves and pays happens one after another.
create function lock_spending(p_tenant text, p_day date)
returns numeric
language sql as $$
    insert into spending as s (tenant_id, day) values (p_tenant, p_day)
    on conflict (tenant_id, day, task_id) do update set spent = s.spent
    returning s.spent
$$;

-- Returns the cap that the spending, what others hold, and this together would pass: 'day' or 'task'; '' when all is
-- well. Either cap may be null. Repeating it changes nothing.
create function reserve_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_amount numeric, p_cap numeric, p_held interval, p_task_cap numeric default null)
returns text
language plpgsql as $$
declare
    v_spent numeric;
    v_task_spent numeric;
    v_held numeric;
    v_task_held numeric;
    v_allowed numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_spent := lock_spending(p_tenant, p_day);
    delete from reservations r where r.tenant_id = p_tenant and r.day < p_day - 7;
    select coalesce(sum(r.amount), 0), coalesce(sum(r.amount) filter (where r.task_id = p_task), 0)
    into v_held, v_task_held from reservations r
    where r.tenant_id = p_tenant and r.day = p_day and not r.settled and r.held_until > clock_timestamp()
      and (r.turn_id, r.agent_path, r.step, r.call_index) <> (p_turn, p_agent_path, p_step, p_call_index);
    select coalesce(sum(r.allowed), 0) into v_allowed from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn;
    if v_spent + v_held + p_amount > p_cap + v_allowed then
        return 'day';
    end if;
    if p_task <> '' and p_task_cap is not null then
        select coalesce(max(s.spent), 0) into v_task_spent from spending s
        where s.tenant_id = p_tenant and s.day = p_day and s.task_id = p_task;
        if v_task_spent + v_task_held + p_amount > p_task_cap + v_allowed then
            return 'task';
        end if;
    end if;
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, p_amount, clock_timestamp() + p_held)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set day = excluded.day, amount = excluded.amount, held_until = excluded.held_until
    where not r.settled;
    return '';
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

-- Lets a turn spend more than the caps, once for each step at which the person said so.
create function allow_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_more numeric)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, allowed,
                                   held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, 0, p_more, clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update set allowed = excluded.allowed;
end $$;
