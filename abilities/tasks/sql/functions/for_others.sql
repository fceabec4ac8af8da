-- Reminders for others: wanted by one person, allowed by the other, and set as a task of the latter's.

-- Keeps what somebody wants the other person to be reminded of, at most p_limit a day: p_wish is {id, name, text, at}.
-- Returns the state of the permit, or 'limited'. The first wish asks for it, by a name that stays until the answer, which
-- has that name. A repeat with the same id changes nothing.
create function wish_reminder(p_tenant text, p_other text, p_wish jsonb, p_now timestamptz, p_limit int)
returns text
language plpgsql as $$
declare
    v_state text;
begin
    perform lock_person(p_other, false);
    perform set_config('onevalet.tenant', p_other, true);
    if not exists (select from reminder_wishes w where w.tenant_id = p_other and w.id = p_wish ->> 'id')
       and (select count(*) from reminder_wishes w where w.tenant_id = p_other and w.from_id = p_tenant
            and w.made_at > p_now - interval '1 day') >= p_limit then
        return 'limited';
    end if;
    insert into reminder_permits (tenant_id, from_id, from_name, asked_at)
    values (p_other, p_tenant, p_wish ->> 'name', p_now)
    on conflict (tenant_id, from_id) do update
    set from_name = case reminder_permits.state when 'asked' then reminder_permits.from_name else excluded.from_name end
    returning state into v_state;
    if v_state <> 'refused' then
        insert into reminder_wishes (tenant_id, id, from_id, from_name, text, at, waited, made_at)
        values (p_other, p_wish ->> 'id', p_tenant, p_wish ->> 'name', p_wish ->> 'text', (p_wish ->> 'at')::timestamptz,
                v_state = 'asked', p_now)
        on conflict do nothing;
    end if;
    return v_state;
end $$;

-- Takes back a reminder that somebody wanted for another. Returns its task, which is then to be deleted, '' if none is set;
-- null if it rang. Repeatable: only the task says that it is over.
create function drop_wish(p_tenant text, p_other text, p_id text)
returns text
language plpgsql as $$
declare
    v_task text;
begin
    perform set_config('onevalet.tenant', p_other, true);
    update reminder_wishes w set state = 'over', text = '', untold = false
    where w.tenant_id = p_other and w.id = p_id and w.from_id = p_tenant and w.state = 'waiting';
    select w.task_id into v_task from reminder_wishes w
    where w.tenant_id = p_other and w.id = p_id and w.from_id = p_tenant
      and not exists (select from tasks t where t.tenant_id = p_other and t.id = w.task_id
                      and t.state = 'COMPLETED' and t.deleted_at is null);
    return v_task;
end $$;

