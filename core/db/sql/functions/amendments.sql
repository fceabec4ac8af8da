-- Amendments: a person changed a message that they had sent, or deleted it. Before its turn its words are replaced, or it
-- is not answered. After that the change is a message of its own, which joins the running turn or begins the next, and
-- what is open on the old words is void. A function returns the facts, Python decides by them
-- (core/inbox/amendment_rules.py), and a second function writes, as in decisions.sql. A message and its changes have the
-- same provider_id, and stand in the same conversation.

-- Returns the message whose words a change replaces.
create function first_sent(p_inbound inbound)
returns text
language sql stable as $$
    select i.id from inbound i
    where i.tenant_id = p_inbound.tenant_id and i.conversation_id = p_inbound.conversation_id
      and i.provider_id = p_inbound.provider_id and i.provider_id <> ''
    order by i.seq limit 1
$$;

-- Returns the changes of a message that were stored, the newest first.
create function changes_of(p_inbound inbound)
returns setof inbound
language sql stable as $$
    select i.* from inbound i
    where i.tenant_id = p_inbound.tenant_id and i.conversation_id = p_inbound.conversation_id
      and i.provider_id = p_inbound.provider_id and i.provider_id <> '' and i.seq > p_inbound.seq
    order by i.seq desc
$$;

-- Returns the message that has a message's words as they stand: its newest change that was taken, or itself. p_but: a
-- change that is left out.
create function as_it_stands(p_inbound inbound, p_but text)
returns inbound
language sql stable as $$
    select s from (
        select c as s, 0 as place from changes_of(p_inbound) c where c.state <> 'ignored' and c.id <> p_but
        union all select p_inbound, 1) x
    order by x.place, (x.s).seq desc limit 1
$$;

-- Returns the message with one of these keys, of the sender, or of the person whose conversation this is if no sender is
-- known. Sets the tenant. `elsewhere`: the place is another person's, or the message came in another place.
create function find_amended(p_arrival arrival, p_of text[], out inbound_id text, out elsewhere boolean)
language plpgsql stable as $$
declare
    v_tenant text;
begin
    select f.tenant_id into v_tenant from find_identity(p_arrival.channel, p_arrival.account, p_arrival.user_key) f;
    if p_arrival.user_key = '' then
        select c.tenant_id into v_tenant
        from find_conversations(p_arrival.channel, p_arrival.account, p_arrival.peer) c limit 1;
    end if;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    select i.id, not (c.peer = p_arrival.peer and c.thread = p_arrival.thread and c.recipient_id is null)
    into inbound_id, elsewhere
    from inbox_keys k
    join inbound i on i.tenant_id = k.tenant_id and i.id = k.inbound_id
    join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
    where k.tenant_id = v_tenant and k.channel = p_arrival.channel and k.account = p_arrival.account and k.key = any (p_of)
    limit 1;
    if inbound_id is null then
        elsewhere := exists (select from find_conversations(p_arrival.channel, p_arrival.account, p_arrival.peer) c
                             where c.tenant_id is distinct from v_tenant);
    end if;
end $$;

-- Returns what a change of a message is decided by: the message as it stands, with the changes that were taken before.
create function amendment_facts(p_arrival jsonb, p_of text[])
returns jsonb
language plpgsql stable as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_found record := find_amended(v, p_of);
    v_tenant text := current_setting('onevalet.tenant');
    v_root inbound%rowtype;
    v_now inbound%rowtype;
begin
    if v_found.inbound_id is null or v_found.elsewhere then
        return jsonb_build_object('known', false, 'elsewhere', v_found.elsewhere);
    end if;
    select * into v_root from inbound i where i.tenant_id = v_tenant and i.id = v_found.inbound_id;
    v_now := as_it_stands(v_root, v.id);
    return (select jsonb_build_object(
        'known', true, 'elsewhere', false,
        'received', exists (select from inbox_keys k
                            where k.tenant_id = v_tenant and k.channel = v.channel and k.account = v.account
                              and k.key = any (v.keys) and k.inbound_id not in (v.id, v_root.id)),
        'state', v_now.state, 'decided', v_root.outcome is not null, 'command', v_root.command is not null,
        'received_at', v_now.received_at,
        'running', exists (select from turns t where t.tenant_id = v_tenant and t.state = 'running'
                           and t.conversation_id = v_root.conversation_id and t.lane_id = v_root.conversation_id),
        'turn', t.state, 'finished_at', t.finished_at,
        'text', v_now.text, 'media', v_now.media,
        'changed_at', (select max(c.sent_at) from changes_of(v_root) c
                       where c.id <> v.id and (c.state <> 'ignored' or c.reason = 'edited_before')),
        'language', p.language)
        from tenants p
        left join turns t on t.tenant_id = p.tenant_id and t.id = v_now.turn_id
        where p.tenant_id = v_tenant);
