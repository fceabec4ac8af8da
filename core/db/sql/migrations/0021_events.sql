-- Events: what happened elsewhere. A row first, unique by (tenant, source, id); then an entry in a Redis stream
-- for each group of consumers that wants it. What a stream lost is found here and put back.

-- Whether this person's own channels publish events (message received, delivery failed): only on demand, so
-- that nobody else's messages pay for it.
alter table tenants add column channel_events boolean not null default false;

create table event_sources (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null unique,
    name        text not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
    style       text not null check (style in ('bearer', 'hmac', 'github', 'stripe')),
    secret_hash bytea,
    key_version int,
    sealed      bytea,
    options     jsonb not null default '{}',
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    unique (tenant_id, name),
    check ((style = 'bearer') = (secret_hash is not null) and (style = 'bearer') = (sealed is null)),
    foreign key (tenant_id, key_version) references data_keys
);
create index event_sources_hash on event_sources (secret_hash) where secret_hash is not null;

create table events (
    tenant_id   text not null references tenants on delete cascade,
    source      text not null,
    id          text not null,
    type        text not null,
    data        jsonb not null,
    occurred_at timestamptz not null,
    received_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, source, id)
);
create index events_received on events (received_at);

-- Who wants which events, for all tenants: a group is a name that its consumers in any worker share. `pattern` is
-- of LIKE, over 'source:type'.
create table event_groups (
    name    text not null,
    pattern text not null,
    primary key (name, pattern)
);

-- One row per event and group that wants it. poison: set aside with its reason, never tried again by itself.
create table event_work (
    tenant_id       text not null,
    source          text not null,
    event_id        text not null,
    group_name      text not null,
    state           text not null default 'waiting' check (state in ('waiting', 'done', 'poison')),
    attempts        int not null default 0,
    reason          text not null default '',
    next_attempt_at timestamptz not null default clock_timestamp(),
    streamed_at     timestamptz not null default clock_timestamp(),
    owner           text,
    lease_until     timestamptz,
    ended_at        timestamptz,
    primary key (tenant_id, source, event_id, group_name),
    foreign key (tenant_id, source, event_id) references events on delete cascade
);
create index event_work_waiting on event_work (group_name, next_attempt_at) where state = 'waiting';

-- Keeps an event and says which groups want it; null when it is known already, under this id or under p_also (the
-- id that it would have had a while ago, for those that are told apart by their content only).
create function publish_event(
    p_tenant text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamptz)
returns text[]
language plpgsql as $$
declare
    v_groups text[];
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_also <> '' and exists (select 1 from events e
                                where e.tenant_id = p_tenant and e.source = p_source and e.id = p_also) then
        return null;
    end if;
    insert into events (tenant_id, source, id, type, data, occurred_at)
    values (p_tenant, p_source, p_id, p_type, p_data, coalesce(p_occurred_at, clock_timestamp()))
    on conflict on constraint events_pkey do nothing;
    if not found then
        return null;
    end if;
    with added as (
        insert into event_work (tenant_id, source, event_id, group_name)
        select distinct p_tenant, p_source, p_id, g.name from event_groups g
        where p_source || ':' || p_type like g.pattern
        returning group_name)
    select array_agg(a.group_name) into v_groups from added a;
    return coalesce(v_groups, '{}');
end $$;

-- Makes a group of consumers known. What was published within p_since before its first subscription is its, too.
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
        insert into event_work (tenant_id, source, event_id, group_name, streamed_at)
        select e.tenant_id, e.source, e.id, p_name, '-infinity' from events e
        where e.received_at > clock_timestamp() - p_since and e.source || ':' || e.type like p_pattern
        on conflict do nothing returning 1)
    select p_name, count(*) from made;
end $$;

-- Forgets a subscription; with its last pattern, what waited for the group is gone, too.
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

