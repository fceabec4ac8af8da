-- Approvals: requested, sent, decided once, expired, and redrawn on their cards.

create function audit_approval(
    p_tenant text, p_approval text, p_at timestamptz, p_what text, p_identity text, p_channel text, p_how text,
    p_detail jsonb)
returns void
language sql as $$
    insert into approval_audit (tenant_id, approval_id, at, what, hash, identity_id, channel, how, detail)
    select a.tenant_id, a.id, p_at, p_what, a.hash, p_identity, p_channel, p_how, p_detail
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

create function approval_hash(p_head text, p_expires_at timestamptz, p_tail text)
returns text
language sql immutable as $$
    select encode(sha256(convert_to(
        p_head || to_char(p_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || p_tail, 'UTF8')), 'hex')
$$;

-- Issues an approval the first free one of the caller's candidate codes. Repeatable by its holder.
create function issue_code(p_tenant text, p_holder text, p_codes text[], p_now timestamptz, p_rest interval)
returns text
language plpgsql as $$
declare
    v_code text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.code into v_code from approval_codes c where c.tenant_id = p_tenant and c.holder = p_holder;
    if found then
        return v_code;
    end if;
    foreach v_code in array p_codes loop
        insert into approval_codes as c (tenant_id, code, holder, issued_at) values (p_tenant, v_code, p_holder, p_now)
        on conflict on constraint approval_codes_pkey
        do update set holder = excluded.holder, issued_at = excluded.issued_at
        where c.issued_at < p_now - p_rest
          and not exists (select 1 from approvals a
                          where a.tenant_id = p_tenant and a.code = c.code and a.state = 'pending');
        if found then
            return v_code;
        end if;
    end loop;
    return null;
end $$;

-- Fixes expiry and hash once the card has been sent; later calls change nothing.
create function start_approval(p_tenant text, p_approval text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    update approvals a
    set expires_at = date_trunc('second', p_now + a.timeout),
        hash = approval_hash(a.sealed_head, date_trunc('second', p_now + a.timeout), a.sealed_tail),
        remind_at = case when a.timeout >= interval '10 minutes' then p_now + a.timeout * 0.8 end
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'sent', '', '', '', '{}');
    end if;
end $$;

-- Locks the lane of a turn. It is always locked before the turn's approvals, so that decisions and the turn's end are
-- serialised.
create function lock_turn(p_tenant text, p_turn text)
returns void
language plpgsql as $$
begin
    perform 1 from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where t.tenant_id = p_tenant and t.id = p_turn for no key update of l;
end $$;

-- Expires approvals that have waited too long, for all people; their turns resume and say so. Approvals of a turn that
-- has ended end with it. A lane that is locked now is left to the next run.
create function expire_approvals(p_now timestamptz, p_limit int)
returns table (tenant_id text, approval_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id from approvals a
        join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        where a.state = 'pending' and (a.expires_at <= p_now or t.state not in ('running', 'waiting'))
        order by a.expires_at limit p_limit
    loop
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for no key update skip locked;
        continue when not found;
        update approvals a set state = 'expired', decided_at = p_now, confirm_hash = null,
            decided_how = case when a.expires_at <= p_now then 'expiry' else 'its turn ended' end
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending'
          and (a.expires_at <= p_now or exists (select 1 from turns t where t.tenant_id = v_row.tenant_id
               and t.id = v_row.turn_id and t.state not in ('running', 'waiting')));
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'expiry', '{}');
            perform draw_outcome(v_row.tenant_id, v_row.id, 'expired', p_now);
            return query select v_row.tenant_id, v_row.id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;

create function due_reminders(p_now timestamptz, p_limit int)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and a.remind_at <= p_now and a.expires_at > p_now and not is_halted()
    order by a.remind_at limit p_limit
$$;

-- After two people became one: an approval is bound to the person who was asked, so each is requested again.
create function reissue_approvals(p_tenant text, p_now timestamptz)
returns int
language plpgsql as $$
declare
    v_row record;
    v_count int := 0;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_row in select a.id, a.turn_id from approvals a
                 join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
                 where a.tenant_id = p_tenant and a.state = 'pending' order by t.lane_id, a.id
    loop
        perform lock_turn(p_tenant, v_row.turn_id);
        update approvals a set state = 'replaced', reason = 'reissued', decided_at = p_now, decided_how = 'reissue'
        where a.tenant_id = p_tenant and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(p_tenant, v_row.id, p_now, 'reissued', '', '', '', '{}');
            perform draw_outcome(p_tenant, v_row.id, 'reissued', p_now);
            perform wake_turn(p_tenant, v_row.turn_id);
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end $$;

create function find_approval(p_token text)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a where a.token = p_token
$$;

-- Lists pending approvals of all people, of one code if given; for the operator.
create function find_pending(p_code text, p_limit int)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and (p_code = '' or a.code = p_code) order by a.created_at, a.id limit p_limit
$$;

-- Schedules a redraw of every card of an approval, on every channel, to show the outcome: the key of a line, said when
-- the card is drawn.
create function draw_outcome(p_tenant text, p_approval text, p_outcome text, p_now timestamptz)
returns void
language sql as $$
    insert into redraws as r (tenant_id, outbound_id, outcome, outcome_at)
    select c.tenant_id, c.outbound_id, p_outcome, p_now
    from approval_cards c where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
    on conflict on constraint redraws_pkey do update
    set outcome = excluded.outcome, outcome_at = excluded.outcome_at, state = 'due', attempts = 0, next_attempt_at = clock_timestamp()
$$;

-- Writes a request for consent, committed with its card and with the turn that asks.
create function write_approval(p_tenant text, p_conversation text, p_turn text, p_approval jsonb)
returns void
language plpgsql as $$
begin
    insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
                           form, risk, source, code, token, timeout, sealed_head, sealed_tail, created_at,
                           editable)
    values (p_tenant, p_approval ->> 'id', p_turn, p_approval ->> 'place', (p_approval ->> 'generation')::int,
            p_conversation, p_approval ->> 'name', p_approval ->> 'summary', p_approval -> 'arguments',
            p_approval -> 'shown', p_approval -> 'form', p_approval ->> 'risk', p_approval ->> 'source',
            p_approval ->> 'code', p_approval ->> 'token', make_interval(secs => (p_approval ->> 'seconds')::float),
            p_approval ->> 'sealed_head', p_approval ->> 'sealed_tail', (p_approval ->> 'created_at')::timestamptz,
            coalesce((p_approval ->> 'editable')::boolean, true))
    on conflict on constraint approvals_pkey do nothing;
    if found then
        perform audit_approval(p_tenant, p_approval ->> 'id', (p_approval ->> 'created_at')::timestamptz, 'requested',
                               '', '', '', p_approval -> 'arguments');
        -- Somebody else who must agree, `also` in p_approval, is asked by their sql/write_approval.sql.
    end if;
