-- Answers by voice: which are to be spoken, who makes the recording, and how that ends. Each may be repeated.

-- Returns whether the answer of a turn is to be heard: it answers a voice note of a person who wants that, or the model
-- was asked for it.
create function wants_voice(p_tenant text, p_turn text)
returns boolean
language plpgsql stable as $$
begin
    if is_switched_on(p_tenant, 'voice') and exists (
        select from inbound i cross join lateral jsonb_array_elements(i.media) f
        where i.tenant_id = p_tenant and i.turn_id = p_turn and (f ->> 'voice')::boolean) then
        return true;
    end if;
    return exists (select from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn and s.name = 'say_aloud'
                   and s.state = 'done' and s.outcome = 'ok');
end $$;

-- Returns the words of a message that may be spoken: an answer without what was said beside it, or news; empty for any
-- other message.
create function words_to_speak(p_tenant text, p_outbound text)
returns text
language sql stable as $$
    select coalesce(case o.kind
        when 'notification' then o.text
        when 'reply' then (
            select h.message ->> 'text' from history h
            where h.tenant_id = p_tenant and h.turn_id = o.turn_id and h.message ->> 'role' = 'assistant'
            order by h.position desc limit 1) end, '')
    from outbound o where o.tenant_id = p_tenant and o.id = p_outbound
$$;

-- Has the last answer of a conversation spoken, as asked for in a turn (p_turn). Returns 'waiting' if it will be, 'spoken'
-- if it was, and 'none' if there is none.
create function ask_aloud(p_tenant text, p_conversation text, p_turn text)
returns text
language plpgsql as $$
declare
    v_id text;
    v_turn text;
    v_state text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.id, l.turn_id into v_id, v_turn from (
        select o.id, o.turn_id, o.seq from outbound o
        where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.seq is not null
          and o.kind in ('reply', 'notification') and o.turn_id is distinct from p_turn and o.state = 'sent'
        order by o.seq desc limit 20) l
    where words_to_speak(p_tenant, l.id) <> '' order by l.seq desc limit 1;
    if v_id is null then
        return 'none';
    end if;
    insert into spoken_answers as s (tenant_id, outbound_id, turn_id, asked_in) values (p_tenant, v_id, v_turn, p_turn)
    on conflict on constraint spoken_answers_pkey do update
    set asked_in = p_turn, state = 'waiting', reason = '', tries = 0, created_at = clock_timestamp(), ended_at = null
    where s.state in ('left_out', 'failed') and s.asked_in is distinct from p_turn;
    select case when s.state = 'spoken' and s.asked_in is distinct from p_turn then 'spoken' else 'waiting' end into v_state
    from spoken_answers s where s.tenant_id = p_tenant and s.outbound_id = v_id;
    return v_state;
end $$;

-- Claims the named answer, or the one that has waited longest, once its text is out; ids only. Repeatable by owner.
create function claim_speech(p_id text, p_owner text, p_lease interval)
returns table (tenant_id text, id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query select s.tenant_id, s.outbound_id from spoken_answers s
    where s.owner = p_owner and s.lease_until > clock_timestamp();
    if found or is_halted() then
        return;
    end if;
    return query with due as materialized (
        select d.tenant_id, d.outbound_id from spoken_answers d
        join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
        where d.state = 'waiting' and d.outbound_id = coalesce(p_id, d.outbound_id)
          and (d.lease_until is null or d.lease_until < clock_timestamp()) and o.state in ('sent', 'ambiguous', 'failed')
        order by d.created_at limit 1 for no key update of d skip locked)
    update spoken_answers s set owner = p_owner, lease_until = clock_timestamp() + p_lease, tries = s.tries + 1
    from due where s.tenant_id = due.tenant_id and s.outbound_id = due.outbound_id
    returning s.tenant_id, s.outbound_id;
end $$;

-- Returns a claimed answer; no row if another owner has claimed it since. "arrived": whether its text did; "number":
-- its place among the person's, which tells recordings of one length apart.
create function read_speech(p_tenant text, p_id text, p_owner text)
returns table (
    turn_id text, words text, arrived boolean, tries int, asked boolean, number int, language text, channel text, account text,
    peer text, thread text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select coalesce(s.turn_id, s.outbound_id), words_to_speak(p_tenant, p_id), o.state = 'sent', s.tries,
           s.asked_in is not null,
           (select count(*)::int from spoken_answers b where b.tenant_id = p_tenant and b.created_at <= s.created_at),
           t.language, c.channel, c.account, c.peer, c.thread
    from spoken_answers s
    join outbound o on o.tenant_id = s.tenant_id and o.id = s.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join tenants t on t.tenant_id = s.tenant_id
    where s.tenant_id = p_tenant and s.outbound_id = p_id and s.owner = p_owner and s.state = 'waiting';
end $$;

-- Ends a claimed answer. p_end: {state, reason, file, seconds, message}, the last of which is sent after it: the
-- recording, or the news for a person who asked for it. A card that was shown since keeps a recording back: it is to
-- be the last thing said. Returns the conversation, or null if another owner has claimed it since.
create function end_speech(p_tenant text, p_id text, p_owner text, p_end jsonb)
returns text
language plpgsql as $$
declare
    v_conversation text;
    v_seq bigint;
    v_row spoken_answers%rowtype;
    v_end jsonb := p_end;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id, o.seq into v_conversation, v_seq from outbound o
    where o.tenant_id = p_tenant and o.id = p_id;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    select s.* into v_row from spoken_answers s
    where s.tenant_id = p_tenant and s.outbound_id = p_id and s.owner = p_owner for no key update;
    if v_row.state is distinct from 'waiting' then
        return null;
    end if;
    if v_end ->> 'state' = 'spoken' and exists (
        select from approval_cards k
        join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending'
        join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
        where k.tenant_id = p_tenant and k.role = 'card' and o.conversation_id = v_conversation and o.seq > v_seq) then
        v_end := '{"state": "left_out", "reason": "a card came after it"}';
    end if;
    if v_end -> 'message' is not null then
        perform enqueue(p_tenant, v_conversation, v_row.turn_id, jsonb_build_array(
            v_end -> 'message' || jsonb_build_object('id', p_id || '.voice' || coalesce('.' || v_row.asked_in, ''))));
    end if;
    update spoken_answers s
    set state = v_end ->> 'state', reason = coalesce(v_end ->> 'reason', ''), file_id = v_end ->> 'file',
        seconds = (v_end ->> 'seconds')::real, owner = null, lease_until = null, ended_at = clock_timestamp()
    where s.tenant_id = p_tenant and s.outbound_id = p_id;
    return v_conversation;
end $$;