-- What waits for a group although a stream had time to bring it: lost, due again, or left by the dead.
create function find_event_work(p_group text, p_after interval, p_limit int)
returns table (tenant_id text, source text, event_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query update event_work w set streamed_at = clock_timestamp()
    from (select f.tenant_id, f.source, f.event_id from event_work f
          where f.group_name = p_group and f.state = 'waiting' and f.next_attempt_at <= clock_timestamp()
            and f.streamed_at < clock_timestamp() - p_after
            and (f.lease_until is null or f.lease_until < clock_timestamp())
          order by f.next_attempt_at limit p_limit for update skip locked) f
    where w.tenant_id = f.tenant_id and w.source = f.source and w.event_id = f.event_id and w.group_name = p_group
    returning w.tenant_id, w.source, w.event_id;
end $$;

-- Takes one event for a group, until the lease ends. Repeatable by owner.
create function claim_event(
    p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_ttl interval)
returns table (type text, data jsonb, occurred_at timestamptz, attempts int)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query update event_work w
    set attempts = w.attempts + (case when w.owner is not distinct from p_owner then 0 else 1 end),
        owner = p_owner, lease_until = clock_timestamp() + p_ttl
    from events e
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.state = 'waiting' and w.next_attempt_at <= clock_timestamp()
      and (w.lease_until is null or w.lease_until < clock_timestamp() or w.owner = p_owner)
      and e.tenant_id = w.tenant_id and e.source = w.source and e.id = w.event_id
    returning e.type, e.data, e.occurred_at, w.attempts;
end $$;

-- Writes what became of it: done, poison, or waiting again after p_delay; without a reason that burns no attempt.
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
        next_attempt_at = clock_timestamp() + p_delay, streamed_at = '-infinity',
        ended_at = case when p_state <> 'waiting' then clock_timestamp() end
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.owner = p_owner and w.state = 'waiting';
    return found;
end $$;

-- Tries what was set aside once more, as if it had just come.
create function retry_event(p_tenant text, p_source text, p_id text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update event_work w set state = 'waiting', attempts = 0, next_attempt_at = clock_timestamp(),
        streamed_at = '-infinity', ended_at = null
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.state = 'poison';
    return found;
end $$;

-- Gives how many went, and how many more this call could have taken.
create function prune_events(p_before timestamptz, p_limit int)
returns table (pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp as $$
    with gone as (
        delete from events e using (
            select o.tenant_id, o.source, o.id from events o where o.received_at < p_before
            order by o.received_at limit p_limit for update skip locked) o
        where e.tenant_id = o.tenant_id and e.source = o.source and e.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

-- The source behind an address: by its id, or by its name where the secret's hash names the tenant.
create function find_event_source(p_source text, p_hash bytea)
returns table (tenant_id text, source_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.tenant_id, s.id from event_sources s
    where s.id = p_source or (s.secret_hash = p_hash and s.name = p_source)
    order by s.id = p_source desc limit 1
$$;

-- Whether anybody waits for what a person's channels publish: an active task of theirs on events, or a plugin that
-- said so. All others' messages cost these two look-ups.
create function wants_channel_events(p_tenant text)
returns boolean
language sql stable as $$
    select exists (select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE')
        or exists (select 1 from tenants t where t.tenant_id = p_tenant and t.channel_events)
$$;

-- A person's channels publish, where wanted, what came and what could not be delivered.
create function note_received()
returns trigger
language plpgsql as $$
begin
    if wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'message.received',
            jsonb_build_object('message_id', new.id, 'conversation_id', new.conversation_id, 'text', new.text,
                               'media', jsonb_array_length(new.media)), new.received_at)
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id;
    end if;
    return null;
end $$;
create trigger inbound_event after insert on inbound
    for each row when (new.state = 'waiting' and new.command is null) execute function note_received();

create function note_undelivered()
returns trigger
language plpgsql as $$
begin
    if wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'delivery.failed',
            jsonb_build_object('outbound_id', new.id, 'conversation_id', new.conversation_id, 'kind', new.kind,
                               'reason', new.reason), clock_timestamp())
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id;
    end if;
    return null;
end $$;
create trigger outbound_event after update of state on outbound
    for each row when (old.state <> 'failed' and new.state = 'failed') execute function note_undelivered();

alter table event_groups enable row level security;
alter table event_groups force row level security;
create policy nobodys on event_groups for select using (true);
create policy owner on event_groups to current_user using (true) with check (true);
grant select on event_groups to onevalet_app;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['event_sources', 'events', 'event_work'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('publish_event', 'add_event_group', 'drop_event_group', 'find_event_work', 'claim_event',
                            'end_event', 'retry_event', 'prune_events', 'find_event_source', 'wants_channel_events',
                            'note_received', 'note_undelivered')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
