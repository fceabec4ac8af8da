-- The way in: one round trip, one transaction, repeatable by its keys.

-- Returns the message of whose address this is that has one of these keys.
create function find_received(p_channel text, p_account text, p_user_key text, p_keys text[])
returns table (tenant_id text, inbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select k.tenant_id, k.inbound_id from directory d
    join inbox_keys k on k.tenant_id = d.person and k.channel = p_channel and k.account = p_account
        and k.key = any (p_keys)
    where d.channel = p_channel and d.account = p_account and d.user_key = p_user_key limit 1
$$;

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
      and c.peer = p_peer and c.thread = p_thread and c.recipient_id is null;
    if v_id is null then
        insert into conversations (tenant_id, id, identity_id, channel, account, peer, thread)
        values (p_tenant_id, p_id, p_identity_id, p_channel, p_account, p_peer, p_thread)
        on conflict (tenant_id, channel, account, peer, thread, recipient_id) do nothing;
        select c.id into v_id from conversations c
        where c.tenant_id = p_tenant_id and c.channel = p_channel and c.account = p_account
          and c.peer = p_peer and c.thread = p_thread and c.recipient_id is null;
    end if;
    return v_id;
end $$;

-- Returns whether an ability waits for a message as an answer to what it sent. p_known: its sender is let in.
create function awaits_answer(p_arrival arrival, p_known boolean)
returns boolean
language plpgsql stable as $$
begin
    return exists (
        select where false
        -- What abilities wait for comes here, from their sql/awaited.sql.
    );
end $$;

-- Keeps what a message of a person's brings besides its words, such as a place, in the transaction that receives it.
-- `p_arrival -> 'brings'` has it by its kind; a further arrival for the same provider_id changes it.
create function keep_brought(p_tenant text, p_arrival jsonb)
returns void
language plpgsql as $$
begin
    -- Each kind is kept by their sql/brought.sql.
end $$;

-- Keeps a change of what an earlier message brought, without a turn. False if its sender is not let in, or said STOP.
create function note_brought(p_arrival jsonb)
returns boolean
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_arrival ->> 'channel', p_arrival ->> 'account', p_arrival ->> 'user_key') f;
    if v_tenant is null then
        return false;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    if not exists (select from identities i where i.tenant_id = v_tenant and i.id = v_identity
                   and i.admitted <> '' and i.state <> 'stopped') then
        return false;
    end if;
    perform keep_brought(v_tenant, p_arrival);
    return true;
end $$;