end $$;

-- Writes what was decided about a change. p_ruling: a Ruling of core/inbox/amendment_rules.py. `lanes_to_wake`: of turns
-- that may resume; `conversation_id`: where something is said or drawn.
create function receive_amendment(p_arrival jsonb, p_of text[], p_facts jsonb, p_ruling jsonb, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text,
               interrupts boolean, lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_again boolean := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
    v_kind text := p_ruling ->> 'kind';
    v_in record;
    v_root inbound%rowtype;
    v_now inbound%rowtype;
begin
    lanes_to_wake := '{}';
    interrupts := false;
    duplicate := false;
    -- 1. What is no message of its own: an edit that says nothing new, or that comes before its message.
    if v_kind in ('recorded', 'message') and not v_again then
        perform require_facts(amendment_facts(p_arrival, p_of), p_facts);
        inbound_id := (v.keys)[1];
        duplicate := coalesce((p_facts ->> 'received')::boolean, false) or v_kind = 'recorded'
            and not ignore_message(v.channel, v.account, v.keys, p_ruling ->> 'reason');
        return next;
        return;
    end if;
    -- 2. Receive it. From here on the conversation is locked, and its lane.
    v_in := take_message(p_arrival, true);
    inbound_id := coalesce(v_in.inbound_id, (v.keys)[1]);
    duplicate := v_in.inbound_id is null or v_in.duplicate;
    tenant_id := v_in.tenant_id;
    if duplicate then
        return next;
        return;
    end if;
    conversation_id := (select i.conversation_id from inbound i where i.tenant_id = v_in.tenant_id and i.id = v.id);
    if v_in.again then
        lane_id := (select i.conversation_id from inbound i
                    where i.tenant_id = v_in.tenant_id and i.id = v.id
                      and (i.state = 'waiting' or i.reason = 'edited_before'));
        lanes_to_wake := array(select t.lane_id from turns t where t.tenant_id = v_in.tenant_id
                               and t.conversation_id = receive_amendment.conversation_id and t.state = 'waiting' and t.ready);
        return next;
        return;
    end if;
    perform require_facts(amendment_facts(p_arrival, p_of), p_facts);
    select i.* into v_root from find_amended(v, p_of) f
    join inbound i on i.tenant_id = v_in.tenant_id and i.id = f.inbound_id;
    v_now := as_it_stands(v_root, v.id);
    -- 3. Write what becomes of it.
    if v_in.lane_id is null then  -- its person said STOP
        null;
    elsif v_kind = 'answers' then
        update inbound i
        set provider_id = v_root.provider_id, continues = false, points = jsonb_build_array(jsonb_build_object(
            'text', p_facts -> 'text', 'whose', 'changed', 'part', '', 'files', 0)) || i.points
        where i.tenant_id = v_in.tenant_id and i.id = v.id;
        lanes_to_wake := void_amended(v_root, p_now);
        lane_id := v_in.lane_id;
        interrupts := v_in.interrupts;
    else
        update inbound i
        set provider_id = v_root.provider_id, state = 'ignored', reason = p_ruling ->> 'reason', text = '', media = '[]',
            points = '[]'
        where i.tenant_id = v_in.tenant_id and i.id = v.id;
        if v_kind = 'replaces' then
            update inbound i
            set text = v.text, media = v.media, origin = v.origin, goes_on = null,
                points = case when i.id = v_root.id then '[{"text": "", "whose": "edited", "part": "", "files": 0}]'
                              else jsonb_build_array(i.points -> 0) end || v.points
            where i.tenant_id = v_in.tenant_id and i.id = v_now.id;
            lane_id := conversation_id;
        elsif p_ruling ->> 'says' <> '' then
            perform enqueue(v_in.tenant_id, conversation_id, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'reply', 'text', p_ruling ->> 'says')));
        end if;
    end if;
    perform mark_channel(v.channel, v.account, true);
    return next;
end $$;

-- Voids what is open on the old words of a message: the approvals, questions and agents of the turns that took it in, or
-- that it answered. A turn with an approved action still runs that; any other ends. Returns the lanes that may resume.
-- The caller holds the conversation and its lane.
create function void_amended(p_message inbound, p_now timestamptz)
returns text[]
language plpgsql as $$
declare
    v_tenant text := p_message.tenant_id;
    v_turns text[] := array(
        select distinct x.turn_id from (
            select t.id, t.reason, t.conversation_id
            from (select p_message.turn_id union select c.turn_id from changes_of(p_message) c) i
            join turns t on t.tenant_id = v_tenant and t.id = i.turn_id) t
        cross join lateral (
            select t.id as turn_id
            union all select unnest(string_to_array(substr(t.reason, length('answer to ') + 1), ', '))
            where t.reason like 'answer to %') x
        join turns o on o.tenant_id = v_tenant and o.id = x.turn_id and o.state in ('waiting', 'running')
            and o.conversation_id = t.conversation_id and o.lane_id = t.conversation_id);
    v_lanes text[] := '{}';
    v_row record;
    v_question text;
