-- Decisions by presses and exact words: in the inbox's own transaction, without a lease.

-- Returns the key of the sentence that says why an approval can no longer be decided.
create function why_decided(p_tenant text, p_approval text, p_now timestamptz)
returns text
language sql stable as $$
    select case
        when a.state = 'pending' and a.expires_at <= p_now then 'expired'
        when a.state = 'pending' and not exists (
            select 1 from turns t
            where t.tenant_id = p_tenant and t.id = a.turn_id and t.state in ('waiting', 'running')) then 'over'
        when a.state = 'pending' and a.hash <> ''
             and a.hash <> approval_hash(a.sealed_head, a.expires_at, a.sealed_tail) then 'altered'
        when a.state = 'pending' then 'pending'
        when a.state = 'replaced' then 'replaced'
        else 'already_' || a.state end
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- High risk is not approved by a sender's number alone, which can be forged: a code that only its owner can read is
-- sent there. Returns 'go', 'confirm' (a code has to be sent), 'wrong' or 'too_many'.
create function check_confirm(
    p_tenant text, p_approval text, p_given text, p_fresh text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_row approvals%rowtype;
begin
    select * into v_row from approvals a where a.tenant_id = p_tenant and a.id = p_approval for no key update;
    if p_given <> '' and v_row.confirm_hash is not null and v_row.confirm_until > p_now then
        update approvals a set confirm_tries = a.confirm_tries + 1
        where a.tenant_id = p_tenant and a.id = p_approval;
        if v_row.confirm_tries >= 5 then
            update approvals a set confirm_hash = null where a.tenant_id = p_tenant and a.id = p_approval;
            return 'too_many';
        end if;
        return case when v_row.confirm_hash = sha256(convert_to(p_approval || ':' || p_given, 'UTF8'))
                    then 'go' else 'wrong' end;
    end if;
    if v_row.confirm_sent >= 3 or v_row.confirm_tries >= 10 then
        return 'too_many';
    end if;
    update approvals a
    set confirm_hash = sha256(convert_to(p_approval || ':' || p_fresh, 'UTF8')),
        confirm_until = p_now + interval '10 minutes',
        confirm_tries = case when a.confirm_tries > 5 then a.confirm_tries else 0 end, confirm_sent = a.confirm_sent + 1
    where a.tenant_id = p_tenant and a.id = p_approval;
    return 'confirm';
end $$;

-- Returns the approvals that an exact word means: the one with the code, all shown in this conversation, or the last
-- message.
create function meant_approvals(
    p_tenant text, p_conversation text, p_inbound text, p_code text, p_now timestamptz)
returns table (approval_id text)
language plpgsql stable as $$
declare
    v_last bigint;
begin
    if p_code not in ('', 'ALL') then
        return query select a.id from approvals a
        where a.tenant_id = p_tenant and a.code = p_code order by a.created_at desc limit 1;
        return;
    end if;
    if p_code = '' then
        -- A bare word counts only if the last message here, by anybody, was a single card.
        select max(o.seq) into v_last from outbound o
        where o.tenant_id = p_tenant and o.conversation_id = p_conversation
          and not exists (select 1 from approval_cards c
                          join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
                          where c.tenant_id = o.tenant_id and c.outbound_id = o.id and c.role = 'card'
                            and a.state = 'pending');
        if exists (select 1 from inbound i
                   where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
                     and i.received_at > (select min(o.created_at) from outbound o
                                          where o.tenant_id = p_tenant and o.conversation_id = p_conversation
                                            and o.seq > coalesce(v_last, 0))) then
            return;
        end if;
    end if;
    return query select a.id from approvals a
    where a.tenant_id = p_tenant and a.state = 'pending' and (p_code = '' or a.risk <> 'high')
      and exists (select 1 from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
                  where c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
                    and o.conversation_id = p_conversation and (p_code = 'ALL' or o.seq > coalesce(v_last, 0)))
    order by a.created_at, a.id limit case when p_code = '' then 2 else 50 end;
end $$;

-- Returns whether a card of the approval has been sent completely, in any place: a card that is being sent, or may not
-- have arrived, cannot have been read. A card of one part counts once a call for it may have arrived; a call that was
-- refused, or not made because of its price, has shown nothing (promise 9). p_pressed: its buttons were pressed, so its
-- last part has arrived.
create function cards_sent(p_tenant text, p_approval text, p_pressed boolean)
returns text
language sql stable as $$
    select case
        when bool_or(s.parts > 0 and s.sure >= s.parts) then 'whole'
        -- Its only part may have arrived although the receipt is missing: a person who knows the code has read it.
        when bool_or(s.parts = 1 and s.called) then 'whole'
        when bool_or(s.state in ('sent', 'ambiguous')) then 'not_whole'
        else 'not_sent' end
    from (select o.state, count(e.part) as parts, bool_or(m.called) as called,
                 count(*) filter (where e.state = 'sent' and e.status not in ('undelivered', 'failed'))
                 + count(*) filter (where p_pressed and m.called and e.state <> 'sent' and e.part = (
                     select max(l.part) from outbound_parts l
                     where l.tenant_id = o.tenant_id and l.outbound_id = o.id)) as sure
          from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
          left join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id
          left join lateral (
              select exists (select 1 from deliveries d
                             where d.tenant_id = e.tenant_id and d.outbound_id = e.outbound_id and d.part = e.part
                               and d.outcome in ('started', 'ambiguous', 'left', 'found', 'accepted')) as called
          ) m on true
          where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
          group by o.tenant_id, o.id) s
$$;

-- Receives an exact word (OK 7K) and decides by it in one transaction. p_word: its verb (approve, cancel or snooze),
-- its code, the confirmation number in it, and a fresh one. If it turns out not to decide anything it stays an ordinary
-- message, without an `outcome`; but one whose code can be nothing else (`names_code`) is told that nothing waits under
-- it. EDIT decides nothing: the model reads its words, unless its code waits for nothing. A bare word after several cards
-- decides nothing and is answered with the pending codes, as it and ALL are where only codes decide (`codes_only`). After five unknown codes
-- no code decides anything in that conversation for an hour, which the person is told once. The reply is queued as the
-- keys and values of its sentences.
create function receive_exact(p_arrival jsonb, p_word jsonb, p_snooze interval, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text,
               lanes_to_wake text[])
language plpgsql as $$
begin
    select r.* into inbound_id, duplicate, tenant_id, lane_id, conversation_id, outcome, lanes_to_wake
    from decide_exactly(p_arrival, p_word, p_snooze, p_now) r;
    if inbound_id is not null and tenant_id is not null then
        perform mark_channel(p_arrival ->> 'channel', p_arrival ->> 'account', true);
    end if;
    return next;
end $$;

-- What receive_exact does before it marks the channel.
create function decide_exactly(p_arrival jsonb, p_word jsonb, p_snooze interval, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text,
               lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_given_code text := p_word ->> 'code';
    v_in record;
    v_identity text;
    v_meant record;
    v_state text;
    v_sentences jsonb := '[]';
    v_codes_only boolean := (p_word ->> 'codes_only')::boolean;
    v_lanes_to_wake text[] := '{}';
    v_turn text;
    v_one text;
    v_count int := 0;
    v_code text := v_given_code;
    v_number text;
    v_again boolean;
begin
    v_again := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
    select r.* into v_in from receive_message(p_arrival) r;
    if v_again and v_in.inbound_id = v.id and v_in.lane_id is null then
        return query select v.id, false, v_in.tenant_id, null::text, d.conversation_id, d.outcome, d.lanes_to_wake
        from decided_before(v_in.tenant_id, v.id) d;
        return;
    end if;
    -- If it decided nothing the first time it decides nothing now: another card may have arrived since.
    if v_in.inbound_id is null or v_in.duplicate or v_in.lane_id is null or v_again then
        return query select v_in.inbound_id, v_in.duplicate, v_in.tenant_id, v_in.lane_id, null::text, null::text,
                            v_lanes_to_wake;
        return;
    end if;
    if v_code = '' and v.reply_to <> '' then
        -- A bare word in reply to a message decides about that message, whatever was sent last.
        perform note_reply_to(v_in.tenant_id, v.id, v.reply_to);
        v_code := coalesce(answered_card(v_in.tenant_id, v_in.lane_id, v.reply_to), '-');
    end if;
    select f.identity_id into v_identity from find_identity(v.channel, v.account, v.user_key) f;
    select count(*) into v_count from meant_approvals(v_in.tenant_id, v_in.lane_id, v.id, '', p_now);
    if v_code = '' and v_count = 0 then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, null::text,
                            v_lanes_to_wake;
        return;
    end if;
    if v_given_code not in ('', 'ALL') and p_word ->> 'verb' <> 'edit'
       and wrong_codes(v_in.tenant_id, v_in.lane_id, v.id) >= 5 then
        v_again := exists (
            select 1 from inbound i where i.tenant_id = v_in.tenant_id and i.conversation_id = v_in.lane_id
              and i.outcome = 'guessed' and i.received_at > clock_timestamp() - interval '1 hour');
        update inbound i set state = 'done', reason = 'decision: guessed', outcome = 'guessed'
        where i.tenant_id = v_in.tenant_id and i.id = v.id;
        if not v_again then
            perform enqueue(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'receipt',
                'sentences', jsonb_build_array(jsonb_build_object('key', 'guessed', 'values', '{}'::jsonb)))));
        end if;
        return query select v.id, false, v_in.tenant_id, null::text, v_in.lane_id, 'guessed', v_lanes_to_wake;
        return;
    end if;
    if (v_codes_only and v_code in ('', 'ALL')) or (v_code = '' and v_count > 1) then
        select coalesce(jsonb_agg(about_approval(v_in.tenant_id, w.id, 'needs_code') order by w.created_at, w.id), '[]')
        into v_sentences
        from (select a.id, a.created_at from approvals a
              where a.tenant_id = v_in.tenant_id and a.id in (
                select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, v.id, '', p_now) m
                union select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, v.id, 'ALL', p_now) m)
              order by a.created_at, a.id limit 10) w;
        if v_sentences <> '[]' then
            update inbound i set state = 'done', reason = 'decision: needs_code', outcome = 'needs_code'
            where i.tenant_id = v_in.tenant_id and i.id = v.id;
            perform enqueue(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'receipt', 'sentences', v_sentences)));
            return query select v.id, false, v_in.tenant_id, null::text, v_in.lane_id, 'needs_code', v_lanes_to_wake;
            return;
        end if;
    end if;
    if p_word ->> 'verb' = 'edit' then
        -- Where one waits under the code, the message is the model's.
        perform note_reply_to(v_in.tenant_id, v.id, v.reply_to);
        if exists (select 1 from meant_approvals(v_in.tenant_id, v_in.lane_id, v.id, v_code, p_now) m
                   where why_decided(v_in.tenant_id, m.approval_id, p_now) in ('pending', 'altered')) then
            return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, null::text,
                            v_lanes_to_wake;
            return;
        end if;
    end if;
    v_count := 0;
    for v_meant in select * from meant_approvals(v_in.tenant_id, v_in.lane_id, v.id, v_code, p_now) loop
        v_count := v_count + 1;
        v_one := v_meant.approval_id;
        select t.outcome, t.lane_id into v_state, v_turn from take_exact(
            v_in.tenant_id, v_one, p_word ->> 'verb', v_identity, v.channel, p_word ->> 'given', p_word ->> 'fresh',
            p_snooze, p_now) t;
        if v_turn is not null then
            v_lanes_to_wake := v_lanes_to_wake || v_turn;
        end if;
        v_sentences := v_sentences || about_approval(v_in.tenant_id, v_one, v_state, p_word ->> 'fresh');
        if v_state = 'confirm' then
            v_number := v_one;
        end if;
    end loop;
    if v_count = 0 and v_given_code <> 'ALL' and (v_given_code = '' or not (p_word ->> 'names_code')::boolean) then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, null::text,
                            v_lanes_to_wake;
        return;
    end if;
    if v_count = 0 then
        v_state := case v_given_code when 'ALL' then 'nothing' else 'no_code' end;
        v_sentences := jsonb_build_array(jsonb_build_object(
            'key', v_state, 'values', jsonb_build_object('code', v_given_code)));
    end if;
    update inbound i set state = 'done', reason = 'decision: ' || v_state, outcome = v_state,
        text = case when p_word ->> 'given' = '' then i.text else replace(i.text, p_word ->> 'given', '') end,
        turn_id = (select a.turn_id from approvals a where a.tenant_id = v_in.tenant_id and a.id = v_one)
    where i.tenant_id = v_in.tenant_id and i.id = v.id;
    perform enqueue(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
        'id', v.outbound, 'kind', 'receipt', 'sentences', v_sentences, 'shows', v_number)));
    return query select v_in.inbound_id, false, v_in.tenant_id, null::text, v_in.lane_id, v_state, v_lanes_to_wake;