-- Receives a message, from its sender to the lane to wake. If only listed senders are let in, a sender whom `admit`
-- does not let in stays out even if known, unless paired, linked or brought in by the operator. A sender who stays out
-- leaves no trace here (inbound_id is null): a stranger's message is stored elsewhere, without its text. So does what
-- answers what an ability sent to this address: see awaits_answer.
-- p_wait: whether to wait for a conversation that somebody else holds; else it is `busy`, and nothing was done. `again`:
-- this very call was committed before, and its answer was lost. `interrupts`: a turn runs that its person wants to end for
-- what they write; its worker is told of it.
-- Single values are assigned, which costs a tenth of a query.
create function take_message(
    p_arrival jsonb, p_wait boolean, out inbound_id text, out duplicate boolean, out tenant_id text, out lane_id text,
    out again boolean, out busy boolean, out interrupts boolean)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_identity text;
    v_me record;
    v_state text;
    v_conversation text;
    v_owner text;
    v_known text;
    v_seq bigint;
    v_added int;
    v_stopping text;
    v_ignored text := '';
    v_ends boolean;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    duplicate := false;
    again := false;
    busy := false;
    interrupts := false;
    -- 1. Find the person, the identity and the conversation.
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(v.channel, v.account, v.user_key) f;
    v_owner := set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    -- A message that was stored without its text because its sender was unknown is not received later.
    select i.admitted, i.created_at, c.id as conversation_id, exists (
               select 1 from ignored_messages g where g.channel = v.channel and g.account = v.account
                 and g.key = any (v.keys) and g.reason in ('unknown', 'answer', 'unlinked', 'deleted')) as stored
    into v_me from (select v_tenant as tenant_id, v_identity as id) me
    left join identities i on i.tenant_id = me.tenant_id and i.id = me.id
    left join conversations c on c.tenant_id = me.tenant_id and c.channel = v.channel and c.account = v.account
        and c.peer = v.peer and c.thread = v.thread and c.recipient_id is null;
    -- 2. Leave what is another's to take: an answer that an ability waits for, a stranger's message.
    if (coalesce(v_me.admitted, '') = '' or v.reply_to <> '' or v.thread <> '')
       and awaits_answer(v, coalesce(v_me.admitted, '') <> '') then
        return;
    end if;
    if v.admit is null and (coalesce(v_me.admitted, '') = ''
                            or (v.listed_only and v_me.admitted in ('open', 'allowlist'))) then
        return;
    end if;
    -- 3. Receive nothing that was stored without its text, or that a deleted person sent: it would bring them back.
    if v_me.stored or (v_me.created_at is null or v_me.created_at > clock_timestamp() - interval '30 days')
                      and is_of_deleted(v.channel, v.account, v.keys) then
        inbound_id := (v.keys)[1];
        duplicate := true;
        return;
    end if;
    -- 4. Let the sender in, and note what is learned of them.
    if v_tenant is null then
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(v.channel, v.account, v.user_key, v.name, v.timezone, v.new_tenant, v.new_identity,
                            v.admit, v.role) a;
        v_owner := set_config('onevalet.tenant', v_tenant, true);
    end if;
    if v.language <> '' then
        perform note_language(v_tenant, v.channel, v.language);
    end if;
    if v.admit is not null and coalesce(v_me.admitted, '') = '' then
        update identities i set admitted = v.admit
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        if found then
            update tenants t set role = v.role where t.tenant_id = v_tenant;
        end if;
    end if;
    -- 5. Open the conversation.
    v_conversation := v_me.conversation_id;
    if v_conversation is null then
        v_conversation := open_conversation(
            v_tenant, v_identity, v.channel, v.account, v.peer, v.thread, v.new_conversation);
    end if;
    -- 6. From here to the commit we hold this conversation: duplicates and seq are decided one at a time.
    select i.state into v_state from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = v_identity
    where c.tenant_id = v_tenant and c.id = v_conversation for no key update of c skip locked;
    if not found then
        busy := not p_wait;
        if busy then
            return;
        end if;
        perform 1 from conversations c where c.tenant_id = v_tenant and c.id = v_conversation for no key update;
        select i.state into v_state from identities i where i.tenant_id = v_tenant and i.id = v_identity;
    end if;

    -- 7. A key that is taken waits for whoever takes it: the same message through another conversation.
    insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
    select v.channel, v.account, k, v_tenant, v.id from unnest(v.keys) k order by k
    on conflict on constraint inbox_keys_pkey do nothing;
    get diagnostics v_added = row_count;
    if v_added < cardinality(v.keys) then
        -- What had one of the keys before this message took those that were free.
        select k.inbound_id into v_known from inbox_keys k
        where k.tenant_id = v_tenant and k.channel = v.channel and k.account = v.account and k.key = any (v.keys)
          and (k.inbound_id <> v.id or v_added = 0)
        order by k.key limit 1;
    end if;
    if v_known is not null then
        update inbox_keys k set inbound_id = v_known where k.tenant_id = v_tenant and k.inbound_id = v.id;
        inbound_id := v_known;
        duplicate := v_known <> v.id;
        again := not duplicate;
        tenant_id := v_tenant;
        lane_id := (select i.conversation_id from inbound i
                    where i.tenant_id = v_tenant and i.id = v.id and (
                        i.state = 'waiting' or i.reason = 'stop'));
        return;
    end if;

    -- 8. Store the message. A stop does not queue: it is a flag on the running turn, whose worker is told of it.
    update conversations c set in_seq = c.in_seq + 1, last_inbound_at = clock_timestamp()
    where c.tenant_id = v_tenant and c.id = v_conversation returning c.in_seq into v_seq;
    -- A word that a person has not turned on is a text like any other.
    if v.command ->> 'switch' <> '' and not is_switched_on(v_tenant, v.command ->> 'switch') then
        v.command := null;
    end if;
    v.command := v.command - 'switch';
    if v.command ->> 'name' = 'stop' and v_state <> 'stopped' then
        v_stopping := stop_running(v_tenant, v_conversation, coalesce(v.command ->> 'argument', ''));
    end if;
    if v_state = 'stopped' then
        v_ignored := 'stopped';
        v.text := '';
        v.subject := '';
        v.media := '[]';
        v.points := '[]';
        v.command := null;
    end if;
    insert into inbound (tenant_id, id, conversation_id, seq, text, media, command, provider_id, sent_at,
                         state, reason, turn_id, reply_to, origin, subject, points, goes_on, continues)
    values (v_tenant, v.id, v_conversation, v_seq, v.text, v.media, v.command, v.provider_id, v.sent_at,
            case when v_ignored <> '' then 'ignored' when v_stopping is not null then 'done' else 'waiting' end,
            case when v_stopping is not null then 'stop' else v_ignored end,
            v_stopping, coalesce(v.reply_to, ''), coalesce(v.origin, 'own'), coalesce(v.subject, ''),
            coalesce(v.points, '[]'), case when v_ignored = '' then v.goes_on end,
            v.command is null and v.text <> '' and v.media = '[]' and coalesce(v.points, '[]') = '[]' and coalesce(v.origin, 'own') = 'own'
            -- Clients send the parts of a cut text one after the other, and providers tell whole seconds.
            and exists (select from inbound b
                        where b.tenant_id = v_tenant and b.conversation_id = v_conversation and b.seq = v_seq - 1
                          and b.goes_on is not null
                          and coalesce(v.sent_at - b.sent_at, clock_timestamp() - b.received_at) <= interval '3 seconds'))
    returning continues and goes_on is null into v_ends;
    inbound_id := v.id;
    tenant_id := v_tenant;
    if p_arrival ? 'brings' and v_ignored = '' then
        perform keep_brought(v_tenant, p_arrival);
    end if;
    if v_ignored <> '' or v_stopping is not null then
        lane_id := case when v_stopping is not null then v_conversation end;
        return;
    end if;
    -- 9. Wake the lane.
    if v_state = 'blocked' then
        update identities i set state = 'active', state_reason = 'wrote again', state_at = clock_timestamp()
        where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    insert into lanes as l (tenant_id, id, conversation_id, pending, pending_since)
    values (v_tenant, v_conversation, v_conversation, true, clock_timestamp())
    on conflict on constraint lanes_pkey do update
    set pending = true, pending_since = coalesce(l.pending_since, excluded.pending_since),
        -- With its last part a cut text is waited for no longer: see open_text.
        not_before = case when v_ends and l.not_before < clock_timestamp() + interval '2 seconds' then null
                          else l.not_before end
    returning l.owner is not null into interrupts;
    if interrupts then
        interrupts := (select t.while_running = 'interrupt' from tenants t where t.tenant_id = v_tenant);
    end if;
    lane_id := v_conversation;
    -- What abilities do with a message as soon as it is stored is done by their sql/received.sql.