begin
    for v_row in
        select a.id, a.turn_id from approvals a
        where a.tenant_id = v_tenant and a.turn_id = any (v_turns) and a.state = 'pending' order by a.id
    loop
        update approvals a
        set state = 'cancelled', reason = 'amended', decided_at = p_now, decided_how = 'amended', confirm_hash = null
        where a.tenant_id = v_tenant and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(v_tenant, v_row.id, p_now, 'cancelled', '', '', 'amended', '{}');
            perform draw_outcome(v_tenant, v_row.id, 'amended', p_now);
        end if;
    end loop;
    for v_row in
        select t.id, t.state = 'running' or exists (
            select from approvals a where a.tenant_id = v_tenant and a.turn_id = t.id
              and a.state = 'approved' and a.ran_at is null) as goes_on
        from turns t where t.tenant_id = v_tenant and t.id = any (v_turns) order by t.id
    loop
        if v_row.goes_on then
            v_lanes := array_remove(v_lanes || wake_turn(v_tenant, v_row.id), null);
            continue;
        end if;
        for v_question in
            select q.id from questions q where q.tenant_id = v_tenant and q.turn_id = v_row.id and q.state = 'open'
        loop
            perform end_question(v_tenant, v_question, 'closed', '', '', '', p_now);
            update redraws r set outcome = 'amended' from question_cards c
            where c.tenant_id = v_tenant and c.question_id = v_question
              and r.tenant_id = v_tenant and r.outbound_id = c.outbound_id;
        end loop;
        update pool_entries e
        set status = 'CANCELLED', reason = 'cancelled', revision = e.revision + 1, updated_at = clock_timestamp()
        where e.tenant_id = v_tenant and e.turn_id = v_row.id and e.status not in ('CANCELLED', 'COMPLETED');
        perform close_waiting_turn(v_tenant, v_row.id, 'amended');
    end loop;
    return v_lanes;
end $$;

-- Voids what a turn that now waits has just asked, if a message of it was changed too late for it to take that in.
create function void_unread_amendments(p_tenant text, p_conversation text)
returns void
language plpgsql as $$
declare
    v_message inbound%rowtype;
begin
    for v_message in
        select distinct i.* from inbound a join inbound i on i.tenant_id = a.tenant_id and i.id = first_sent(a)
        where a.tenant_id = p_tenant and a.conversation_id = p_conversation and a.state = 'waiting'
          and a.points @> '[{"whose": "changed"}]'
    loop
        perform void_amended(v_message, clock_timestamp());
    end loop;
end $$;

-- Takes back a message that was deleted before a turn took it in; later than that nothing changes. Of a message that
-- has not come yet, its keys are kept, so that it is not taken in. Repeatable by its keys.
create function receive_deletion(p_arrival jsonb, p_of text[], p_recent boolean)
returns table (inbound_id text, duplicate boolean)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_found record := find_amended(v, p_of);
    v_tenant text := current_setting('onevalet.tenant');
    v_root inbound%rowtype;
begin
    inbound_id := coalesce(v_found.inbound_id, (v.keys)[1]);
    if v_found.elsewhere then
        duplicate := not ignore_message(v.channel, v.account, v.keys, 'unsupported');
        return next;
        return;
    elsif v_found.inbound_id is null then
        duplicate := not ignore_message(v.channel, v.account, v.keys || case when p_recent then p_of else '{}' end, 'deleted');
        return next;
        return;
    end if;
    select * into v_root from inbound i where i.tenant_id = v_tenant and i.id = v_found.inbound_id;
    perform 1 from conversations c where c.tenant_id = v_tenant and c.id = v_root.conversation_id for no key update;
    update inbound i set state = 'ignored', reason = 'deleted', text = '', subject = '', media = '[]', points = '[]', command = null
    where i.tenant_id = v_tenant and i.state = 'waiting'
      and i.id in (select v_root.id union select c.id from changes_of(v_root) c)
      -- A turn that runs may have taken it in: its journal says so.
      and not exists (
          select from turns t join steps s on s.tenant_id = t.tenant_id and s.turn_id = t.id and s.kind = 'steer'
          where t.tenant_id = v_tenant and t.lane_id = v_root.conversation_id and t.state = 'running'
            and (s.result @> jsonb_build_object('messages', jsonb_build_array(jsonb_build_object('id', i.id)))
                 or s.result @> jsonb_build_object('messages', jsonb_build_array(jsonb_build_object('rest', jsonb_build_array(i.id))))));
    duplicate := not ignore_message(v.channel, v.account, v.keys, case when found then 'deleted' else 'deleted_late' end);
    perform mark_channel(v.channel, v.account, true);
    return next;
end $$;