end $$;

-- Returns whether this very call was committed before and its answer lost.
create function was_received(p_channel text, p_account text, p_user_key text, p_keys text[], p_id text)
returns boolean
language sql as $$
    select exists (select 1 from find_received(p_channel, p_account, p_user_key, p_keys) f where f.inbound_id = p_id)
$$;

-- Returns the decision that a press or an exact word made when it was received.
create function decided_before(p_tenant text, p_inbound text)
returns table (conversation_id text, outcome text, approval_turn text, lanes_to_wake text[])
language sql stable as $$
    select i.conversation_id, i.outcome, i.turn_id,
           coalesce(array(select t.lane_id from turns t
                          where t.tenant_id = p_tenant and t.id = i.turn_id and t.ready), '{}')
    from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and i.outcome is not null
$$;

-- Applies one exact word to one approval. Returns the key of the reply, and the lane that may resume.
create function take_exact(
    p_tenant text, p_approval text, p_verb text, p_identity text, p_channel text, p_given text,
    p_fresh text, p_snooze interval, p_now timestamptz, out outcome text, out lane_id text)
language plpgsql as $$
declare
    v_risk text;
    v_decided boolean;
    v_how text := 'code';
    v_sent text;
begin
    perform lock_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if p_verb = 'edit' or (outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel')) then
        return;
    end if;
    v_sent := cards_sent(p_tenant, p_approval, false);
    if v_sent = 'not_sent' or (v_sent = 'not_whole' and p_verb = 'approve') then
        outcome := v_sent;
        return;
    end if;
    if p_verb = 'snooze' then
        outcome := snooze_approval(p_tenant, p_approval, p_snooze, p_identity, p_channel, p_now);
        return;
    end if;
    select a.risk into v_risk from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    -- A text proves a number that can be forged, and a mail a domain, but not who of it wrote.
    if p_verb = 'approve' and v_risk = 'high' and p_channel in ('sms', 'email') then
        outcome := check_confirm(p_tenant, p_approval, p_given, p_fresh, p_now);
        if outcome <> 'go' then
            perform audit_approval(p_tenant, p_approval, p_now, 'confirm', p_identity, p_channel, outcome, '{}');
            return;
        end if;
        v_how := 'code and number';
    end if;
    select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
        p_tenant, p_approval, case p_verb when 'approve' then 'approved' else 'cancelled' end,
        jsonb_build_object('identity', p_identity, 'channel', p_channel, 'how', v_how), null, p_now) d;
    outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