end $$;

-- Receives one message, for those that do more with it in the same transaction and mark its channel at the end.
create function receive_message(
    p_arrival jsonb, out inbound_id text, out duplicate boolean, out tenant_id text, out lane_id text)
language plpgsql as $$
declare
    v_in record := take_message(p_arrival, true);
begin
    inbound_id := v_in.inbound_id;
    duplicate := v_in.duplicate;
    tenant_id := v_in.tenant_id;
    lane_id := v_in.lane_id;
end $$;

-- Schedules the redraw of the message whose button typed a message: `pressed` has the id of the former at its provider
-- and the button's token. Clients can forge both: nothing is drawn unless that message is ours and has that button.
create function draw_pressed(p_tenant text, p_arrival jsonb)
returns void
language sql as $$
    insert into redraws as r (tenant_id, outbound_id, outcome, outcome_at)
    select distinct o.tenant_id, o.id, p_arrival -> 'pressed' ->> 1, clock_timestamp()
    from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where e.tenant_id = p_tenant and e.provider_id = p_arrival -> 'pressed' ->> 0 and e.provider_id <> ''
      and c.channel = p_arrival ->> 'channel' and c.account = p_arrival ->> 'account' and c.peer = p_arrival ->> 'peer'
      and o.actions @> jsonb_build_array(jsonb_build_object('token', p_arrival -> 'pressed' -> 1))
    on conflict on constraint redraws_pkey do update
    set outcome = excluded.outcome, outcome_at = excluded.outcome_at, state = 'due', attempts = 0,
        next_attempt_at = clock_timestamp();
