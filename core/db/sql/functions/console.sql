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

-- Lists the people who were let in, those who came last first, from a place on; ids and times only.
create function console_people(p_before timestamptz, p_before_id text, p_limit int)
returns table (tenant_id text, since timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, t.created_at from tenants t
    where (t.created_at, t.tenant_id) < (coalesce(p_before, 'infinity'), p_before_id)
      and exists (select from identities i where i.tenant_id = t.tenant_id and i.admitted <> '')
    order by t.created_at desc, t.tenant_id desc
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

-- Lists what waits for anybody, the longest wait first, from a place on: cards to decide, agents that asked or wait for
-- an account, and turns that wait without either.
create function console_waiting(p_after timestamptz, p_after_id text, p_limit int)
returns table (tenant_id text, kind text, id text, since timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select w.tenant_id, w.kind, w.id, w.since from (
        select a.tenant_id, 'approval' as kind, a.id, a.created_at as since from approvals a where a.state = 'pending'
        union all
        select e.tenant_id, 'agent', e.agent_id, e.created_at from pool_entries e
        where e.status not in ('CANCELLED', 'COMPLETED') and e.status <> 'WAITING_FOR_APPROVAL'
        union all
        select t.tenant_id, 'turn', t.id, t.started_at from turns t
        where t.state = 'waiting' and not t.ready
          and not exists (select from approvals a
                          where a.tenant_id = t.tenant_id and a.turn_id = t.id and a.state = 'pending')
          and not exists (select from pool_entries e
                          where e.tenant_id = t.tenant_id and e.turn_id = t.id
                            and e.status not in ('CANCELLED', 'COMPLETED'))
    ) w
    where p_after is null or (w.since, w.id) > (p_after, p_after_id)
    order by w.since, w.id limit p_limit
$$;

-- Returns what people call the tasks that money was spent for; those that are gone are left out.
create function titles_of_tasks(p_tenant text, p_ids text[])
returns table (task_id text, title text)
language sql stable as $$
    select null::text, null::text where false
    -- The titles come from their sql/titles.sql.
$$;

-- Counts work whose process is gone and that no other has taken up, and the server's connections beside their limit.
create function console_strain(p_lapsed interval)
returns table (lapsed bigint, connections bigint, most bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from lanes l where l.owner is not null and l.lease_until < clock_timestamp() - p_lapsed)
           + (select count(*) from outbound o where o.owner is not null and o.lease_until < clock_timestamp() - p_lapsed),
           (select count(*) from pg_stat_activity a where a.usesysid is not null),
           current_setting('max_connections')::bigint
$$;

-- Counts what ended badly and nobody has looked after: messages, and turns that were set aside of late.
create function console_unsettled(p_within interval)
returns table (ambiguous bigint, failed bigint, set_aside bigint, last_set_aside text, undelivered bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from outbound o
            where o.state = 'ambiguous' and o.resolution = '' and o.stream_at is null),
           (select count(*) from outbound o
            where o.state = 'failed' and o.resolution = '' and o.stream_at is null),
           (select count(*) from turns t where t.state = 'poison' and t.started_at > clock_timestamp() - p_within),
           (select t.id from turns t where t.state = 'poison' order by t.started_at desc, t.id limit 1),
           (select count(*) from outbound o where o.state = 'sent' and o.undelivered and o.resolution = '')
$$;

-- Counts what was given up of late and nobody has looked after, by channel, with the most frequent reason.
create function console_given_up(p_within interval)
returns table (channel text, messages bigint, reason text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.channel, count(*), mode() within group (order by o.reason)
    from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.state = 'failed' and o.resolution = '' and o.created_at > clock_timestamp() - p_within
    group by c.channel order by c.channel
$$;
