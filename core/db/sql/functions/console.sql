-- Signing in to the console, and what an operator sees of everybody: ids, times and counts.

-- Stores a new link; false where its person was given too many since p_since. Older ones go.
create function keep_console_link(
    p_tenant text, p_token_hash bytea, p_operator boolean, p_now timestamptz, p_expires_at timestamptz,
    p_since timestamptz, p_limit int)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select from console_links l where l.tenant_id = p_tenant and l.token_hash = p_token_hash) then
        return true;
    end if;
    delete from console_links l where l.tenant_id = p_tenant and l.made_at < p_since;
    if (select count(*) from console_links l where l.tenant_id = p_tenant) >= p_limit then
        return false;
    end if;
    insert into console_links (tenant_id, token_hash, operator, made_at, expires_at)
    values (p_tenant, p_token_hash, p_operator, p_now, p_expires_at);
    return true;
end $$;

-- Finds whose a link or a session is; ids only.
create function find_console_link(p_token_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select l.tenant_id from console_links l where l.token_hash = p_token_hash
$$;

create function find_console_session(p_token_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.tenant_id from console_sessions s where s.token_hash = p_token_hash
$$;

-- Uses a link up and begins a session; false where the link is not good.
create function begin_console_session(
    p_tenant text, p_link_hash bytea, p_session_hash bytea, p_now timestamptz, p_expires_at timestamptz)
returns boolean
language plpgsql as $$
declare
    v_operator boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from console_sessions s where s.tenant_id = p_tenant and s.expires_at <= p_now;
    -- The row stays, so that it counts for the limit.
    update console_links l set expires_at = p_now
    where l.tenant_id = p_tenant and l.token_hash = p_link_hash and l.expires_at > p_now
    returning l.operator into v_operator;
    if v_operator is null then
        return false;
    end if;
    insert into console_sessions (tenant_id, token_hash, operator, begun_at, seen_at, expires_at)
    values (p_tenant, p_session_hash, v_operator, p_now, p_now, p_expires_at);
    return true;
end $$;

-- Returns who looks, where the session still holds; p_idle is how long it does without a request. An operator is one
-- only while the person's role says so.
create function see_console_session(p_tenant text, p_token_hash bytea, p_now timestamptz, p_idle interval)
returns table (operator boolean, name text, timezone text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update console_sessions s set seen_at = p_now
    where s.tenant_id = p_tenant and s.token_hash = p_token_hash and s.seen_at < p_now - interval '1 minute'
      and s.seen_at > p_now - p_idle;
    return query
    select s.operator and t.role = 'owner', t.name, t.timezone
    from console_sessions s join tenants t on t.tenant_id = s.tenant_id
    where s.tenant_id = p_tenant and s.token_hash = p_token_hash and s.seen_at > p_now - p_idle
      and s.expires_at > p_now;
end $$;

-- Lists the conversations of everybody by their last message, the newest first, from a place on.
create function console_conversations(p_channel text, p_before timestamptz, p_before_id text, p_limit int)
returns table (tenant_id text, conversation_id text, last_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.tenant_id, c.id, c.last_inbound_at from conversations c
    where c.last_inbound_at is not null and (p_channel = '' or c.channel = p_channel)
      and (p_before is null or (c.last_inbound_at, c.id) < (p_before, p_before_id))
    order by c.last_inbound_at desc, c.id desc
    limit p_limit
$$;

-- Returns the owner who was here first, whose console `dev` shows.
create function console_owner()
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id from tenants t where t.role = 'owner' order by t.created_at, t.tenant_id limit 1
$$;

-- Returns since when the message has waited that has waited longest, and since when the oldest answer is to be sent.
create function console_oldest()
returns table (waiting timestamptz, to_send timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select min(l.pending_since) from lanes l where l.pending),
           (select min(o.created_at) from outbound o where o.state in ('ready', 'sending', 'checking'))
$$;
