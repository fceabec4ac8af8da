-- Messages that did not arrive, or wait, and what an operator does about them.

-- Lists them, of one person, or of everybody where p_tenant is empty, the newest first, from a place on; ids, states
-- and times only. 'undelivered' are those that a provider took and then reported as not delivered. A reply that is still
-- growing is held too, and is none of them. Planned for each call, since a person's own are found by another index.
create function find_unsettled(p_tenant text, p_state text, p_before timestamptz, p_before_id text, p_limit int)
returns table (tenant_id text, outbound_id text, at timestamptz, state text)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select o.tenant_id, o.id, o.created_at, case o.state when 'sent' then 'undelivered' else o.state end from outbound o
    where (o.state in ('held', 'failed', 'ambiguous') or o.state = 'sent' and o.undelivered)
      and o.resolution = '' and o.stream_at is null
      and (p_tenant = '' or o.tenant_id = p_tenant)
      and (p_state = '' or o.state = case p_state when 'undelivered' then 'sent' else p_state end)
      and (o.created_at, o.id) < (coalesce(p_before, 'infinity'), p_before_id)
    order by o.created_at desc, o.id desc
    limit p_limit;
end $$;

-- Lists the people whose notifications are held, with how many and until when; ids, counts and times only.
create function find_held_people(p_limit int)
returns table (tenant_id text, held bigint, until timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select n.tenant_id, count(*), min(n.not_before) from notifications n
    where n.state = 'held' group by n.tenant_id order by min(n.not_before), n.tenant_id limit p_limit
$$;

-- Lists who said STOP or START, was blocked or could be reached again, the newest first, from a place on: of one person, or
-- of everybody where p_tenant is empty. Of an address only its end is told; the person's rows have the rest.
create function list_consents(p_tenant text, p_before bigint, p_limit int)
returns table (id bigint, channel text, ending text, state text, how text, at timestamptz, tenant_id text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
    if p_tenant = '' then
        return query select c.id, c.channel, right(c.user_key, 4), c.state, c.how, c.at, d.person
        from consents c
        left join directory d on d.channel = c.channel and d.account = c.account and d.user_key = c.user_key
        where c.id < coalesce(p_before, 9223372036854775807)
        order by c.id desc limit p_limit;
        return;
    end if;
    -- From the person's addresses, which are few, to what was said at them.
    return query select c.id, c.channel, right(c.user_key, 4), c.state, c.how, c.at, p_tenant
    from identities i cross join lateral (
        select e.* from consents e
        where e.channel = i.channel and e.account = i.account and e.user_key = i.user_key
          and e.id < coalesce(p_before, 9223372036854775807)
        order by e.id desc limit p_limit) c
    where i.tenant_id = p_tenant
    order by c.id desc limit p_limit;
end $$;

-- Sends a message again that failed, was taken and not delivered, or of which nobody knows whether it arrived: as a new
-- row behind all that became sendable before it (promise 4), since the old one has used up its attempts. Parts that
-- arrived are not sent twice, except those of a card: what it says of its time may hold no more, and it is approved whole.
-- Returns 'resent', or why not: 'open' (it is still being sent, or arrived), 'settled' (that was decided already),
-- 'unreachable' (promise 8: its person said STOP), 'over' (its card asks for nothing any more), 'missing'. Repeating it
-- with the same p_new returns the same. News goes on as the new row: it is not sent to another place meanwhile.
create function resend_outbound(p_tenant text, p_outbound text, p_new text)
returns table (outcome text, conversation_id text)
language plpgsql as $$
declare
    v_conversation text;
    v_seq bigint;
    v_news text;
    v outbound%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- 1. Lock the conversation, the message and its notification.
    select o.conversation_id into v_conversation from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    select c.out_seq into v_seq from conversations c
    where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    -- Its turn first, of which the new message is one too.
    perform 1 from turns t where t.tenant_id = p_tenant and t.id = (
        select o.turn_id from outbound o where o.tenant_id = p_tenant and o.id = p_outbound) for key share;
    select o.* into v from outbound o where o.tenant_id = p_tenant and o.id = p_outbound for no key update;
    select n.state into v_news from notifications n
    where n.tenant_id = p_tenant and n.outbound_id = p_outbound for update;
    -- 2. Find out whether it may be sent again.
    outcome := case
        when v.id is null then 'missing'
        when exists (select from outbound n where n.tenant_id = p_tenant and n.id = p_new and n.resends = p_outbound)
            then 'resent'
        when v.state not in ('failed', 'ambiguous') and not (v.state = 'sent' and v.undelivered) then 'open'
        when v.resolution <> '' or v_news = 'digested' then 'settled'
        when not v.regardless and exists (
            select from conversations c
            left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
            where c.tenant_id = p_tenant and c.id = v_conversation
              and coalesce(i.state, state_of_recipient(c.tenant_id, c.recipient_id)) <> 'active') then 'unreachable'
        when exists (select from approval_cards k where k.tenant_id = p_tenant and k.outbound_id = p_outbound)
             and not exists (
                select from approval_cards k
                join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
                where k.tenant_id = p_tenant and k.outbound_id = p_outbound and a.state = 'pending') then 'over'
        else '' end;
    conversation_id := v_conversation;
    if outcome <> '' then
        return next;
        return;
    end if;
    -- 3. Queue a copy, with the parts that did not arrive, its cards and questions.
    insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, sentences, actions, media, state, seq,
                          regardless, wants_reply, closing, rest, resends, traceparent)
    values (p_tenant, p_new, v_conversation, v.turn_id, v.kind, v.text, v.sentences, v.actions, v.media, 'ready',
            v_seq + 1, v.regardless, v.wants_reply, v.closing, v.rest, p_outbound, v.traceparent);
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_new, row_number() over (order by e.part), p_new || '.' || e.part, e.text, e.data, e.segments
    from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
      and v.kind <> 'card' and (e.state <> 'sent' or e.status in ('undelivered', 'failed'));
    insert into approval_cards (tenant_id, outbound_id, approval_id, role)
    select p_tenant, p_new, k.approval_id, k.role from approval_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    insert into question_cards (tenant_id, outbound_id, question_id)
    select p_tenant, p_new, k.question_id from question_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    -- 4. Settle the first one.
    update conversations c set out_seq = v_seq + 1 where c.tenant_id = p_tenant and c.id = v_conversation;
    update notifications n set state = 'queued', outbound_id = p_new
    where n.tenant_id = p_tenant and n.outbound_id = p_outbound and n.state in ('failed', 'nowhere', 'held');
    -- Nobody is told any more that they may miss it.
    update outbound o set resolution = 'resent', told_missing_by = coalesce(o.told_missing_by, o.id)
    where o.tenant_id = p_tenant and o.id = p_outbound;
    outcome := 'resent';
    return next;
end $$;

-- Decides that a message which did not arrive is not sent again; it stays in its conversation. Returns 'dropped', or
-- why not: 'open', 'settled' or 'missing'. Repeating it changes nothing.
create function drop_outbound(p_tenant text, p_outbound text)
returns text
language plpgsql as $$
declare
    v record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.state, o.resolution, o.undelivered into v from outbound o
    where o.tenant_id = p_tenant and o.id = p_outbound for no key update;
    if not found then
        return 'missing';
    elsif v.state not in ('failed', 'ambiguous') and not (v.state = 'sent' and v.undelivered) then
        return 'open';
    elsif v.resolution in ('resent', 'elsewhere') then
        return 'settled';
    end if;
    update outbound o set resolution = 'dropped' where o.tenant_id = p_tenant and o.id = p_outbound;
    return 'dropped';
end $$;
