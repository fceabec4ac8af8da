-- We take part in a group once somebody who may decide that there asked for it, and the owner of the installation allowed it.

-- Claims groups in which somebody asked for us; ids only. Each comes again after a pause that grows, unless it is settled.
create function claim_asked_groups(p_limit int)
returns table (tenant_id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select g.tenant_id, g.next_attempt_at as due_at from group_chats g
        where g.state = 'asked' and not is_halted() and g.next_attempt_at <= clock_timestamp()
        order by g.next_attempt_at, g.tenant_id limit p_limit for update of g skip locked),
    claimed as (
        update group_chats g set attempts = g.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(g.attempts)
        from due where g.tenant_id = due.tenant_id
        returning g.tenant_id, due.due_at)
    select c.tenant_id from claimed c order by c.due_at, c.tenant_id
$$;

-- Finds all groups, the first that asked for us first; ids only.
create function find_groups()
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select g.tenant_id from group_chats g join tenants t on t.tenant_id = g.tenant_id order by t.created_at, t.tenant_id
$$;

-- Finds the owners of the installation; ids only.
create function find_owners()
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id from tenants t where t.role = 'owner' order by t.created_at, t.tenant_id limit 5
$$;

-- Returns a group as its owner sees it: {id, title, channel, state}.
create function read_group(p_group text)
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    return (select jsonb_build_object('id', g.tenant_id, 'title', g.title, 'channel', g.channel, 'state', g.state)
            from group_chats g where g.tenant_id = p_group);
end $$;

-- Returns whether a person owns the installation.
create function owns_installation(p_tenant text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select from tenants t where t.tenant_id = p_tenant and t.role = 'owner');
end $$;

-- Lists the groups for an owner of the installation; for anybody else none.
create function list_groups(p_tenant text)
returns jsonb
language plpgsql as $$
declare
    v_found jsonb := '[]';
    v_group text;
begin
    if not owns_installation(p_tenant) then
        return null;
    end if;
    for v_group in select f.tenant_id from find_groups() f loop
        v_found := v_found || read_group(v_group);
    end loop;
    perform set_config('onevalet.tenant', p_tenant, true);
    return v_found;
end $$;

-- Settles what somebody asked in a group, once the provider has said whether they may decide it there. p_told: texts by
-- language, by the new state, 'on', 'waiting' and 'off'. A repeat, and an answer to an earlier question, change nothing. Returns the
-- conversation in which it is said.
create function settle_group(
    p_group text, p_asked_at timestamptz, p_may boolean, p_owner_ok boolean, p_told jsonb, p_outbound text, p_title text)
returns text
language plpgsql as $$
declare
    v_state text;
    v_thread text;
begin
    perform set_config('onevalet.tenant', p_group, true);
    update group_chats g
    set owner_ok = g.owner_ok or p_owner_ok and p_may,
        state = case when not p_may then 'off' when g.owner_ok or p_owner_ok then 'on' else 'waiting' end
    where g.tenant_id = p_group and g.state = 'asked' and g.asked_at = p_asked_at
    returning g.state, g.thread into v_state, v_thread;
    perform name_group(p_group, p_title);
    return case when v_state is not null then tell_group(p_group, p_told -> v_state, p_outbound, v_thread) end;
end $$;

-- Allows a group, or forbids it, by the word of an owner of the installation. {group, conversation}: the group as it is
-- then, and the conversation in which it is told; null for nobody's group, and for anybody else.
create function allow_group(p_tenant text, p_group text, p_allow boolean, p_told jsonb, p_outbound text)
returns jsonb
language plpgsql as $$
declare
    v_before text;
    v_after text;
    v_thread text;
    v_conversation text;
begin
    if not owns_installation(p_tenant) then
        return null;
    end if;
    perform set_config('onevalet.tenant', p_group, true);
    select g.state into v_before from group_chats g where g.tenant_id = p_group for update;
    update group_chats g
    set owner_ok = p_allow,
        state = case when not p_allow and g.state <> 'left' then 'off' when p_allow and g.state = 'waiting' then 'on'
                     else g.state end
    where g.tenant_id = p_group returning g.state, g.thread into v_after, v_thread;
    if v_after <> v_before and v_after in ('on', 'off') then
        v_conversation := tell_group(p_group, p_told -> v_after, p_outbound, v_thread);
    end if;
    if not p_allow then
        delete from group_words w where w.tenant_id = p_group;
    end if;
    return jsonb_build_object('group', read_group(p_group), 'conversation', v_conversation);
end $$;