end $$;

-- Keeps the approval open and reminds later, never past its expiry.
create function snooze_approval(
    p_tenant text, p_approval text, p_snooze interval, p_identity text, p_channel text, p_now timestamptz)
returns text
language plpgsql as $$
begin
    perform start_approval(p_tenant, p_approval, p_now);
    update approvals a set remind_at = least(p_now + p_snooze, a.expires_at - interval '1 minute')
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending'
      and a.expires_at > p_now + interval '2 minutes';
    if not found then
        return 'too_late';
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'snoozed', p_identity, p_channel, '', '{}');
    return 'snooze';
end $$;

-- Receives a press or a submitted form. Authority is the sender's identity and the stored row: a token proves nothing.
-- p_verb: approve, cancel, edit, details. `form` is for the channel to open; `outcome` is the key of the reply, `about`
-- its values, and `language` and `timezone` those of the presser.
create function receive_press(
    p_arrival jsonb, p_verb text, p_token text, p_entered jsonb, p_has_forms boolean, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text,
               about jsonb, form jsonb, language text, timezone text, lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_approval text;
    v_own text;
    v_identity text;
    v_in record;
    v_outcome text;
    v_lanes_to_wake text[] := '{}';
    v_owed text;
    v_again boolean;
    v_language text;
    v_timezone text;
begin
    v_again := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
    select f.tenant_id, f.approval_id into v_tenant, v_approval from find_approval(p_token) f;
    select f.tenant_id, f.identity_id into v_own, v_identity from find_identity(v.channel, v.account, v.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_own, ''), true);
    select t.language, t.timezone into v_language, v_timezone from tenants t where t.tenant_id = v_own;
    if v_tenant is null or v_own is distinct from v_tenant
       or not exists (select 1 from identities i where i.tenant_id = v_own and i.id = v_identity and i.state = 'active'
                      and i.admitted <> '' and not (v.listed_only and i.admitted in ('open', 'allowlist'))) then
        v_outcome := case when v_tenant is null then 'unknown' else 'not_yours' end;
        if ignore_message(v.channel, v.account, v.keys, 'unsupported') and v_tenant is not null then
            perform set_config('onevalet.tenant', v_tenant, true);
            perform audit_approval(v_tenant, v_approval, p_now, 'refused', '', v.channel, p_verb, '{}');
        end if;
        return query select (v.keys)[1], false, null::text, null::text, null::text, v_outcome,
                            '{}'::jsonb, null::jsonb, v_language, v_timezone, '{}'::text[];
        return;
    end if;
    select r.* into v_in from receive_message(p_arrival) r;
    if v_in.inbound_id is null or v_in.duplicate then
        v_outcome := why_decided(v_tenant, v_approval, p_now);
        return query select coalesce(v_in.inbound_id, (v.keys)[1]), true, v_tenant, null::text, null::text, v_outcome,
                            about_approval(v_tenant, v_approval, v_outcome) -> 'values', null::jsonb,
                            v_language, v_timezone, '{}'::text[];
        return;
    end if;
    if v_again then
        select d.outcome, d.conversation_id, d.lanes_to_wake into v_outcome, v_owed, v_lanes_to_wake
        from decided_before(v_tenant, v.id) d;
    else
        select i.conversation_id into v_owed from inbound i where i.tenant_id = v_tenant and i.id = v.id;
        select t.outcome, case when t.lane_id is null then '{}' else array[t.lane_id] end
        into v_outcome, v_lanes_to_wake
        from take_press(v_tenant, v_approval, v_identity, v.channel, p_verb, p_entered, p_now, p_has_forms) t;
        if v_outcome = 'ask_change' then
            perform enqueue(v_tenant, v_owed, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'reply', 'wants_reply', true, 'shows', v_approval,
                'sentences', jsonb_build_array(about_approval(v_tenant, v_approval, 'ask_change')))));
        end if;
        update inbound i set state = 'done', reason = 'press: ' || v_outcome, outcome = v_outcome,
            turn_id = (select a.turn_id from approvals a where a.tenant_id = v_tenant and a.id = v_approval)
        where i.tenant_id = v_tenant and i.id = v.id;
    end if;
    perform mark_channel(v.channel, v.account, true);
    return query select
        v.id, false, v_tenant, null::text, case when v_outcome = 'ask_change' then v_owed end, v_outcome,
        about_approval(v_tenant, v_approval, v_outcome) -> 'values',
        case when v_outcome in ('edit', 'details') and p_entered is null then form_shown(v_tenant, v_approval) end,
        v_language, v_timezone, v_lanes_to_wake;