$$;

-- Receives messages that came at the same time, sorted by conversation, in one transaction; returns one row each, in
-- the same order. Without p_wait a message whose conversation somebody else holds is `busy`, so that the others need not
-- wait for it. `refused`: see refuse_beyond.
create function receive_messages(p_arrivals jsonb, p_of_person int, p_of_all int, p_wait boolean)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, refused jsonb, busy boolean,
               interrupts boolean)
language plpgsql as $$
declare
    v_arrival jsonb;
    v_in record;
    v_waiting bigint := count_waiting();
    v_marks jsonb[] := '{}';
    v_mark jsonb;
begin
    for v_arrival in select * from jsonb_array_elements(p_arrivals) loop
        v_in := take_message(v_arrival, p_wait);
        inbound_id := v_in.inbound_id;
        duplicate := v_in.duplicate;
        tenant_id := v_in.tenant_id;
        lane_id := v_in.lane_id;
        busy := v_in.busy;
        interrupts := v_in.interrupts;
        refused := null;
        if v_in.inbound_id is not null and v_in.tenant_id is not null and not v_in.duplicate then
            if v_in.again then
                refused := refusal_of(v_in.tenant_id, v_in.inbound_id, p_of_person);
            elsif v_in.lane_id is not null then
                v_waiting := v_waiting + 1;
                refused := refuse_beyond(v_in.tenant_id, v_in.inbound_id, p_of_person, v_waiting > p_of_all);
                if refused is not null then
                    v_waiting := v_waiting - 1;
                elsif v_arrival ? 'pressed' then
                    perform draw_pressed(v_in.tenant_id, v_arrival);
                end if;
            end if;
            v_mark := jsonb_build_array(v_arrival -> 'channel', v_arrival -> 'account');
            if v_mark <> all (v_marks) then
                v_marks := v_marks || v_mark;
            end if;
        end if;
        return next;
    end loop;
    -- Last, and in order: two processes that write them down hold all else that they need.
    foreach v_mark in array v_marks loop
        perform mark_channel(v_mark ->> 0, v_mark ->> 1, true);
    end loop;
end $$;

-- Records an authentic message without a turn: without its text, and without creating a tenant. True if none of its
-- keys was known.
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

-- Applies STOP, START, and a blocked or unblocked bot; once per key, so that a replayed STOP does not undo a START. A
-- change is confirmed with p_reply, if it is ours to confirm: once, and not to an address that repeats itself. For an
-- unknown address nothing changes, but its wish is recorded. With its provider's sent_at, an earlier wish that arrives
-- late changes nothing, such as a STOP that a sweep finds after the START. state_at is when the wish was sent, as far
-- as known. Clocks differ: in doubt the STOP counts.
create function change_reachability(
    p_arrival jsonb, p_state text, p_reason text, p_reply text)