-- Decides what some may set for a person. Returns the tasks that a refusal ends, which are then to be deleted: a repeat
-- names those that are left.
create function decide_permits(p_tenant text, p_from text[], p_state text)
returns table (task_id text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update reminder_permits p set state = p_state, told = true where p.tenant_id = p_tenant and p.from_id = any (p_from);
    return query
    select t.id from reminder_wishes w join tasks t on t.tenant_id = w.tenant_id and t.id = w.task_id
    where p_state = 'refused' and w.tenant_id = p_tenant and w.from_id = any (p_from) and w.state = 'set'
      and t.deleted_at is null and t.state <> 'COMPLETED';
end $$;

-- Records that a reminder is a task from now on; false if it was taken back, or its permit is none any more. The permit is
-- held until the commit: whoever refuses it meanwhile waits, and then finds the task.
create function set_wish(p_tenant text, p_id text, p_task text)
returns boolean
language plpgsql as $$
begin
    perform 1 from reminder_permits p join reminder_wishes w on w.tenant_id = p.tenant_id and w.from_id = p.from_id
    where p.tenant_id = p_tenant and w.id = p_id and p.state = 'allowed' for share of p;
    if not found then
        return false;
    end if;
    update reminder_wishes w set state = 'set', task_id = p_task, untold = true
    where w.tenant_id = p_tenant and w.id = p_id and w.state = 'waiting';
    return found;
end $$;

-- Returns whether an earlier question about somebody of the same name is unanswered: an answer has the name only.
create function is_name_asked(p_permit reminder_permits)
returns boolean
language sql stable as $$
    select exists (
        select from reminder_permits o
        where o.tenant_id = p_permit.tenant_id and o.state = 'asked' and lower(o.from_name) = lower(p_permit.from_name)
          and (o.asked_at, o.from_id) < (p_permit.asked_at, p_permit.from_id))
$$;

-- Returns whether somebody else of the same name has asked a person, whatever came of it.
create function has_namesake(p_tenant text, p_from text, p_name text)
returns boolean
language sql stable as $$
    select exists (
        select from reminder_permits o
        where o.tenant_id = p_tenant and o.from_id <> p_from and lower(o.from_name) = lower(p_name))
$$;

-- Claims the questions to be asked, and the reminders that are decided, whose time is over, or of which it is to be told;
-- ids only. Each comes again after a pause that grows, unless it is done by then.
create function claim_wishes(p_now timestamptz, p_limit int)
returns table (tenant_id text, from_id text, wish_id text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if is_halted() then
        return;
    end if;
    return query
    with due as materialized (
        select d.tenant_id, d.from_id, d.next_attempt_at as due_at from reminder_permits d
        where not d.told and d.next_attempt_at <= clock_timestamp() and not is_name_asked(d)
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update reminder_permits p
        set attempts = p.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(p.attempts)
        from due where p.tenant_id = due.tenant_id and p.from_id = due.from_id
        returning p.tenant_id, p.from_id, due.due_at)
    select c.tenant_id, c.from_id, '' from claimed c order by c.due_at;
    return query
    with due as materialized (
        select d.tenant_id, d.id, d.next_attempt_at as due_at from reminder_wishes d
        where (d.untold or d.state = 'waiting' and (d.at <= p_now or exists (
                   select from reminder_permits p
                   where p.tenant_id = d.tenant_id and p.from_id = d.from_id and p.state <> 'asked')))
          and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update reminder_wishes w
        set attempts = w.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(w.attempts)
        from due where w.tenant_id = due.tenant_id and w.id = due.id
        returning w.tenant_id, w.from_id, w.id, due.due_at)
    select c.tenant_id, c.from_id, c.id from claimed c order by c.due_at;
end $$;

-- Deletes reminders that are over for so long, and those whose task is gone.
create function prune_wishes(p_kept interval, p_limit int)
returns table (pruned bigint)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.id from reminder_wishes o
        where o.state <> 'waiting' and not o.untold and o.next_attempt_at < clock_timestamp() - p_kept
          and not exists (select from tasks t where t.tenant_id = o.tenant_id and t.id = o.task_id)
        order by o.next_attempt_at limit p_limit for update skip locked),
    gone as (
        delete from reminder_wishes w using old o where w.tenant_id = o.tenant_id and w.id = o.id returning 1)
    select count(*) from gone
$$;

-- Prepares the merge of two people: what one wanted of others is in the rows of these, and now that of the one who stays.
-- If somebody decided about both, or both decided about somebody, the stricter counts. Of oneself nothing is asked.
create function merge_wishes(p_kept text, p_gone text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if not exists (select from links l where l.tenant_id = p_kept and l.other_id = p_gone
                   and l.xmin = pg_current_xact_id()::xid) then
        raise exception 'no link was begun';
    end if;
    -- Of what is one from now on the link's record lets nothing go back: it has what there was.
    update linked_rows r set copied = true from links l
    where l.tenant_id = p_kept and l.other_id = p_gone and r.tenant_id = p_kept and r.link_id = l.id
      and (r.of = 'reminder_permits' and (r.key[1] = p_kept or exists (
               select from reminder_permits k where k.tenant_id = p_kept and k.from_id = r.key[1]))
           or r.of = 'permits of others' and (r.key[1] = p_kept or exists (
               select from reminder_permits k where k.tenant_id = r.key[1] and k.from_id = p_kept)));
    delete from reminder_permits p
    where p.tenant_id = p_kept and p.from_id = p_gone or p.tenant_id = p_gone and p.from_id = p_kept;
    update reminder_wishes w set state = 'over', text = ''
    where w.state = 'waiting'
      and (w.tenant_id = p_kept and w.from_id = p_gone or w.tenant_id = p_gone and w.from_id = p_kept);
    update reminder_permits k
    set state = g.state, told = g.told, from_name = g.from_name
    from reminder_permits g
    where (k.tenant_id = g.tenant_id and k.from_id = p_kept and g.from_id = p_gone
           or k.from_id = g.from_id and k.tenant_id = p_kept and g.tenant_id = p_gone)
      and array_position(array['allowed', 'asked', 'refused'], g.state)
          > array_position(array['allowed', 'asked', 'refused'], k.state);
    delete from reminder_permits g using reminder_permits k
    where g.from_id = p_gone and k.tenant_id = g.tenant_id and k.from_id = p_kept;
    update reminder_permits p set from_id = p_kept where p.from_id = p_gone;
    update reminder_wishes w set from_id = p_kept where w.from_id = p_gone;
end $$;

-- Gives two people who part what each wants of others again, and may. What others decided about both of them as one they
-- decided about the one who stays; of the other they know what they decided before.
create function part_wishes(p_tenant text, p_other text, p_link text)
returns void
language plpgsql as $$
begin
    update reminder_wishes w set from_id = p_other from linked_rows r
    where r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'wishes of others'
      and w.tenant_id = r.key[1] and w.id = r.key[2] and w.from_id = p_tenant;
    update reminder_permits p set from_id = p_other from linked_rows r
    where r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'permits of others' and not r.copied
      and p.tenant_id = r.key[1] and p.from_id = p_tenant;
    insert into reminder_permits (tenant_id, from_id, from_name, state, told, asked_at)
    select x.decides, x.wants, substr(x.was, position(' ' in x.was) + 1), split_part(x.was, ' ', 1),
           split_part(x.was, ' ', 1) <> 'asked', l.made_at
    from links l
    join lateral (
        select case r.of when 'reminder_permits' then p_other else r.key[1] end as decides,
               case r.of when 'reminder_permits' then r.key[1] else p_other end as wants, r.name as was
        from linked_rows r
        where r.tenant_id = p_tenant and r.link_id = l.id and r.copied
          and r.of in ('reminder_permits', 'permits of others')) x on true
    join tenants d on d.tenant_id = x.decides
    join tenants w on w.tenant_id = x.wants
    where l.tenant_id = p_tenant and l.id = p_link
    on conflict do nothing;
end $$;
