-- Households: what the deeds in the other files stand on. A person is locked before their household, as links and
-- deletions lock people first. Each deed is kept under the key of its call: a repeat gets the same answer.

-- Returns the household that a person is in; null for none.
create function household_of(p_tenant text)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select m.household_id from household_members m where m.tenant_id = p_tenant);
end $$;

-- The same for a write among what the household shares: the person stays in it until the commit.
create function enter_household(p_tenant text)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select m.household_id from household_members m where m.tenant_id = p_tenant for share);
end $$;

-- Lists who is in a household, the first who came first; ids only.
create function find_household_members(p_household text)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select m.tenant_id from household_members m where m.household_id = p_household order by m.joined_at, m.tenant_id
$$;

-- Finds to which household an invitation leads; ids only.
create function find_household_invitation(p_code_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select i.tenant_id from household_invitations i where i.code_hash = p_code_hash
$$;

-- Claims news that members are to be told, the oldest first; ids only. It comes again after a pause that grows.
create function claim_household_news(p_limit int)
returns table (tenant_id text, id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select d.tenant_id, d.id, d.next_attempt_at as due_at from household_news d
        where not is_halted() and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update household_news n
        set attempts = n.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(n.attempts)
        from due where n.tenant_id = due.tenant_id and n.id = due.id
        returning n.tenant_id, n.id, due.due_at)
    select c.tenant_id, c.id from claimed c order by c.due_at, c.id
$$;

-- Returns a person as others of the household see them, and their role there: {id, name, role, calendar, channel,
-- user_key}. The name is their own, or that of their first place, whose address is shown in part.
create function household_member(p_tenant text)
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (
        select jsonb_build_object(
            'id', t.tenant_id, 'name', coalesce(nullif(t.name, ''), i.name, ''), 'role', coalesce(m.role, ''),
            'calendar', coalesce(m.calendar, ''), 'channel', coalesce(i.channel, ''), 'user_key', coalesce(i.user_key, ''))
        from tenants t
        left join household_members m on m.tenant_id = t.tenant_id
        left join lateral (
            select p.name, p.channel, p.user_key from identities p
            where p.tenant_id = t.tenant_id and p.admitted <> '' and p.channel <> 'mcp'
            order by p.created_at, p.id limit 1) i on true
        where t.tenant_id = p_tenant);
end $$;

-- Returns the household of a person, {id, name, people}; null for none. The connection sees the person's rows afterwards.
create function read_household(p_tenant text)
returns jsonb
language plpgsql as $$
declare
    v_home text := household_of(p_tenant);
    v_people jsonb := '[]';
    v_id text;
    v_name text;
begin
    if v_home is null then
        return null;
    end if;
    for v_id in select f.tenant_id from find_household_members(v_home) f loop
        v_people := v_people || household_member(v_id);
    end loop;
    perform set_config('onevalet.tenant', v_home, true);
    select t.name into v_name from tenants t where t.tenant_id = v_home;
    perform set_config('onevalet.tenant', p_tenant, true);
    return jsonb_build_object('id', v_home, 'name', coalesce(v_name, ''), 'people', v_people);
end $$;

-- Locks a person, and the household that they are in, until the commit; returns it, null for none.
create function lock_household(p_tenant text)
returns text
language plpgsql as $$
declare
    v_home text;
begin
    perform lock_person(p_tenant, false);
    v_home := household_of(p_tenant);
    if v_home is not null then
        perform set_config('onevalet.tenant', v_home, true);
        perform lock_person(v_home, true);
        -- They may have gone while this waited.
        v_home := household_of(p_tenant);
    end if;
    return v_home;
end $$;

-- Returns the answer to a deed that is done already; null for a new one.
create function household_deed(p_tenant text, p_key text)
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select d.answer from household_deeds d where d.tenant_id = p_tenant and d.key = p_key);
end $$;

-- Keeps the answer to a deed for its repeats, and returns it: of somebody's address only what others may see.
create function keep_household_deed(p_tenant text, p_key text, p_answer jsonb, p_now timestamptz)
returns jsonb
language plpgsql as $$
begin
    if p_answer -> 'who' ? 'user_key' then
        p_answer := jsonb_set(p_answer, '{who,user_key}', to_jsonb(masked_address(p_answer -> 'who' ->> 'user_key')));
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from household_deeds d where d.tenant_id = p_tenant and d.at < p_now - interval '30 days';
    insert into household_deeds (tenant_id, key, answer, at) values (p_tenant, p_key, p_answer, p_now);
    return p_answer;
end $$;

-- Returns an address as core/people/chat_names.py shows it, which shows this again as it is.
create function masked_address(p_user_key text)
returns text
language sql immutable as $$
    select case when p_user_key = '' then ''
                when p_user_key like '+%' and length(p_user_key) > 8
                    then left(p_user_key, 2) || '•••••' || right(p_user_key, 4)
                when length(p_user_key) > 5 then '•••••' || right(p_user_key, 3)
                else '•••••' end
$$;

-- Tells everybody in a household, but for some.
create function tell_household(p_home text, p_but text[], p_key text, p_kind text, p_about jsonb)
returns void
language plpgsql as $$
declare
    v_id text;
begin
    for v_id in select f.tenant_id from find_household_members(p_home) f loop
        if v_id <> all (p_but) then
            perform tell_member(v_id, p_key, p_kind, p_about);
        end if;
    end loop;
end $$;

-- Tells a person once what became of a household.
create function tell_member(p_tenant text, p_key text, p_kind text, p_about jsonb)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into household_news (tenant_id, id, kind, about) values (p_tenant, p_key || '.' || p_kind, p_kind, p_about)
    on conflict do nothing;
end $$;

-- Returns a person's name for others, and the household's, for what is told about them.
create function household_names(p_tenant text, p_home text)
returns jsonb
language plpgsql as $$
declare
    v_names jsonb := jsonb_build_object('who', coalesce(household_member(p_tenant), '{}'));
begin
    perform set_config('onevalet.tenant', p_home, true);
    return v_names || jsonb_build_object(
        'household', coalesce((select t.name from tenants t where t.tenant_id = p_home), ''));
end $$;

-- Stores how much of their calendars a member shows to the others. {outcome}: 'shown' with {household, calendar}, or 'none'.
create function show_calendar(p_tenant text, p_key text, p_calendar text, p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_home text := lock_household(p_tenant);
    v_answer jsonb := household_deed(p_tenant, p_key);
begin
    if v_answer is not null then
        return v_answer;
    elsif v_home is null then
        return jsonb_build_object('outcome', 'none');
    end if;
    update household_members m set calendar = p_calendar where m.tenant_id = p_tenant;
    v_answer := household_names(p_tenant, v_home) - 'who' || jsonb_build_object('outcome', 'shown', 'calendar', p_calendar);
    return keep_household_deed(p_tenant, p_key, v_answer, p_now);
end $$;
