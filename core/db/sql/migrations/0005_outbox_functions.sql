-- The way out: one open row at a time per conversation, an attempt row before every provider call.

-- Takes the head of a conversation's outbox: the named one's, or whichever is due longest. Repeatable by owner.
create function claim_outbound(p_conversation text, p_owner text, p_ttl interval)
returns table (tenant_id text, outbound_id text, conversation_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_id text;
begin
    return query select o.tenant_id, o.id, o.conversation_id, o.fence from outbound o
    where o.owner = p_owner and o.lease_until > clock_timestamp() and o.state in ('ready', 'sending', 'checking');
    if found then
        return;
    end if;
    select o.tenant_id, o.id into v_tenant, v_id from outbound o
    where o.state in ('ready', 'sending', 'checking')
      and (p_conversation is null or o.conversation_id = p_conversation)
      and o.next_attempt_at <= clock_timestamp()
      and (o.lease_until is null or o.lease_until < clock_timestamp())
      and not exists (
          select 1 from outbound e
          where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.seq < o.seq
            and e.state in ('ready', 'sending', 'checking'))
    order by o.next_attempt_at limit 1 for update skip locked;
    if v_id is null then
        return;
    end if;
    return query update outbound o
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = o.fence + 1,
        state = case when o.state = 'ready' then 'sending' else o.state end
    where o.tenant_id = v_tenant and o.id = v_id
    returning o.tenant_id, o.id, o.conversation_id, o.fence;
end $$;
create index outbound_owner on outbound (owner) where owner is not null;

create function hold_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from outbound o
    where o.tenant_id = p_tenant and o.id = p_outbound and o.fence = p_fence and o.owner is not null for update;
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

-- Letting go is repeatable: the fence rises with each claim only, so a row without an owner that still has our
-- fence was let go by us.
create function outbound_let_go(p_tenant text, p_outbound text, p_fence bigint)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound
                   and o.fence = p_fence and o.owner is null);
end $$;

-- Keeps the rendering of the first attempt, so that a later one sends the very same parts.
create function keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb)
returns setof outbound_parts
language plpgsql as $$
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_outbound, (v.value ->> 'part')::int, v.value ->> 'ref', v.value ->> 'text',
           v.value -> 'data', (v.value ->> 'segments')::int
    from jsonb_array_elements(p_parts) v
    where not exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound)
    on conflict on constraint outbound_parts_pkey do nothing;
    return query select * from outbound_parts e
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound order by e.part;
end $$;

-- Commits the attempt before the call leaves; prolongs the lease to cover it. Says 'go', or why the call must
-- not be made: 'sent' (a callback proved meanwhile that the part arrived), 'unreachable' (the person said STOP
-- meanwhile; promise 8).
create function begin_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_owner text, p_ttl interval)
returns text
language plpgsql as $$
declare
    v_lost int;
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    if exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
               and e.part = p_part and e.state = 'sent') then
        return 'sent';
    end if;
    if exists (select 1 from outbound o
               join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
               join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
               where o.tenant_id = p_tenant and o.id = p_outbound and o.kind <> 'receipt' and i.state <> 'active') then
        return 'unreachable';
    end if;
    -- An earlier sender died over its call: nobody else will write what became of it.
    update deliveries d set finished_at = clock_timestamp(), outcome = 'ambiguous'
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part
      and d.attempt < p_attempt and d.outcome = 'started';
    get diagnostics v_lost = row_count;
    insert into deliveries (tenant_id, outbound_id, part, attempt, owner)
    values (p_tenant, p_outbound, p_part, p_attempt, p_owner)
    on conflict (tenant_id, outbound_id, part, attempt) do nothing;
    update outbound_parts e set state = 'sending'
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part;
    update outbound o
    set state = 'sending', attempts = p_attempt, ambiguities = o.ambiguities + v_lost,
        lease_until = clock_timestamp() + p_ttl
    where o.tenant_id = p_tenant and o.id = p_outbound;
    return 'go';
end $$;

-- Where a row stands by its parts, once nothing failed: 'sending' while one is open.
create function outbound_state(p_tenant text, p_outbound text)
returns text
language sql as $$
    select case
        when count(*) filter (where e.state in ('ready', 'sending', 'checking')) > 0 then 'sending'
        when count(*) filter (where e.state = 'ambiguous') > 0 then 'ambiguous'
        else 'sent' end
    from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
$$;

-- Ends a claimed row whose parts have all ended without its sender: callbacks told.
create function settle_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns text
language plpgsql as $$
declare
    v_state text;
begin
    if not outbound_let_go(p_tenant, p_outbound, p_fence) then
        perform hold_outbound(p_tenant, p_outbound, p_fence);
        update outbound o
        set state = outbound_state(p_tenant, p_outbound), owner = null, lease_until = null,
            sent_at = case when outbound_state(p_tenant, p_outbound) = 'sent' then clock_timestamp() end
        where o.tenant_id = p_tenant and o.id = p_outbound and outbound_state(p_tenant, p_outbound) <> 'sending';
    end if;
    select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    return v_state;
end $$;

-- Writes what became of an attempt: p_part_state sent, ready (again), checking, ambiguous or failed. Repeating
-- it changes nothing. The row follows: sent with its last part; ready or checking until p_delay from now; ambiguous parts let the
-- rest go on; failed ends it, and p_identity_state (if any) is written to the identity (promise 8).
create function end_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_part_state text,
    p_outcome text, p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval,
    p_identity_state text)
