-- Events: published once, and worked on by each group that wants them.

-- Returns the names of a person's source: its own, and those that it had before two people became one. Whoever subscribed
-- to one of them goes on hearing of it.
create function names_of_source(p_tenant text, p_source text)
returns text[]
language sql stable as $$
    select array_prepend(p_source, coalesce((
        select s.former_names from event_sources s where s.tenant_id = p_tenant and s.name = p_source), '{}'))
$$;

-- Stores an event and returns the groups that want it; null if it is known already, under this id or under p_also (its
-- id in the previous period, for events that are distinguished by content alone).
create function publish_event(
    p_tenant text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamptz,
    p_traceparent text default null)
returns text[]
language plpgsql as $$
declare
    v_groups text[];
    v_names text[];
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_names := names_of_source(p_tenant, p_source);
    if p_also <> '' and exists (select 1 from events e
                                where e.tenant_id = p_tenant and e.source = p_source and e.id = p_also) then
        return null;
    end if;
    insert into events (tenant_id, source, id, type, data, occurred_at, traceparent)
    values (p_tenant, p_source, p_id, p_type, p_data, coalesce(p_occurred_at, clock_timestamp()), p_traceparent)
    on conflict on constraint events_pkey do nothing;
    if not found then
        return null;
    end if;
    with added as (
        insert into event_work (tenant_id, source, event_id, group_name)
        select distinct p_tenant, p_source, p_id, g.name from event_groups g
        where exists (select from unnest(v_names) n where n || ':' || p_type like g.pattern)
        returning group_name)
    select array_agg(a.group_name) into v_groups from added a;
    return coalesce(v_groups, '{}');
end $$;

