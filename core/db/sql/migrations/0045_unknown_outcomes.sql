-- A message whose outcome is unknown keeps back what comes after it for two minutes, not for as long as it is tried.
-- What was given up is told with the next message of its conversation, and what is delayed is told elsewhere.

alter table outbound add column unknown_since timestamptz;
alter table outbound add column given_up_at timestamptz;
alter table outbound add column told_missing_by text;
alter table outbound add column delay_told_at timestamptz;
create index outbound_given_up on outbound (tenant_id, conversation_id) where given_up_at is not null;

-- How long an unknown outcome keeps back what comes after it in its conversation.
create function unknown_blocks()
returns interval
language sql immutable as $$
    select interval '2 minutes'
$$;

create or replace function claim_outbound(p_conversation text, p_owner text, p_ttl interval)
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
            and e.state in ('ready', 'sending', 'checking')
            and (e.unknown_since is null or e.unknown_since > clock_timestamp() - unknown_blocks()))
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

create or replace function end_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_part_state text, p_outcome text,
    p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval, p_identity_state text)
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
        -- A part that waits for its next try may still have an earlier call whose outcome is unknown.
        unknown_since = case when v_state = 'checking' then coalesce(o.unknown_since, clock_timestamp())
                             when v_state = 'ready' then o.unknown_since end,
        given_up_at = case when p_outcome in ('left', 'gave_up') or p_part_state = 'ambiguous' then clock_timestamp()
                           else o.given_up_at end,
        owner = case when v_state = 'sending' then o.owner end,
        lease_until = case when v_state = 'sending' then o.lease_until end,
        sent_at = case when v_state = 'sent' then clock_timestamp() else o.sent_at end
    where o.tenant_id = p_tenant and o.id = p_outbound
    returning o.conversation_id into v_conversation;
    if p_identity_state <> '' then
        update identities i
        set state = p_identity_state, state_reason = btrim(p_outcome || ' ' || p_error_code),
            state_at = clock_timestamp()
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

-- Gives (tenant, outbound) of answers that have been tried for so long, of people who have another place: they are told
-- there, once in six hours for a conversation. Notifications go elsewhere by themselves.
create function find_delayed(p_after interval, p_limit int)
returns table (tenant_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select o.tenant_id, o.id from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.state in ('ready', 'sending', 'checking') and o.kind <> 'notification' and not o.regardless
      and o.delay_told_at is null
      and exists (select 1 from deliveries d where d.tenant_id = o.tenant_id and d.outbound_id = o.id
                  and d.started_at < clock_timestamp() - p_after)
      and not exists (select 1 from outbound e where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id
                      and e.delay_told_at > clock_timestamp() - interval '6 hours')
      and exists (select 1 from identities i where i.tenant_id = o.tenant_id and i.state = 'active'
                  and i.admitted <> '' and i.id <> c.identity_id)
    order by o.created_at limit p_limit
$$;

-- Counts, for each of our accounts, the conversations whose answers have been tried for so long, and what was given up.
create function count_delayed(p_after interval)
returns table (channel text, account text, conversations bigint, since timestamptz, next_try timestamptz, reasons text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.channel, c.account, count(distinct c.id), min(d.first), min(o.next_attempt_at),
           string_agg(distinct nullif(o.reason, ''), '; ')
    from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join lateral (select min(x.started_at) as first from deliveries x
                  where x.tenant_id = o.tenant_id and x.outbound_id = o.id) d on d.first < clock_timestamp() - p_after
    where o.state in ('ready', 'sending', 'checking')
    group by c.channel, c.account order by 1, 2
$$;

create function count_given_up(p_within interval)
returns table (given_up bigint, told bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*), count(o.told_missing_by) from outbound o
    where o.given_up_at > clock_timestamp() - p_within and o.state in ('ambiguous', 'failed')
$$;

do $$
declare
    f text;
begin
    foreach f in array array['find_delayed(interval, int)', 'count_delayed(interval)', 'count_given_up(interval)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