end $$;

-- Returns another person's consent to an approved action, {name, code, hash, how, decided_on, decided_at}; null without one.
create function also_agreed(p_tenant text, p_approval text)
returns jsonb
language plpgsql stable as $$
begin
    return (select w.agreed from (
        select null::jsonb as agreed where false
        -- What they know of it comes from their sql/also_agreed.sql.
        ) w limit 1);
end $$;

-- A line as Markdown that reads as the line itself; core/messaging/visible_text.py has the same.
create function literal(p_line text)
returns text
language sql immutable as $$
    select regexp_replace(p_line, '[\\`*~\[\]<]|&(?=#?[0-9A-Za-z]+;)|(?<![[:alnum:]])_|_(?![[:alnum:]])', '\\\&', 'g')
$$;

-- Returns a sentence about an approval by its key, with the values that it may need; its words are chosen when it is
-- sent. p_number: the confirmation number, which only the sentence that asks for it has.
create function about_approval(p_tenant text, p_approval text, p_key text, p_number text default '')
returns jsonb
language sql stable as $$
    select jsonb_build_object('key', p_key, 'values', jsonb_build_object(
        'code', a.code, 'summary', a.summary, 'decided_on', a.decided_channel, 'decided_at', a.decided_at,
        'expires_at', a.expires_at)
        || case when p_key = 'confirm' then jsonb_build_object('number', p_number) else '{}' end)
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

create function set_tenant(p_tenant text)
returns text
language sql as $$
    select set_config('onevalet.tenant', p_tenant, true)
$$;

-- Records the run of an approved action; the first call counts.
create function approval_ran(p_tenant text, p_approval text, p_outcome text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update approvals a set ran_at = p_now
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'approved' and a.ran_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'ran', '', '', p_outcome, '{}');
    end if;
end $$;

-- Also shows a high-risk approval that came by SMS or email in the person's newest other chat, once. Returns that
-- conversation.
create function show_elsewhere(p_tenant text, p_approval text, p_outbound text)
returns text
language plpgsql as $$
declare
    v_channel text;
    v_other text;
    v_card outbound%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.channel into v_channel from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id and c.channel in ('sms', 'email')
    where k.tenant_id = p_tenant and k.approval_id = p_approval and k.role = 'card' limit 1;
    v_other := other_conversation(p_tenant, v_channel);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_other for no key update;
    select o.* into v_card from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id and c.channel = v_channel
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending' and a.risk = 'high'
    where k.tenant_id = p_tenant and k.approval_id = p_approval and k.role = 'card'
      and (select count(*) from approval_cards n
           where n.tenant_id = p_tenant and n.approval_id = p_approval and n.role = 'card') = 1;
    if v_card.id is null or v_other is null then
        return null;
    end if;
    perform enqueue(p_tenant, v_other, v_card.turn_id, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'card', 'text', v_card.text, 'actions', v_card.actions,
        'closing', v_card.closing, 'shows', p_approval)));
    return v_other;