-- Registers a group of consumers. Events published within p_since before its first subscription are delivered to it
-- too.
create function add_event_group(p_name text, p_pattern text, p_since interval)
returns table (group_name text, added bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    insert into event_groups (name, pattern) values (p_name, p_pattern) on conflict do nothing;
    if not found then
        return query select p_name, 0::bigint;
        return;
    end if;
    return query with made as (
        insert into event_work (tenant_id, source, event_id, group_name)
        select e.tenant_id, e.source, e.id, p_name from events e
        where e.received_at > clock_timestamp() - p_since
          and exists (select from unnest(names_of_source(e.tenant_id, e.source)) n where n || ':' || e.type like p_pattern)
        on conflict do nothing returning 1)
    select p_name, count(*) from made;
end $$;

-- Deletes a subscription; the group's open work goes with its last pattern.
create function drop_event_group(p_name text, p_pattern text)
returns table (group_name text, dropped bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from event_groups g where g.name = p_name and g.pattern = p_pattern;
    return query with gone as (
        delete from event_work w where w.group_name = p_name and w.state = 'waiting'
          and not exists (select 1 from event_groups g where g.name = p_name)
        returning 1)
    select p_name, count(*) from gone;
end $$;

-- Claims the event of all people that has waited longest for a group, until the lease ends; returns ids only, with
-- which claim_event reads it for the same owner. A subquery with a limit and `for update skip locked` that the planner
-- puts on the inside of a nested loop runs once per outer row, and each run locks further rows. The materialized CTE
-- runs once: a claim takes what it was asked for. What an update returns has no order, whatever it read first: a claim
-- of several gives the order at the end.
create function claim_next_event(p_group text, p_owner text, p_ttl interval)
returns table (tenant_id text, source text, event_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if is_halted() then
        return;
    end if;
    return query
    with f as materialized (
        select f.tenant_id, f.source, f.event_id from event_work f
        where f.group_name = p_group and f.state = 'waiting' and f.next_attempt_at <= clock_timestamp()
          and (f.lease_until is null or f.lease_until < clock_timestamp())
        order by f.next_attempt_at limit 1 for update skip locked)
    update event_work w
    set attempts = w.attempts + 1, owner = p_owner, lease_until = clock_timestamp() + p_ttl
    from f
    where w.tenant_id = f.tenant_id and w.source = f.source and w.event_id = f.event_id and w.group_name = p_group
    returning w.tenant_id, w.source, w.event_id;
end $$;

-- Claims one event for a group, until the lease ends. Repeatable by owner.
create function claim_event(
    p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_ttl interval)
returns table (type text, data jsonb, occurred_at timestamptz, attempts int, names text[], traceparent text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if is_halted() then
        return;
    end if;
    return query update event_work w
    set attempts = w.attempts + (case when w.owner is not distinct from p_owner then 0 else 1 end),
        owner = p_owner, lease_until = clock_timestamp() + p_ttl
    from events e
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.state = 'waiting' and w.next_attempt_at <= clock_timestamp()
      and (w.lease_until is null or w.lease_until < clock_timestamp() or w.owner = p_owner)
      and e.tenant_id = w.tenant_id and e.source = w.source and e.id = w.event_id
    returning e.type, e.data, e.occurred_at, w.attempts, names_of_source(p_tenant, p_source), e.traceparent;
end $$;

-- Frees the work on an event whose person has become another's meanwhile: whoever had claimed it may have looked for
-- subscribers where there were none any more. Handling it again changes nothing. Owners are unique among all tenants.
create function free_moved_event(p_id text, p_group text, p_owner text)
returns void
language sql security definer set search_path = public, pg_temp as $$
    update event_work w set owner = null, lease_until = null, attempts = w.attempts - 1
    where w.group_name = p_group and w.state = 'waiting' and w.event_id = p_id and w.owner = p_owner
$$;

-- Records the result: done, poison, or waiting again after p_delay, which without a reason is not counted as an
-- attempt.
create function end_event(
    p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_state text, p_reason text,
    p_delay interval)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update event_work w
    set state = p_state, reason = p_reason, owner = null, lease_until = null,
        attempts = w.attempts - (case when p_state = 'waiting' and p_reason = '' then 1 else 0 end),
        next_attempt_at = clock_timestamp() + p_delay,
        ended_at = case when p_state <> 'waiting' then clock_timestamp() end
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.owner = p_owner and w.state = 'waiting';
    if found then
        return true;
    end if;
    perform free_moved_event(p_id, p_group, p_owner);
    return false;
end $$;

-- Retries an event that was set aside, as if it had just arrived.
create function retry_event(p_tenant text, p_source text, p_id text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update event_work w set state = 'waiting', attempts = 0, next_attempt_at = clock_timestamp(),
        ended_at = null
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.state = 'poison';
    return found;
end $$;

-- Returns how many were deleted, and how many more this call could have deleted. Materialized: see claim_next_event.
create function prune_events(p_before timestamptz, p_limit int)
returns table (pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.source, o.id from events o where o.received_at < p_before
            order by o.received_at limit p_limit for update skip locked),
    gone as (
        delete from events e using old o
        where e.tenant_id = o.tenant_id and e.source = o.source and e.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

-- Finds the source of an address: by its id, or by its name, perhaps a former one, if the secret's hash names the
-- tenant.
create function find_event_source(p_source text, p_hash bytea)
returns table (tenant_id text, source_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.tenant_id, s.id from event_sources s
    where s.id = p_source or (s.secret_hash = p_hash and p_source = any (s.former_names || s.name))
    order by s.id = p_source desc, s.name = p_source desc limit 1
$$;

-- Gives a source another name, and with it everything that knows it by its name: its events, so that one that is sent
-- again is recognised, the work on them, and what abilities know of it.
create function rename_event_source(p_tenant text, p_id text, p_name text)
returns void
language plpgsql as $$
declare
    v_former text;
begin
    select s.name into strict v_former from event_sources s where s.tenant_id = p_tenant and s.id = p_id for update;
    update event_sources s set name = p_name, former_names = array_append(s.former_names, v_former)
    where s.tenant_id = p_tenant and s.id = p_id;
    update events e set source = p_name where e.tenant_id = p_tenant and e.source = v_former;
    update event_work w set source = p_name where w.tenant_id = p_tenant and w.source = v_former;
    -- Where it is known as v_former, it is renamed by their sql/rename_event_source.sql.
end $$;

-- Returns whether something of a person's waits for the events of their channels. For everybody else a message costs only
-- these look-ups.
create function wants_channel_events(p_tenant text)
returns boolean
language sql stable as $$
    select exists (
        select 1 where false
        -- Whether anything waits comes from their sql/wants_channel_events.sql.
    )
$$;

-- Publishes messages that were received or could not be delivered, where a person wants these events. A press of a
-- button is not a message.
create or replace function note_received()
returns trigger
language plpgsql as $$
begin
    if (new.text <> '' or new.media <> '[]') and wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'message.received',
            jsonb_build_object('message_id', new.id, 'conversation_id', new.conversation_id, 'text', new.text,
                               'media', jsonb_array_length(new.media)), new.received_at)
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
          and wants_channel_event(new.tenant_id, c.channel, 'message.received');
    end if;
    return null;
end $$;

create or replace trigger inbound_event after insert on inbound
    for each row when (new.state = 'waiting' and new.command is null) execute function note_received();

-- `task_id` is the task that the message came from. `again`: its run was itself triggered by a failed message, so that
-- running a task for it could loop forever.
create or replace function note_undelivered()
returns trigger
language plpgsql as $$
declare
    v_task text;
    v_again boolean;
begin
    if not wants_channel_events(new.tenant_id) then
        return null;
    end if;
    select max(r.task_id), bool_or(r.again) into v_task, v_again from (
        select null::text as task_id, null::boolean as again where false
        -- What the message `new` came from comes from their sql/undelivered_from.sql.
        ) r;
    perform publish_event(new.tenant_id, c.channel, new.id, '', 'delivery.failed',
        jsonb_build_object('outbound_id', new.id, 'conversation_id', new.conversation_id, 'kind', new.kind,
                           'reason', new.reason, 'task_id', coalesce(v_task, ''), 'again', coalesce(v_again, false)),
        clock_timestamp())
    from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
      and wants_channel_event(new.tenant_id, c.channel, 'delivery.failed');
    return null;
end $$;

create or replace trigger outbound_event after update of state on outbound
    for each row when (old.state <> 'failed' and new.state = 'failed') execute function note_undelivered();

-- Matches a task's pattern: * and ? are wild. A pattern with brackets is left to the task itself.
create function may_match(p_text text, p_pattern text)
returns boolean
language sql immutable as $$
    select p_pattern is null or position('[' in p_pattern) > 0 or p_text like
        replace(replace(replace(replace(replace(p_pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'), '?', '_')
$$;

-- Returns whether something of the person's waits for exactly this type of event of this channel.
create function wants_channel_event(p_tenant text, p_channel text, p_type text)
returns boolean
language sql stable as $$
    select exists (
        select 1 where false
        -- Whether it is waited for comes from their sql/wants_channel_event.sql.
    )
$$;

-- `bearer_key` is a hash of the hash of a bearer's secret: useless to whoever reads it.
create function event_source_keys(p_since timestamptz)
returns table (source_id text, bearer_key bytea, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.id, coalesce(sha256(s.secret_hash), ''), s.created_at from event_sources s where s.created_at >= p_since
$$;

-- Stores an event of a source, as publish_event does. `current`: whether the source still belongs to this person under
-- this name. Web processes cache sources for seconds, in which people may be merged or the source deleted.
create function publish_source_event(
    p_tenant text, p_source_id text, p_source text, p_id text, p_also text, p_type text, p_data jsonb,
    p_occurred_at timestamptz, p_traceparent text default null)
returns table (current boolean, groups text[])
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform from event_sources s
    where s.tenant_id = p_tenant and s.id = p_source_id and s.name = p_source for key share;
    if found then
        return query select true, publish_event(
            p_tenant, p_source, p_id, p_also, p_type, p_data, p_occurred_at, p_traceparent);
    else
        return query select false, null::text[];
    end if;
end $$;
