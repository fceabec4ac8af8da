-- Money: reserved before a paid call and settled after it. A text is paid as its call begins: the day's row and its task's
-- have it, and rows of their own, `texts` and `texts/` with the task, say which part of those it is.

-- Locks the row of a person's day, so that their reservations and payments are serialised.
create function lock_spending(p_tenant text, p_day date)
returns numeric
language sql as $$
    insert into spending as s (tenant_id, day) values (p_tenant, p_day)
    on conflict (tenant_id, day, task_id) do update set spent = s.spent
    returning s.spent
$$;

-- p_call names a paid call by columns of `reservations`: its turn, agent_path, step and call_index, and the day and the
-- task that pay.

-- Reserves an amount. Returns the cap, 'day' or 'task', that it would exceed together with spending and other
-- reservations, or null. Either cap may be null. Repeating it changes nothing.
create function reserve_money(
    p_tenant text, p_call jsonb, p_amount numeric, p_cap numeric, p_task_cap numeric, p_held interval)
returns text
language plpgsql as $$
declare
    v reservations := jsonb_populate_record(null::reservations, p_call);
    v_spent numeric;
    v_task_spent numeric;
    v_held numeric;
    v_task_held numeric;
    v_allowed numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_spent := lock_spending(p_tenant, v.day);
    delete from reservations r where r.tenant_id = p_tenant and r.day < v.day - 7;
    select coalesce(sum(r.amount), 0), coalesce(sum(r.amount) filter (where r.task_id = v.task_id), 0)
    into v_held, v_task_held from reservations r
    where r.tenant_id = p_tenant and r.day = v.day and not r.settled and r.held_until > clock_timestamp()
      and (r.turn_id, r.agent_path, r.step, r.call_index) <> (v.turn_id, v.agent_path, v.step, v.call_index);
    select coalesce(sum(r.allowed), 0) into v_allowed from reservations r
    where r.tenant_id = p_tenant and r.turn_id = v.turn_id;
    if v_spent + v_held + p_amount > p_cap + v_allowed then
        return 'day';
    end if;
    if v.task_id <> '' and p_task_cap is not null then
        select coalesce(max(s.spent), 0) into v_task_spent from spending s
        where s.tenant_id = p_tenant and s.day = v.day and s.task_id = v.task_id;
        if v_task_spent + v_task_held + p_amount > p_task_cap + v_allowed then
            return 'task';
        end if;
    end if;
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, held_until)
    values (p_tenant, v.turn_id, v.agent_path, v.step, v.call_index, v.day, v.task_id, p_amount,
            clock_timestamp() + p_held)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set day = excluded.day, amount = excluded.amount, held_until = excluded.held_until
    where not r.settled;
    return null;
end $$;

-- Charges the cost of a step, or the reserved amount if the cost is unknown; once, however often it is called.
create function settle_money(p_tenant text, p_call jsonb, p_cost numeric)
returns void
language plpgsql as $$
declare
    v reservations := jsonb_populate_record(null::reservations, p_call);
    v_day date;
    v_amount numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select r.day into v_day from reservations r
    where r.tenant_id = p_tenant and r.turn_id = v.turn_id and r.agent_path = v.agent_path and r.step = v.step
      and r.call_index = v.call_index;
    v_day := coalesce(v_day, v.day);
    perform lock_spending(p_tenant, v_day);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, settled,
                                   held_until)
    values (p_tenant, v.turn_id, v.agent_path, v.step, v.call_index, v_day, v.task_id, coalesce(p_cost, 0), true,
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
    if v.task_id <> '' then
        insert into spending as s (tenant_id, day, task_id, spent) values (p_tenant, v_day, v.task_id, v_amount)
        on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
    end if;
end $$;

-- Adds the price of a text to the sums of the person's day, and of the task whose run it tells of.
create function pay_text(p_tenant text, p_outbound text, p_day date, p_price numeric)
returns void
language plpgsql as $$
declare
    v_task text := (select task_of_turn(p_tenant, o.turn_id) from outbound o
                    where o.tenant_id = p_tenant and o.id = p_outbound);
begin
    perform lock_spending(p_tenant, p_day);
    insert into spending as s (tenant_id, day, task_id, spent)
    select p_tenant, p_day, w.task_id, p_price from unnest(array['', 'texts', v_task, 'texts/' || v_task]) w (task_id)
    where w.task_id is not null
    on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
end $$;

-- Releases the reservation of a call that failed.
create function release_money(p_tenant text, p_call jsonb)
returns void
language plpgsql as $$
declare
    v reservations := jsonb_populate_record(null::reservations, p_call);
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from reservations r
    where r.tenant_id = p_tenant and r.turn_id = v.turn_id and r.agent_path = v.agent_path and r.step = v.step
      and r.call_index = v.call_index and not r.settled;
end $$;

-- Lets a turn exceed the caps, once for each step at which the person allowed it.
create function allow_money(p_tenant text, p_call jsonb, p_more numeric)
returns void
language plpgsql as $$
declare
    v reservations := jsonb_populate_record(null::reservations, p_call);
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, allowed,
                                   held_until)
    values (p_tenant, v.turn_id, v.agent_path, v.step, v.call_index, v.day, v.task_id, 0, p_more, clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update set allowed = excluded.allowed;
end $$;