end $$;

-- Applies one press to one approval. Returns the key of the reply, and the lane that may resume.
create function take_press(
    p_tenant text, p_approval text, p_identity text, p_channel text, p_verb text, p_entered jsonb, p_now timestamptz,
    p_has_forms boolean, out outcome text, out lane_id text)
language plpgsql as $$
declare
    v_decided boolean;
    v_editable boolean;
begin
    perform lock_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if p_verb = 'details' and outcome in ('pending', 'altered') then
        outcome := 'details';
        return;
    end if;
    if outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel') then
        return;
    end if;
    select a.editable into v_editable from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    if p_verb = 'approve' and cards_sent(p_tenant, p_approval, true) <> 'whole' then
        outcome := 'not_whole';
    elsif p_verb = 'edit' and not v_editable then
        outcome := 'not_editable';
    elsif p_verb in ('approve', 'cancel') or (p_verb = 'edit' and p_entered is not null) then
        select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
            p_tenant, p_approval,
            case p_verb when 'approve' then 'approved' when 'cancel' then 'cancelled' else 'replaced' end,
            jsonb_build_object('identity', p_identity, 'channel', p_channel,
                               'how', case when p_entered is null then 'button' else 'form' end),
            case when p_entered is not null then jsonb_build_object('changes', p_entered) end, p_now) d;
        outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
    elsif p_verb = 'edit' then
        -- The result is a change of this approval, whose time runs from here at the latest.
        perform start_approval(p_tenant, p_approval, p_now);
        outcome := case when p_has_forms then 'edit' else 'ask_change' end;
    end if;
