-- The way in: one round trip, one transaction, repeatable by its keys.

-- Lookups across tenants return ids only.
create function find_identity(p_channel text, p_account text, p_user_key text)
returns table (tenant_id text, identity_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select i.tenant_id, i.id from identities i
    where i.channel = p_channel and i.account = p_account and i.user_key = p_user_key
$$;

create function find_received(p_channel text, p_account text, p_keys text[])
returns table (tenant_id text, inbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select k.tenant_id, k.inbound_id from inbox_keys k
    where k.channel = p_channel and k.account = p_account and k.key = any (p_keys) limit 1
$$;

-- Whoever writes for the first time becomes a tenant of their own. The lock makes two first messages that
-- arrive together meet the same tenant.
create function admit_identity(
    p_channel text, p_account text, p_user_key text, p_name text, p_timezone text,
    p_tenant_id text, p_identity_id text)
returns table (tenant_id text, identity_id text)
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_channel || chr(31) || p_account || chr(31) || p_user_key, 0));
    return query select * from find_identity(p_channel, p_account, p_user_key);
    if found then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant_id, true);
    insert into tenants (tenant_id, name, timezone) values (p_tenant_id, p_name, p_timezone);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone)
    values (p_tenant_id, p_identity_id, p_channel, p_account, p_user_key, p_name, p_timezone);
    return query select p_tenant_id, p_identity_id;
end $$;

create function open_conversation(
    p_tenant_id text, p_identity_id text, p_channel text, p_account text, p_peer text, p_thread text, p_id text)
returns text
language plpgsql as $$
declare
    v_id text;
begin
    perform set_config('onevalet.tenant', p_tenant_id, true);
    select c.id into v_id from conversations c
    where c.tenant_id = p_tenant_id and c.channel = p_channel and c.account = p_account
      and c.peer = p_peer and c.thread = p_thread;
    if v_id is null then
        insert into conversations (tenant_id, id, identity_id, channel, account, peer, thread)
        values (p_tenant_id, p_id, p_identity_id, p_channel, p_account, p_peer, p_thread)
        on conflict (tenant_id, channel, account, peer, thread) do nothing;
        select c.id into v_id from conversations c
        where c.tenant_id = p_tenant_id and c.channel = p_channel and c.account = p_account
          and c.peer = p_peer and c.thread = p_thread;
    end if;
    return v_id;
end $$;

-- At most once a second and account: a busy account must not queue on this one row.
create function mark_channel(p_channel text, p_account text, p_in boolean)
returns void
language plpgsql as $$
begin
    if exists (select 1 from channel_state s where s.channel = p_channel and s.account = p_account
               and case when p_in then s.last_in_at else s.last_out_at end > clock_timestamp() - interval '1 second') then
        return;
    end if;
    insert into channel_state as s (channel, account, last_in_at, last_out_at)
    values (p_channel, p_account, case when p_in then clock_timestamp() end, case when not p_in then clock_timestamp() end)
    on conflict (channel, account) do update
    set last_in_at = coalesce(excluded.last_in_at, s.last_in_at),
        last_out_at = coalesce(excluded.last_out_at, s.last_out_at);
end $$;