end $$;

-- Returns the code of the approval whose card or prompt a person's reply answers, or null.
create function answered_card(p_tenant text, p_conversation text, p_reply_to text)
returns text
language sql stable as $$
    select a.code from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id and o.conversation_id = p_conversation
    join approval_cards k on k.tenant_id = e.tenant_id and k.outbound_id = e.outbound_id
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
    where p_reply_to <> '' and e.tenant_id = p_tenant and e.provider_id = p_reply_to limit 1
$$;

-- Reminds once, where the card is, and records it in the same transaction. Returns the conversation.
create function remind_approval(p_tenant text, p_approval text, p_outbound text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select a.conversation_id into v_conversation from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    update approvals a set remind_at = null
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.remind_at <= p_now;
    if not found then
        return null;
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'reminded', '', '', '', '{}');
    perform enqueue(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'notification',
        'sentences', jsonb_build_array(about_approval(p_tenant, p_approval, 'reminder')))));
    return v_conversation;
end $$;

-- Reminds now, because somebody in the console asks for it; not again within p_gap, and once for an outbound id. p_by: the
-- channel and how. Returns the conversation.
create function remind_approval_now(
    p_tenant text, p_approval text, p_outbound text, p_by jsonb, p_gap interval, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id into v_conversation from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    if found then
        return v_conversation;
    end if;
    select a.conversation_id into v_conversation from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    -- What is due within the gap would say the same again.
    update approvals a set remind_at = case when a.remind_at > p_now + p_gap then a.remind_at end
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at > p_now
      and not exists (select from approval_audit u
                      where u.tenant_id = p_tenant and u.approval_id = p_approval and u.what = 'reminded'
                        and u.at > p_now - p_gap);
    if not found then
        return null;
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'reminded', '', p_by ->> 'channel', p_by ->> 'how', '{}');
    perform enqueue(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'notification',
        'sentences', jsonb_build_array(about_approval(p_tenant, p_approval, 'reminder')))));
    return v_conversation;
end $$;

-- Claims a redraw that is due, of the newest part of a card that was sent; one that is being sent is waited for.
-- Materialized: see claim_next_event.
create function claim_redraw(p_ttl interval)
returns table (tenant_id text, outbound_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if is_halted() then
        return;
    end if;
    return query
    with due as materialized (
        select d.tenant_id, d.outbound_id from redraws d
        join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
        where d.state = 'due' and d.next_attempt_at <= clock_timestamp()
          and (d.lease_until is null or d.lease_until < clock_timestamp())
          and o.state in ('sent', 'ambiguous', 'failed')
        order by d.next_attempt_at limit 1 for update of d skip locked)
    update redraws r set lease_until = clock_timestamp() + p_ttl, fence = r.fence + 1, attempts = r.attempts + 1
    from due
    where r.tenant_id = due.tenant_id and r.outbound_id = due.outbound_id
    returning r.tenant_id, r.outbound_id, r.fence;
end $$;

-- Erases the numbers that proved possession of a phone, from what was sent too, once they have expired or been used.
create function scrub_numbers(p_now timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_row record;
    v_count int := 0;
begin
    for v_row in
        select c.tenant_id, c.outbound_id from approval_cards c
        join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where c.role = 'number' and (a.confirm_hash is null or a.confirm_until <= p_now)
          and o.state in ('sent', 'ambiguous', 'failed')
        limit p_limit
    loop
        update outbound o set text = regexp_replace(o.text, '\m\d{6}\M', '******', 'g'), sentences = '[]'
        where o.tenant_id = v_row.tenant_id and o.id = v_row.outbound_id;
        update outbound_parts e set text = regexp_replace(e.text, '\m\d{6}\M', '******', 'g')
        where e.tenant_id = v_row.tenant_id and e.outbound_id = v_row.outbound_id;
        delete from approval_cards c where c.tenant_id = v_row.tenant_id and c.outbound_id = v_row.outbound_id;
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;

-- Repairs cards that were sent but whose expiry was not fixed (the sender died), and cards that could not be sent.
create function sweep_cards(p_now timestamptz, p_limit int)
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id,
               bool_or(o.state in ('sent', 'ambiguous')) as sent, bool_and(o.state = 'failed') as failed
        from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        join approval_cards c on c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where a.state = 'pending' and a.expires_at is null
        group by a.tenant_id, a.id, a.turn_id, t.lane_id
        having bool_or(o.state in ('sent', 'ambiguous')) or bool_and(o.state = 'failed') limit p_limit
    loop
        -- A lane that is locked now is left to the next run.
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for no key update skip locked;
        continue when not found;
        if v_row.sent then
            perform start_approval(v_row.tenant_id, v_row.id, p_now);
            continue;
        end if;
        update approvals a set state = 'expired', reason = 'not_shown', decided_at = p_now, decided_how = 'not_shown'
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'not_shown', '{}');
            return query select v_row.tenant_id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;