returns text
language plpgsql as $$
declare
    v_state text;
    v_before text;
    v_conversation text;
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
        return v_state;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    select d.outcome into v_before from deliveries d
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    update deliveries d
    set finished_at = clock_timestamp(), outcome = p_outcome, error_code = p_error_code, provider_id = p_provider_id
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    -- A callback that carried our ref may have resolved the part already: that knowledge is never undone.
    update outbound_parts e
    set state = case when e.state = 'sent' then 'sent' else p_part_state end,
        provider_id = case when p_provider_id <> '' then p_provider_id else e.provider_id end,
        degraded = e.degraded or p_degraded,
        error_code = case when p_part_state = 'sent' then '' else p_error_code end,
        sent_at = case when p_part_state = 'sent' then coalesce(e.sent_at, clock_timestamp()) else e.sent_at end
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part
    returning e.state into v_state;
    if v_state not in ('failed', 'ready', 'checking') then
        v_state := outbound_state(p_tenant, p_outbound);
    end if;
    update outbound o
    set state = v_state,
        reason = case when v_state = 'sent' then '' when p_reason <> '' then p_reason else o.reason end,
        ambiguities = o.ambiguities
            + (case when v_before = 'started' and p_outcome in ('ambiguous', 'found', 'left') then 1 else 0 end),
        next_attempt_at = case when v_state in ('ready', 'checking') then clock_timestamp() + p_delay
                               else o.next_attempt_at end,
        owner = case when v_state = 'sending' then o.owner end,
        lease_until = case when v_state = 'sending' then o.lease_until end,
        sent_at = case when v_state = 'sent' then clock_timestamp() else o.sent_at end
    where o.tenant_id = p_tenant and o.id = p_outbound
    returning o.conversation_id into v_conversation;
    if p_identity_state <> '' then
        update identities i set state = p_identity_state, state_reason = p_outcome, state_at = clock_timestamp()
        from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation
          and i.tenant_id = c.tenant_id and i.id = c.identity_id and i.state = 'active';
    end if;
    if p_part_state = 'sent' then
        perform mark_channel(c.channel, c.account, false) from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation;
    end if;
    return v_state;
end $$;

-- Ends a row that may not be sent at all (its person said STOP, or it cannot be rendered).
create function fail_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text)
returns void
language plpgsql as $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'failed', reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Gives a row back untouched, for a shutdown between parts.
create function give_back_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set owner = null, lease_until = null,
        state = case when o.state = 'sending' then 'ready' else o.state end
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- The provider moved the chat: what follows goes to its new address.
create function move_conversation(p_tenant text, p_conversation text, p_peer text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update conversations c set peer = p_peer
    where c.tenant_id = p_tenant and c.id = p_conversation
      and not exists (
          select 1 from conversations o
          where o.tenant_id = c.tenant_id and o.channel = c.channel and o.account = c.account
            and o.peer = p_peer and o.thread = c.thread);
end $$;

create function find_part(p_channel text, p_account text, p_ref text, p_provider_id text)
returns table (tenant_id text, outbound_id text, part int)
language sql stable security definer set search_path = public, pg_temp as $$
    select e.tenant_id, e.outbound_id, e.part
    from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where c.channel = p_channel and c.account = p_account
      and (e.ref = p_ref or (p_ref = '' and p_provider_id <> '' and e.provider_id = p_provider_id))
    limit 1
$$;

-- A status callback: applied by rank, never back. It also proves that a part whose answer was lost did arrive
-- (or was taken although the provider answered that it was not), and lets the row go on at once.
create function apply_status(
    p_channel text, p_account text, p_ref text, p_provider_id text, p_status text, p_rank int, p_error_code text)
returns table (tenant_id text, conversation_id text, resolved boolean)
language plpgsql as $$
declare
    v_tenant text;
    v_outbound text;
    v_part int;
    v_conversation text;
    v_before text;
begin
    select f.tenant_id, f.outbound_id, f.part into v_tenant, v_outbound, v_part
    from find_part(p_channel, p_account, p_ref, p_provider_id) f;
    if v_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    select o.conversation_id into v_conversation from outbound o
    where o.tenant_id = v_tenant and o.id = v_outbound for update;
    select e.state into v_before from outbound_parts e
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part for update;
    update outbound_parts e
    set status = case when p_rank > e.status_rank then p_status else e.status end,
        status_at = case when p_rank > e.status_rank then clock_timestamp() else e.status_at end,
        error_code = case when p_rank > e.status_rank then p_error_code else e.error_code end,
        status_rank = greatest(e.status_rank, p_rank),
        provider_id = case when e.provider_id = '' then p_provider_id else e.provider_id end,
        state = case when e.state = 'failed' then e.state else 'sent' end,
        sent_at = case when e.state = 'failed' then e.sent_at else coalesce(e.sent_at, clock_timestamp()) end
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part;
    -- Whoever holds the row sees it for himself when he writes what became of his call.
    if v_before in ('ready', 'sending', 'checking', 'ambiguous') then
        update outbound o
        set state = v.state, next_attempt_at = clock_timestamp(),
            reason = case when v.state = 'sent' then '' else o.reason end,
            sent_at = case when v.state = 'sent' then clock_timestamp() else o.sent_at end
        from (select case outbound_state(v_tenant, v_outbound) when 'sending' then 'ready'
                     else outbound_state(v_tenant, v_outbound) end as state) v
        where o.tenant_id = v_tenant and o.id = v_outbound and o.owner is null and o.state <> 'failed';
    end if;
    return query select v_tenant, v_conversation, v_before in ('ready', 'sending', 'checking', 'ambiguous');
end $$;