create function receive_message(
    p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text,
    p_keys text[], p_text text, p_media jsonb, p_command jsonb, p_provider_id text, p_sent_at timestamptz,
    p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_state text;
    v_conversation text;
    v_owner text;
    v_known text;
    v_seq bigint;
    v_added int;
    v_stopping text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity) a;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    -- From here to the commit this conversation is ours: duplicates and seq are decided one at a time.
    perform 1 from conversations c where c.tenant_id = v_tenant and c.id = v_conversation for update;
    select i.state into v_state from identities i where i.tenant_id = v_tenant and i.id = v_identity;

    select r.tenant_id, r.inbound_id into v_owner, v_known from find_received(p_channel, p_account, p_keys) r;
    if v_known is not null then
        insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
        select p_channel, p_account, k, v_tenant, v_known from unnest(p_keys) k where v_owner = v_tenant order by k
        on conflict (channel, account, key) do nothing;
        -- Our own id: this very call committed before, and its answer was lost.
        return query select v_known, v_known <> p_id, v_owner,
            (select i.conversation_id from inbound i
             where i.tenant_id = v_tenant and i.id = p_id and i.state = 'waiting');
        return;
    end if;

    update conversations c set in_seq = c.in_seq + 1, last_inbound_at = clock_timestamp()
    where c.tenant_id = v_tenant and c.id = v_conversation returning c.in_seq into v_seq;
    -- A stop does not queue: it is a flag on the running turn, which the loop looks at between its steps.
    if p_command ->> 'name' = 'stop' and v_state <> 'stopped' then
        update turns t set stop_message = coalesce(p_command ->> 'argument', '')
        where t.tenant_id = v_tenant and t.lane_id = v_conversation and t.state = 'running'
        returning t.id into v_stopping;
    end if;
    insert into inbound (tenant_id, id, conversation_id, seq, text, media, command, provider_id, sent_at,
                         state, reason, turn_id)
    values (v_tenant, p_id, v_conversation, v_seq,
            case when v_state = 'stopped' then '' else p_text end,
            case when v_state = 'stopped' then '[]' else p_media end,
            case when v_state = 'stopped' then null else p_command end, p_provider_id, p_sent_at,
            case when v_state = 'stopped' then 'ignored' when v_stopping is not null then 'done' else 'waiting' end,
            case when v_state = 'stopped' then 'stopped' when v_stopping is not null then 'stop' else '' end,
            v_stopping);
    insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
    select p_channel, p_account, k, v_tenant, p_id from unnest(p_keys) k order by k
    on conflict (channel, account, key) do nothing;
    get diagnostics v_added = row_count;
    if v_added < (select count(distinct k) from unnest(p_keys) k) then
        -- The same message is being taken in through another conversation at this moment.
        raise exception 'inbox key taken meanwhile' using errcode = 'serialization_failure';
    end if;
    perform mark_channel(p_channel, p_account, true);
    if v_state = 'stopped' or v_stopping is not null then
        return query select p_id, false, v_tenant, null::text;
        return;
    end if;
    if v_state = 'blocked' then
        update identities i set state = 'active', state_reason = 'wrote again', state_at = clock_timestamp()
        where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    insert into lanes as l (tenant_id, id, conversation_id, pending, pending_since)
    values (v_tenant, v_conversation, v_conversation, true, clock_timestamp())
    on conflict on constraint lanes_pkey do update
    set pending = true, pending_since = coalesce(l.pending_since, excluded.pending_since);
    return query select p_id, false, v_tenant, v_conversation;
end $$;

-- An authentic message without a turn: no text, and no tenant is made for it. True when none of its keys was
-- known.
create function ignore_message(
    p_channel text, p_account text, p_keys text[], p_reason text)
returns boolean
language plpgsql as $$
declare
    v_added int;
begin
    insert into ignored_messages (channel, account, key, reason)
    select p_channel, p_account, k, p_reason from unnest(p_keys) k order by k
    on conflict (channel, account, key) do nothing;
    get diagnostics v_added = row_count;
    return v_added = (select count(distinct k) from unnest(p_keys) k);
end $$;

-- STOP, START, a blocked or unblocked bot; once per key, so that a replayed STOP does not undo a START.
-- Unknown people have nothing to change.
create function change_reachability(
    p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[])
returns boolean
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
begin
    if cardinality(p_keys) > 0 and not ignore_message(p_channel, p_account, p_keys, p_reason) then
        return false;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        return false;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    update identities i set state = p_state, state_reason = p_reason, state_at = clock_timestamp()
    where i.tenant_id = v_tenant and i.id = v_identity and i.state <> p_state;
    return found;
end $$;

create function find_conversations(p_channel text, p_account text, p_peer text)
returns table (tenant_id text, conversation_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.tenant_id, c.id from conversations c
    where c.channel = p_channel and c.account = p_account and c.peer = p_peer
$$;

-- The provider moved a chat: everything goes on at the new address.
create function change_address(p_channel text, p_account text, p_old text, p_new text)
returns int
language plpgsql as $$
declare
    v_row record;
    v_count int := 0;
begin
    for v_row in select * from find_conversations(p_channel, p_account, p_old) loop
        perform set_config('onevalet.tenant', v_row.tenant_id, true);
        update conversations c set peer = p_new
        where c.tenant_id = v_row.tenant_id and c.id = v_row.conversation_id
          and not exists (
              select 1 from conversations o
              where o.tenant_id = c.tenant_id and o.channel = c.channel and o.account = c.account
                and o.peer = p_new and o.thread = c.thread);
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;