end $$;

-- Returns the data of a form or a view of an approval.
create function form_shown(p_tenant text, p_approval text)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'token', a.token, 'code', a.code, 'summary', a.summary, 'shown', a.shown, 'form', a.form, 'name', a.name,
        'until', a.expires_at)
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- Returns the fields of the form that was opened under a token, for the person who was asked, while it can be sent,
-- and that person's language.
create function form_sent(p_channel text, p_account text, p_user_key text, p_token text)
returns table (form jsonb, language text)
language plpgsql stable as $$
declare
    v_tenant text;
    v_approval text;
begin
    select a.tenant_id, a.approval_id into v_tenant, v_approval from find_approval(p_token) a
    join find_identity(p_channel, p_account, p_user_key) i on i.tenant_id = a.tenant_id;
    if v_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    return query select a.form, t.language from approvals a join tenants t on t.tenant_id = a.tenant_id
                 where a.tenant_id = v_tenant and a.id = v_approval and a.state = 'pending' and a.editable;
end $$;

-- Counts the unknown codes written in a conversation within an hour. A code begins with a digit, so "ok but" has none.
create function wrong_codes(p_tenant text, p_conversation text, p_inbound text)
returns bigint
language sql stable as $$
    select count(*) from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
      and i.received_at > clock_timestamp() - interval '1 hour'
      and i.text ~* '^\s*(ok|okay|no|snooze)\s+[2-9][a-z][2-9a-z]?([\s.!]|$)'
      and (i.outcome is null or i.outcome = 'no_code')
$$;