returns table (changed boolean, conversation_id text)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_identity text;
    v_me identities%rowtype;
    v_conversation text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    if cardinality(v.keys) > 0 and not ignore_message(v.channel, v.account, v.keys, p_reason) then
        return query select false, null::text;
        return;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(v.channel, v.account, v.user_key) f;
    if v_tenant is null then
        insert into consents (channel, account, user_key, state, how)
        select v.channel, v.account, v.user_key, p_state, p_reason
        where p_state is distinct from coalesce(
            (select f.state from find_consent(v.channel, v.account, v.user_key) f), 'active')
          and not exists (select from find_consent(v.channel, v.account, v.user_key) f
                          where f.since > v.sent_at + case when p_state = 'active' then interval '0'
                                                           else interval '10 seconds' end);
        perform tell_of_recipient(v.channel, v.account, v.user_key, p_state);
        return query select false, null::text;
        return;
    end if;
    perform tell_of_recipient(v.channel, v.account, v.user_key, p_state);
    perform set_config('onevalet.tenant', v_tenant, true);
    select * into v_me from identities i where i.tenant_id = v_tenant and i.id = v_identity for update;
    if v_me.state_at > v.sent_at + (case when p_state = 'active' then interval '0' else interval '10 seconds' end)
       and v_me.state_reason <> '' then
        return query select false, null::text;
        return;
    end if;
    update identities i set state = p_state, state_reason = p_reason,
        state_at = coalesce(v.sent_at, clock_timestamp())
    where i.tenant_id = v_tenant and i.id = v_identity;
    if v_me.state = p_state then
        return query select false, null::text;
        return;
    end if;
    if p_reply <> '' and not exists (
            select 1 from count_consents(v.channel, v.account, v.user_key, interval '1 hour') k
            where case when p_state = 'active' then k.starts else k.stops end > 5) then
        v_conversation := open_conversation(
            v_tenant, v_identity, v.channel, v.account, v.user_key, '', v.new_conversation);
        perform enqueue(v_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', v.outbound, 'kind', 'receipt', 'text', p_reply, 'regardless', true)));
    end if;
    return query select true, v_conversation;
end $$;

create function find_conversations(p_channel text, p_account text, p_peer text)
returns table (tenant_id text, conversation_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.tenant_id, c.id from conversations c
    where c.channel = p_channel and c.account = p_account and c.peer = p_peer
$$;

-- The provider moved a chat: the conversation continues at the new address.
create function change_address(p_channel text, p_account text, p_old text, p_new text)
returns int
language plpgsql as $$
declare
    v_row record;
    v_count int := 0;
begin
    -- What abilities keep under the address moves with it by their sql/moved.sql.
    for v_row in select * from find_conversations(p_channel, p_account, p_old) loop
        perform set_config('onevalet.tenant', v_row.tenant_id, true);
        update conversations c set peer = p_new
        where c.tenant_id = v_row.tenant_id and c.id = v_row.conversation_id
          and not exists (
              select 1 from conversations o
              where o.tenant_id = c.tenant_id and o.channel = c.channel and o.account = c.account
                and o.peer = p_new and o.thread = c.thread and o.recipient_id is not distinct from c.recipient_id);
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;

-- Answers a message that gets no turn with a sentence, once per place, reason and kind: for example in a group, to say
-- that we only talk in direct chats. Strangers hear nothing (promise 12).
create function say_once(p_arrival jsonb, p_reason text, p_text text, p_kind text default '')
returns text
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_identity text;
    v_conversation text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(v.channel, v.account, v.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    if not exists (select 1 from identities i where i.tenant_id = v_tenant and i.id = v_identity
                   and i.state = 'active' and i.admitted <> '') then
        return null;
    end if;
    if not ignore_message(v.channel, v.account, array[concat_ws(':', 'said', p_reason, nullif(p_kind, ''), v.peer)], p_reason) then
        return null;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, v.channel, v.account, v.peer, v.thread, v.new_conversation);
    perform enqueue(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', v.outbound, 'kind', 'reply', 'text', p_text)));
    return v_conversation;
end $$;

-- Counts a message that begins to wait, or waits no more, in a row that is free.
create or replace function note_waiting()
returns trigger
language plpgsql as $$
declare
    v_shard int;
begin
    for v_try in 0..63 loop
        v_shard := (pg_backend_pid() + v_try) % 64;
        exit when pg_try_advisory_xact_lock(hashtext('waiting_counts'), v_shard);
    end loop;
    insert into waiting_counts as w (shard, waiting) values (v_shard, tg_argv[0]::int)
    on conflict (shard) do update set waiting = w.waiting + excluded.waiting;
    return null;
end $$;

create or replace trigger inbound_came after insert on inbound
    for each row when (new.state = 'waiting') execute function note_waiting('1');
create or replace trigger inbound_again after update of state on inbound
    for each row when (old.state <> 'waiting' and new.state = 'waiting') execute function note_waiting('1');
create or replace trigger inbound_taken after update of state on inbound
    for each row when (old.state = 'waiting' and new.state <> 'waiting') execute function note_waiting('-1');
create or replace trigger inbound_gone after delete on inbound
    for each row when (old.state = 'waiting') execute function note_waiting('-1');

-- Returns how many messages of all people wait.
create function count_waiting()
returns bigint
language sql stable as $$
    select coalesce(sum(w.waiting), 0)::bigint from waiting_counts w
$$;

-- Refuses a message that was just received if its person, or everybody together (p_beyond), has too many waiting. Null:
-- it waits. Otherwise it was refused: {conversation, full, language}, where the conversation is to be told so, '' if
-- nobody is, as the person was told within the last ten minutes. The sentence follows in a call of its own
-- (tell_overload), so that messages that are accepted carry no sentences.
create function refuse_beyond(p_tenant text, p_inbound text, p_of_person int, p_beyond boolean)
returns jsonb
language plpgsql as $$
declare
    v_full boolean := exists (select 1 from inbound i where i.tenant_id = p_tenant and i.state = 'waiting'
                              offset p_of_person limit 1);
begin
    if v_full or p_beyond then
        update inbound i set state = 'ignored', reason = 'overload'
        where i.tenant_id = p_tenant and i.id = p_inbound and i.state = 'waiting';
        return case when found then refusal_of(p_tenant, p_inbound, p_of_person) end;
    end if;
    return null;
end $$;

-- Returns what refuse_beyond returned, for a call that was committed before.
create function refusal_of(p_tenant text, p_inbound text, p_of_person int)
returns jsonb
language sql as $$
    select jsonb_build_object(
        'conversation', case when told_lately(t.told_full_at) then '' else i.conversation_id end,
        -- As many as may wait are left, without the one that was refused.
        'full', exists (select 1 from inbound w where w.tenant_id = p_tenant and w.state = 'waiting'
                        offset greatest(p_of_person - 1, 0) limit 1),
        'language', t.language)
    from inbound i join tenants t on t.tenant_id = i.tenant_id
    where i.tenant_id = p_tenant and i.id = p_inbound and i.reason = 'overload'
$$;

-- The same for an exact word that decided nothing.
create function refuse_overload(p_tenant text, p_inbound text, p_of_person int, p_of_all int)
returns jsonb
language plpgsql as $$
begin
    if p_tenant is null then
        return null;
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    return coalesce(refuse_beyond(p_tenant, p_inbound, p_of_person, count_waiting() > p_of_all),
                    refusal_of(p_tenant, p_inbound, p_of_person));
end $$;

create function told_lately(p_at timestamptz)
returns boolean
language sql as $$
    select coalesce(p_at >= clock_timestamp() - interval '10 minutes', false)
$$;

-- Enqueues the sentence about refused messages, once in ten minutes; false if it was said meanwhile. During a halt it goes
-- out too: whoever is told that messages are kept is told at once of one that is not.
create function tell_overload(p_tenant text, p_conversation text, p_outbound text, p_text text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tenants t set told_full_at = clock_timestamp()
    where t.tenant_id = p_tenant and not told_lately(t.told_full_at);
    if found then
        perform enqueue(p_tenant, p_conversation, null,
                    jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text,
                                                         'regardless', is_halted())));
    end if;
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound);
end $$;

-- Deletes old ignored messages: whatever the reason, no provider resends them and no sweep looks back that far. The
-- ones of say_once stay, since each is said once.
create function drop_ignored(p_before timestamptz, p_limit integer)
returns table (messages bigint)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    delete from ignored_messages g using (
        select i.channel, i.account, i.key from ignored_messages i where i.received_at < p_before
        and i.key not like 'said:%' limit p_limit) old
    where g.channel = old.channel and g.account = old.account and g.key = old.key;
    get diagnostics messages = row_count;
    return next;
end $$;
