-- Decisions by presses, exact words and a person's own words: without a lease, and as far as they are messages in the
-- inbox's own transaction. A function returns the facts, Python decides by them (core/approvals/decisions.py), and a
-- second function locks, requires that the facts are still the same, and writes: see core/db/decided.py.

-- Returns what an approval is decided by. 0.1.0 reads exactly these keys, so `decided_in` says why one is void: 'amended',
-- as its person changed the message that it stood on, or 'not_both', as somebody else did not agree. No message has these ids.
create function approval_facts(p_tenant text, p_approval text)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'id', a.id, 'state', a.state, 'high_risk', a.risk = 'high', 'editable', a.editable,
        'expires_at', a.expires_at, 'timeout', extract(epoch from a.timeout),
        'intact', a.expires_at is null or a.hash = approval_hash(a.sealed_head, a.expires_at, a.sealed_tail),
        'turn_open', exists (select from turns t where t.tenant_id = p_tenant and t.id = a.turn_id
                             and t.state in ('waiting', 'running')),
        'decided_in', case when a.reason in ('amended', 'not_both') then a.reason else a.decided_in end,
        'confirmation', jsonb_build_object('hash', encode(a.confirm_hash, 'hex'), 'until', a.confirm_until,
                                           'tries', a.confirm_tries, 'sent', a.confirm_sent),
        'cards', cards_sent(p_tenant, a.id))
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- Returns how far each card of an approval has been sent, in any place; CardFacts in core/approvals/facts.py has more.
create function cards_sent(p_tenant text, p_approval text)
returns jsonb
language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'sent', s.state in ('sent', 'ambiguous'), 'parts', s.parts, 'arrived', s.arrived, 'called', s.called,
        'last_called', s.last_called) order by s.id), '[]')
    from (select o.id, o.state, count(e.part) as parts, coalesce(bool_or(m.called), false) as called,
                 count(*) filter (where e.state = 'sent' and e.status not in ('undelivered', 'failed')) as arrived,
                 coalesce(bool_or(m.called and e.state <> 'sent' and e.part = (
                     select max(l.part) from outbound_parts l
                     where l.tenant_id = o.tenant_id and l.outbound_id = o.id)), false) as last_called
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

-- Returns what an exact word is decided by, before its message is received or after. p_code: '' for a bare word, which
-- decides about the message that it replies to, whatever was sent last. A code begins with a digit, so "ok but" has none.
create function word_facts(p_arrival jsonb, p_code text)
returns jsonb
language plpgsql stable as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_conversation text;
    v_code text := p_code;
    v_meant text[];
    v_last text[];
begin
    select f.tenant_id into v_tenant from find_identity(v.channel, v.account, v.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    select c.id into v_conversation from conversations c
    where c.tenant_id = v_tenant and c.channel = v.channel and c.account = v.account and c.peer = v.peer
      and c.thread = v.thread and c.recipient_id is null;
    if v_code = '' and v.reply_to <> '' then
        v_code := coalesce(answered_card(v_tenant, v_conversation, v.reply_to), '-');
    end if;
    if v_code in ('', 'ALL') then
        v_last := last_cards(v_tenant, v_conversation, v.id);
        v_meant := array(
            select a.id from approvals a
            where a.tenant_id = v_tenant and a.state = 'pending' and exists (
                select 1 from approval_cards c
                join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
                where c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
                  and o.conversation_id = v_conversation));
    else
        v_meant := array(select a.id from approvals a
                         where a.tenant_id = v_tenant and a.code = v_code order by a.created_at desc limit 1);
    end if;
    return jsonb_build_object(
        'code', v_code,
        'approvals', (
            select coalesce(jsonb_agg(
                approval_facts(v_tenant, a.id) || jsonb_build_object('last', a.id = any (coalesce(v_last, '{}')))
                order by a.created_at, a.id), '[]')
            from approvals a where a.tenant_id = v_tenant and a.id = any (v_meant)),
        'wrong_codes', (
            select count(*) from inbound i
            where p_code not in ('', 'ALL') and i.tenant_id = v_tenant and i.conversation_id = v_conversation
              and i.id <> v.id and i.received_at > clock_timestamp() - interval '1 hour'
              and i.text ~* '^\s*(ok|okay|no|snooze)\s+[2-9][a-z][2-9a-z]?([\s.!]|$)'
              and (i.outcome is null or i.outcome = 'no_code')),
        'warned', exists (
            select 1 from inbound i where i.tenant_id = v_tenant and i.conversation_id = v_conversation
              and i.outcome = 'guessed' and i.received_at > clock_timestamp() - interval '1 hour'));
end $$;

-- Returns the approvals whose cards are the last messages of a conversation, by anybody, apart from the message itself.
create function last_cards(p_tenant text, p_conversation text, p_inbound text)
returns text[]
language plpgsql stable as $$
declare
    v_last bigint;
begin
    select coalesce(max(o.seq), 0) into v_last from outbound o
    where o.tenant_id = p_tenant and o.conversation_id = p_conversation
      and not exists (select 1 from approval_cards c
                      join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
                      where c.tenant_id = o.tenant_id and c.outbound_id = o.id and c.role = 'card'
                        and a.state = 'pending');
    if exists (select 1 from inbound i
               where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
                 and i.reason not like 'reaction: %'
                 and i.received_at > (select min(o.created_at) from outbound o
                                      where o.tenant_id = p_tenant and o.conversation_id = p_conversation
                                        and o.seq > v_last)) then
        return '{}';
    end if;
    return array(select c.approval_id from approval_cards c
                 join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
                 where c.tenant_id = p_tenant and c.role = 'card' and o.conversation_id = p_conversation
                   and o.seq > v_last);
end $$;

-- Raises OV002, which undoes the whole call, unless the facts are those that were decided by.
create function require_facts(p_facts jsonb, p_decided_by jsonb)
returns void
language plpgsql as $$
begin
    if p_facts is distinct from p_decided_by then
        raise exception 'facts changed' using errcode = 'OV002';
    end if;
end $$;

-- Locks the approvals of rulings before these are written, and first the lanes of their turns, as finish_turn does.
create function lock_ruled(p_tenant text, p_rulings jsonb)
returns void
language plpgsql as $$
declare
    v_approvals text[] := array(select r ->> 'approval' from jsonb_array_elements(p_rulings) r);
begin
    perform 1 from lanes l
    where l.tenant_id = p_tenant and l.id in (
        select t.lane_id from turns t join approvals a on a.tenant_id = t.tenant_id and a.turn_id = t.id
        where a.tenant_id = p_tenant and a.id = any (v_approvals))
    order by l.id for no key update;
    perform 1 from approvals a where a.tenant_id = p_tenant and a.id = any (v_approvals)
    order by a.id for no key update;
end $$;

-- Writes a ruling (core/approvals/decisions.py) about an approval that is locked. p_by: the identity that decides, its
-- channel, and the message in which it was said. Returns the lane that may resume.
create function write_ruling(p_tenant text, p_ruling jsonb, p_by jsonb, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_approval text := p_ruling ->> 'approval';
    v_state text := p_ruling ->> 'state';
    v_number jsonb := nullif(p_ruling -> 'confirmation', 'null');
    v_turn text;
begin
    if (p_ruling ->> 'starts')::boolean then
        perform start_approval(p_tenant, v_approval, p_now);
    end if;
    update approvals a
    set remind_at = coalesce((p_ruling ->> 'remind_at')::timestamptz, a.remind_at),
        confirm_hash = case when v_number is null then a.confirm_hash else decode(v_number ->> 'hash', 'hex') end,
        confirm_until = coalesce((v_number ->> 'until')::timestamptz, a.confirm_until),
        confirm_tries = coalesce((v_number ->> 'tries')::int, a.confirm_tries),
        confirm_sent = coalesce((v_number ->> 'sent')::int, a.confirm_sent)
    where a.tenant_id = p_tenant and a.id = v_approval and (v_number is not null or p_ruling ->> 'remind_at' is not null);
    if p_ruling ->> 'audited' <> '' then
        perform audit_approval(p_tenant, v_approval, p_now, p_ruling ->> 'audited', p_by ->> 'identity',
                               p_by ->> 'channel', p_ruling ->> 'how', '{}');
    end if;
    update approvals a
    set state = v_state, proposed = nullif(p_ruling -> 'proposed', 'null'), decided_at = p_now,
        decided_by = p_by ->> 'identity', decided_channel = p_by ->> 'channel', decided_how = p_ruling ->> 'how',
        decided_in = coalesce(p_by ->> 'said_in', ''), confirm_hash = null
    where v_state is not null and a.tenant_id = p_tenant and a.id = v_approval and a.state = 'pending'
    returning a.turn_id into v_turn;
    if v_turn is null then
        return null;
    end if;
    perform audit_approval(p_tenant, v_approval, p_now, v_state, p_by ->> 'identity', p_by ->> 'channel',
                           rtrim(concat_ws(' ', p_ruling ->> 'how', p_by ->> 'said_in')),
                           coalesce(nullif(p_ruling -> 'proposed', 'null'), '{}'));
    perform draw_outcome(p_tenant, v_approval, v_state, p_now);
    return wake_turn(p_tenant, v_turn);
end $$;

-- Writes a decision that is no press and no exact word. p_by: its channel, and `said_in`, the message whose sender
-- decides or the operator's own id for it. Returns the lane that may resume.
create function decide_approval(p_tenant text, p_facts jsonb, p_ruling jsonb, p_by jsonb, p_now timestamptz)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_ruled(p_tenant, jsonb_build_array(p_ruling));
    perform require_facts(approval_facts(p_tenant, p_ruling ->> 'approval'), p_facts);
    return write_ruling(p_tenant, p_ruling, p_by || jsonb_build_object('identity', coalesce((
        select c.identity_id from inbound i
        join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
        where i.tenant_id = p_tenant and i.id = p_by ->> 'said_in'), '')), p_now);
end $$;

-- Receives an exact word (OK 7K) and writes what it decides, in one transaction. p_ruling: a WordRuling
-- (core/approvals/exact_decisions.py). If it decides nothing it stays an ordinary message, without an `outcome`. The
-- reply is queued as the keys and values of its sentences.
create function receive_exact(p_arrival jsonb, p_code text, p_facts jsonb, p_ruling jsonb, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text,
               lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_again boolean := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
begin
    select r.inbound_id, r.duplicate, r.tenant_id, r.lane_id, '{}'
    into inbound_id, duplicate, tenant_id, lane_id, lanes_to_wake from receive_message(p_arrival) r;
    if v_again and inbound_id = v.id and lane_id is null then
        select d.conversation_id, d.outcome, d.lanes_to_wake into conversation_id, outcome, lanes_to_wake
        from decided_before(tenant_id, v.id) d;
    -- If it decided nothing the first time it decides nothing now: another card may have arrived since.
    elsif inbound_id is not null and not duplicate and lane_id is not null and not v_again then
        perform lock_ruled(tenant_id, p_ruling -> 'rulings');
        perform require_facts(word_facts(p_arrival, p_code), p_facts);
        outcome := p_ruling ->> 'outcome';
        if outcome is not null then
            conversation_id := lane_id;
            lane_id := null;
            lanes_to_wake := write_word(v, tenant_id, conversation_id, p_ruling, p_now);
        end if;
    end if;
    if inbound_id is not null and tenant_id is not null then
        perform mark_channel(v.channel, v.account, true);
    end if;
    return next;
end $$;

-- Writes what an exact word decides, and queues the reply. Returns the lanes that may resume.
create function write_word(p_arrival arrival, p_tenant text, p_conversation text, p_ruling jsonb, p_now timestamptz)
returns text[]
language plpgsql as $$
declare
    v_by jsonb;
    v_ruling jsonb;
    v_lanes text[] := '{}';
    v_sentences jsonb := '[]';
    v_number text;
begin
    select jsonb_build_object('identity', f.identity_id, 'channel', p_arrival.channel) into v_by
    from find_identity(p_arrival.channel, p_arrival.account, p_arrival.user_key) f;
    for v_ruling in select * from jsonb_array_elements(p_ruling -> 'rulings') loop
        v_lanes := array_remove(v_lanes || write_ruling(p_tenant, v_ruling, v_by, p_now), null);
        v_sentences := v_sentences || about_approval(
            p_tenant, v_ruling ->> 'approval', v_ruling ->> 'outcome', p_ruling ->> 'fresh');
        if v_ruling ->> 'outcome' = 'confirm' then
            v_number := v_ruling ->> 'approval';
        end if;
    end loop;
    update inbound i set state = 'done', reason = 'decision: ' || (p_ruling ->> 'outcome'), outcome = p_ruling ->> 'outcome',
        text = case when p_ruling ->> 'given' = '' then i.text else replace(i.text, p_ruling ->> 'given', '') end,
        turn_id = (select a.turn_id from approvals a
                   where a.tenant_id = p_tenant and a.id = p_ruling -> 'rulings' -> -1 ->> 'approval')
    where i.tenant_id = p_tenant and i.id = p_arrival.id;
    if p_ruling ->> 'code' is not null then
        v_sentences := jsonb_build_array(jsonb_build_object(
            'key', p_ruling ->> 'outcome', 'values', jsonb_build_object('code', p_ruling ->> 'code')));
    end if;
    if v_sentences <> '[]' then
        perform enqueue(p_tenant, p_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_arrival.outbound, 'kind', 'receipt', 'sentences', v_sentences, 'shows', v_number)));
    end if;
    return v_lanes;
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

-- Returns the identity that presses a button of a person's, null if it is not that person's or may not decide. Sets the
-- tenant of the presser, whoever that is.
create function find_presser(p_arrival arrival, p_tenant text)
returns text
language plpgsql stable as $$
declare
    v_own text;
    v_identity text;
begin
    select f.tenant_id, f.identity_id into v_own, v_identity
    from find_identity(p_arrival.channel, p_arrival.account, p_arrival.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_own, ''), true);
    return (select i.id from identities i
            where i.tenant_id = v_own and v_own = p_tenant and i.id = v_identity and i.state = 'active'
              and i.admitted <> '' and not (p_arrival.listed_only and i.admitted in ('open', 'allowlist')));
end $$;

-- Returns what a press is decided by. Authority is the sender's identity and the stored row: a token proves nothing.
create function press_facts(p_arrival jsonb, p_token text)
returns jsonb
language plpgsql stable as $$
declare
    v_tenant text;
    v_approval text;
    v_own boolean;
begin
    select f.tenant_id, f.approval_id into v_tenant, v_approval from find_approval(p_token) f;
    v_own := find_presser(jsonb_populate_record(null::arrival, p_arrival), v_tenant) is not null;
    return jsonb_build_object('known', v_tenant is not null, 'own', v_own,
                              'approval', case when v_own then approval_facts(v_tenant, v_approval) end);
end $$;

-- Receives a press or a submitted form and writes what it decides, in one transaction. `form` is for the channel to
-- open; `outcome` is the key of the reply, null for a duplicate, `about` its values, and `language` and `timezone` those
-- of the presser.
create function receive_press(p_arrival jsonb, p_token text, p_facts jsonb, p_ruling jsonb, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, lane_id text, conversation_id text, outcome text, about jsonb,
               form jsonb, language text, timezone text, lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_again boolean := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
    v_tenant text;
    v_approval text;
    v_identity text;
    v_lane text;
    v_told boolean := false;
begin
    -- 1. Whose press it is. Nobody else's is received.
    select f.tenant_id, f.approval_id into v_tenant, v_approval from find_approval(p_token) f;
    v_identity := find_presser(v, v_tenant);
    perform require_facts(to_jsonb(v_identity is not null), p_facts -> 'own');
    select t.language, t.timezone, '{}' into language, timezone, lanes_to_wake
    from (select current_setting('onevalet.tenant') as id) me left join tenants t on t.tenant_id = me.id;
    duplicate := false;
    inbound_id := (v.keys)[1];
    if v_identity is null then
        outcome := p_ruling ->> 'outcome';
        about := '{}';
        if ignore_message(v.channel, v.account, v.keys, 'unsupported') and v_tenant is not null then
            perform set_config('onevalet.tenant', v_tenant, true);
            perform audit_approval(v_tenant, v_approval, p_now, 'refused', '', v.channel, p_ruling ->> 'how', '{}');
        end if;
        return next;
        return;
    end if;
    -- 2. Receive it. What is known decides nothing.
    select coalesce(r.inbound_id, (v.keys)[1]), r.inbound_id is null or r.duplicate into inbound_id, duplicate
    from receive_message(p_arrival) r;
    if not duplicate and v_again then
        select d.outcome, d.conversation_id, d.lanes_to_wake into outcome, conversation_id, lanes_to_wake
        from decided_before(v_tenant, v.id) d;
    elsif not duplicate then
        -- 3. Write the decision, if it still is one.
        perform lock_ruled(v_tenant, jsonb_build_array(p_ruling));
        perform require_facts(press_facts(p_arrival, p_token), p_facts);
        v_lane := write_ruling(v_tenant, p_ruling, jsonb_build_object('identity', v_identity, 'channel', v.channel), p_now);
        lanes_to_wake := array_remove(array[v_lane], null);
        outcome := p_ruling ->> 'outcome';
        update inbound i set state = 'done', outcome = p_ruling ->> 'outcome',
            reason = coalesce(p_ruling ->> 'gesture', 'press') || ': ' || (p_ruling ->> 'outcome'),
            turn_id = (select a.turn_id from approvals a where a.tenant_id = v_tenant and a.id = v_approval)
        where i.tenant_id = v_tenant and i.id = v.id returning i.conversation_id into conversation_id;
        if outcome = 'ask_change' then
            perform enqueue(v_tenant, conversation_id, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'reply', 'wants_reply', true, 'shows', v_approval,
                'sentences', jsonb_build_array(about_approval(v_tenant, v_approval, 'ask_change')))));
        end if;
        -- A reaction has no other answer. What was said of this card already is not said again.
        v_told := coalesce((p_ruling ->> 'told')::boolean, false) and not exists (
            select from inbound i
            where i.tenant_id = v_tenant and i.conversation_id = receive_press.conversation_id and i.id <> v.id
              and i.provider_id = v.provider_id and i.outcome = p_ruling ->> 'outcome' and i.reason like 'reaction: %');
        if v_told then
            perform enqueue(v_tenant, conversation_id, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'receipt',
                'sentences', jsonb_build_array(about_approval(v_tenant, v_approval, outcome)))));
        end if;
    end if;
    -- 4. What the presser is to see.
    if not duplicate then
        perform mark_channel(v.channel, v.account, true);
    end if;
    if outcome is distinct from 'ask_change' and not v_told then
        conversation_id := null;
    end if;
    about := about_approval(v_tenant, v_approval, outcome) -> 'values';
    if outcome in ('edit', 'details') and outcome = p_ruling ->> 'outcome' and p_ruling ->> 'state' is null then
        select jsonb_build_object('token', a.token, 'code', a.code, 'summary', a.summary, 'shown', a.shown, 'form', a.form,
                                  'name', a.name, 'until', a.expires_at) into form
        from approvals a where a.tenant_id = v_tenant and a.id = v_approval;
    end if;
    return next;
end $$;

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
