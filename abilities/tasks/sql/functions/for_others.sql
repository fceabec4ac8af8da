-- Reminders for others: wanted by one person, allowed by the other, and set as a task of the latter's.

-- Keeps what somebody wants the other person to be reminded of, at most p_limit a day: p_wish is {id, name, text, at}.
-- Returns the state of the permit, or 'limited'. The first wish asks for it. A repeat with the same id changes nothing.
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
    on conflict (tenant_id, from_id) do update set from_name = excluded.from_name
    returning state into v_state;
    if v_state <> 'refused' then
        insert into reminder_wishes (tenant_id, id, from_id, from_name, text, at, waited, made_at)
        values (p_other, p_wish ->> 'id', p_tenant, p_wish ->> 'name', p_wish ->> 'text', (p_wish ->> 'at')::timestamptz,
                v_state = 'asked', p_now)
        on conflict do nothing;
    end if;
    return v_state;
end $$;

-- Takes back a reminder that somebody wanted for another, unless it rang. Returns its task, '' if it was none yet; null
-- for one that is over.
create function drop_wish(p_tenant text, p_other text, p_id text)
returns text
language plpgsql as $$
declare
    v_task text;
begin
    perform set_config('onevalet.tenant', p_other, true);
    update reminder_wishes w set state = 'over', text = ''
    where w.tenant_id = p_other and w.id = p_id and w.from_id = p_tenant and w.state <> 'over'
    returning w.task_id into v_task;
    return v_task;
end $$;

-- Finds those whom somebody asks, and the reminders whose permit is decided; ids only.
create function find_wishes(p_limit int)
returns table (tenant_id text, from_id text, wish_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select x.* from (
        select p.tenant_id, p.from_id, '' as wish_id from reminder_permits p where not p.told
        union all
        select w.tenant_id, w.from_id, w.id from reminder_wishes w
        join reminder_permits p on p.tenant_id = w.tenant_id and p.from_id = w.from_id
        where w.state = 'waiting' and p.state <> 'asked') x
    limit p_limit
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
