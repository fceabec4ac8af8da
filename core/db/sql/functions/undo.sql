-- What can be taken back: stored with the result of the call that offers it, taken by the call that undoes it.

-- Stores what the result of a call offers, in the transaction of the result. Only a person's newest 100 are kept.
create function keep_undo(p_tenant text, p_turn text, p_call text, p_offers jsonb)
returns void
language plpgsql as $$
begin
    -- Numbers count on from what is kept: two lanes that store at once wait for each other here, and nothing is locked
    -- after this.
    perform pg_advisory_xact_lock(hashtextextended('undo' || chr(31) || p_tenant, 0));
    insert into undo_records (tenant_id, id, turn_id, number, title, tool, arguments, open_until, created_at)
    select p_tenant, p_call || '.' || o.place, p_turn,
           coalesce((select max(u.number) from undo_records u where u.tenant_id = p_tenant), 0) + o.place,
           o.value ->> 'title', o.value ->> 'tool', o.value -> 'arguments',
           (o.value ->> 'until')::timestamptz, (o.value ->> 'made_at')::timestamptz
    from jsonb_array_elements(p_offers) with ordinality o (value, place)
    on conflict (tenant_id, id) do nothing;
    delete from undo_records u where u.tenant_id = p_tenant and u.id in (
        select old.id from undo_records old where old.tenant_id = p_tenant order by old.number desc offset 100);
end $$;

-- Stores what a command offers, which has no call.
create function offer_undo(p_tenant text, p_turn text, p_call text, p_offers jsonb)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform keep_undo(p_tenant, p_turn, p_call, p_offers);
end $$;

-- Finds what the call p_call takes back: the newest record or the one of this number, and the same again in a repeat.
-- Returns nothing where there is none.
create function take_undo(p_tenant text, p_number bigint, p_call text, p_now timestamptz)
returns table (id text, number bigint, title text, tool text, arguments jsonb, open_until timestamptz, undone boolean)
language plpgsql as $$
declare
    v_id text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select u.id into v_id from undo_records u where u.tenant_id = p_tenant and p_call = any (u.taken_by);
    if found then
        return query select u.id, u.number, u.title, u.tool, u.arguments, u.open_until, false from undo_records u
        where u.tenant_id = p_tenant and u.id = v_id;
        return;
    end if;
    select u.id into v_id from undo_records u
    where u.tenant_id = p_tenant and u.open_until > p_now and (p_number is null or u.number = p_number)
    order by u.number desc, u.created_at desc limit 1;
    return query
    update undo_records u
    set taken_by = case when u.undone then u.taken_by else array_append(u.taken_by, p_call) end
    where u.tenant_id = p_tenant and u.id = v_id
    returning u.id, u.number, u.title, u.tool, u.arguments, u.open_until, u.undone;
end $$;

-- Notes that a record was taken back; what it was done with is of no more use.
create function end_undo(p_tenant text, p_id text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update undo_records u set undone = true, arguments = '{}' where u.tenant_id = p_tenant and u.id = p_id;
end $$;

-- Deletes everybody's records whose time is over, and returns how many.
create function drop_undo(p_now timestamptz)
returns table (records bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from undo_records u where u.open_until <= p_now;
    get diagnostics records = row_count;
    return next;
end $$;
