-- The way out: one open row at a time per conversation, an attempt row before every provider call.

-- Puts outgoing messages into the outbox, in order: seq is assigned to those that may be sent now; one with "held" true
-- gets it from release_outbound. "regardless": may go to someone who said STOP, and during a halt; "wants_reply": the
-- person's next message answers it; "shows": the approval that a card shows; "sentences": what the text is made of when it
-- is sent. Repeating it adds nothing.
create function enqueue(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb)
returns void
language plpgsql as $$
declare
    v_message jsonb;
    v_held boolean;
    v_seq bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.out_seq into v_seq from conversations c
    where c.tenant_id = p_tenant and c.id = p_conversation for no key update;
    for v_message in select * from jsonb_array_elements(p_outbound) loop
        v_held := coalesce((v_message ->> 'held')::boolean, false);
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, sentences, actions, media, state,
                              seq, regardless, wants_reply, closing)
        values (p_tenant, v_message ->> 'id', p_conversation, p_turn, v_message ->> 'kind',
                coalesce(v_message ->> 'text', ''), coalesce(v_message -> 'sentences', '[]'),
                coalesce(v_message -> 'actions', '[]'), coalesce(v_message -> 'media', '[]'),
                case when v_held then 'held' else 'ready' end, case when not v_held then v_seq + 1 end,
                coalesce((v_message ->> 'regardless')::boolean, false),
                coalesce((v_message ->> 'wants_reply')::boolean, false), coalesce(v_message ->> 'closing', ''))
        on conflict on constraint outbound_pkey do nothing;
        if found then
            if not v_held then
                v_seq := v_seq + 1;
            end if;
            if v_message -> 'approval' is not null and v_message -> 'approval' <> 'null' then
                perform write_approval(p_tenant, p_conversation, p_turn, v_message -> 'approval');
            end if;
            if v_message -> 'question' is not null then
                perform write_question(p_tenant, p_turn, v_message ->> 'id', v_message -> 'question');
            end if;
            if coalesce(v_message ->> 'shows', '') <> '' then
                insert into approval_cards (tenant_id, outbound_id, approval_id, role)
                values (p_tenant, v_message ->> 'id', v_message ->> 'shows',
                        case v_message ->> 'kind' when 'card' then 'card' when 'receipt' then 'number'
                                                  else 'prompt' end);
            end if;
        end if;
    end loop;
    update conversations c set out_seq = v_seq where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

-- Makes a held row sendable, behind all rows that became sendable before it (promise 4).
create function release_outbound(p_tenant text, p_outbound text)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id into v_conversation from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    update outbound o
    set state = 'ready', seq = c.out_seq + 1, next_attempt_at = clock_timestamp()
    from conversations c
    where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held'
      and c.tenant_id = p_tenant and c.id = v_conversation;
    if not found then
        return false;
    end if;
    update conversations c set out_seq = c.out_seq + 1 where c.tenant_id = p_tenant and c.id = v_conversation;
    return true;
end $$;

-- Claims the head of a conversation's outbox: the named one's, or the one due longest. Repeatable by owner. During a halt
-- only what goes regardless of it is claimed, past what waits.
create function claim_outbound(p_conversation text, p_owner text, p_ttl interval)
returns table (tenant_id text, outbound_id text, conversation_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_id text;
begin
    -- A repeat by the same owner, whose first answer was lost.
    return query select o.tenant_id, o.id, o.conversation_id, o.fence from outbound o
    where o.owner = p_owner and o.lease_until > clock_timestamp() and o.state in ('ready', 'sending', 'checking');
    if found then
        return;
    end if;
    -- To be sent, or left by a sender that died; never held or final. Each way has a statement and so a plan of its own,
    -- which is kept.
    if is_halted() then
        select o.tenant_id, o.id into v_tenant, v_id from outbound o
        where o.regardless and o.conversation_id = coalesce(p_conversation, o.conversation_id)
          and o.state in ('ready', 'sending', 'checking') and o.next_attempt_at <= clock_timestamp()
          and (o.lease_until is null or o.lease_until < clock_timestamp())
          and not exists (select from outbound e
                          where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.seq < o.seq
                            and e.regardless and e.state in ('ready', 'sending', 'checking'))
        order by o.next_attempt_at limit 1 for no key update skip locked;
    elsif p_conversation is null then
        -- Due longest; a row that is locked by another claim is left to that claim.
        select o.tenant_id, o.id into v_tenant, v_id from outbound o
        where o.state in ('ready', 'sending', 'checking') and o.next_attempt_at <= clock_timestamp()
          and (o.lease_until is null or o.lease_until < clock_timestamp())
          and is_head(o.tenant_id, o.conversation_id, o.seq)
        order by o.next_attempt_at limit 1 for no key update skip locked;
    else
        select o.tenant_id, o.id into v_tenant, v_id from outbound o
        where o.conversation_id = p_conversation
          and o.state in ('ready', 'sending', 'checking') and o.next_attempt_at <= clock_timestamp()
          and (o.lease_until is null or o.lease_until < clock_timestamp())
          and is_head(o.tenant_id, o.conversation_id, o.seq)
        order by o.next_attempt_at limit 1 for no key update skip locked;
    end if;
    if v_id is null then
        return;
    end if;
    return query update outbound o
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = o.fence + 1,
        state = case when o.state = 'ready' then 'sending' else o.state end
    where o.tenant_id = v_tenant and o.id = v_id
    returning o.tenant_id, o.id, o.conversation_id, o.fence;
end $$;

-- Returns whether no open row precedes this one in its conversation (promise 4), except one whose outcome has been
-- unknown for two minutes.
create function is_head(p_tenant text, p_conversation text, p_seq bigint)
returns boolean
language plpgsql stable as $$
begin
    return not exists (
        select 1 from outbound e
        where e.tenant_id = p_tenant and e.conversation_id = p_conversation and e.seq < p_seq
          and e.state in ('ready', 'sending', 'checking')
          and (e.unknown_since is null or e.unknown_since > clock_timestamp() - interval '2 minutes'));
end $$;

-- Locks a row of the outbox for its sender. Never against its keys ("for update"): a decision schedules the redraw of
-- the card, whose foreign key would wait here, while it holds the channel's row that the sender marks next.
create function lock_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_told(p_tenant, p_outbound);
    perform 1 from outbound o
    where o.tenant_id = p_tenant and o.id = p_outbound and o.fence = p_fence and o.owner is not null for no key update;
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

-- Releasing is repeatable: the fence rises only with a claim, so a row without an owner that still has our fence was
-- released by us.
create function outbound_released(p_tenant text, p_outbound text, p_fence bigint)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound
                   and o.fence = p_fence and o.owner is null);
end $$;

-- Returns a claimed row, with where it goes and whether parts of it are stored, in one round trip. "waited": of the first
-- answer or card of a turn, how long ago its first message came in; where the answer has grown in sight, until that began.
-- "asks": of a card, what has become of its approval by now.
create function read_outbound(p_tenant text, p_outbound text)
returns table (
    id text, kind text, text text, actions jsonb, media jsonb, sentences jsonb, wants_reply boolean, closing text,
    regardless boolean, attempts int, hangs int, stream text, stream_at timestamptz, age interval, rendered boolean,
    channel text, account text, peer text, thread text, overtaken boolean, own_chat boolean, missing boolean,
    identity_state text, language text, timezone text, answers text, subject text, traceparent text,
    waited interval, asks jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select o.id, o.kind, o.text, o.actions, o.media, o.sentences, o.wants_reply, o.closing, o.regardless, o.attempts,
           o.hangs, o.stream, o.stream_at, clock_timestamp() - since_halt(o.created_at),
           exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = o.id),
           c.channel, c.account, c.peer, c.thread,
           o.stream_at is not null and stream_overtaken(o.tenant_id, o.id),
           c.recipient_id is not null or c.peer = i.user_key or c.last_inbound_at is not null,
           c.recipient_id is null and exists (select 1 from outbound g where g.tenant_id = o.tenant_id and g.id <> o.id
                   and g.conversation_id = o.conversation_id and g.given_up_at is not null
                   and g.state in ('ambiguous', 'failed') and coalesce(g.told_missing_by, o.id) = o.id),
           coalesce(i.state, state_of_recipient(c.tenant_id, c.recipient_id)), nullif(p.language, ''),
           nullif(p.timezone, ''), coalesce(a.provider_id, ''), coalesce(a.subject, ''),
           o.traceparent, w.waited, k.asks
    from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants p on p.tenant_id = o.tenant_id
    -- What an email answers: the newest mail of its turn, else of its conversation.
    left join lateral (
        select m.provider_id, m.subject from inbound m
        where c.channel = 'email' and m.tenant_id = o.tenant_id and m.conversation_id = c.id and m.provider_id <> ''
        order by m.turn_id is not distinct from o.turn_id desc, m.seq desc limit 1) a on true
    -- What the same turn said before stands just before it: no more than that is looked at.
    left join lateral (
        select coalesce(o.stream_at, clock_timestamp()) - min(n.received_at) as waited from inbound n
        where o.kind in ('reply', 'card') and n.tenant_id = o.tenant_id and n.turn_id = o.turn_id
          and not exists (select 1 from outbound e where e.tenant_id = o.tenant_id
                          and e.conversation_id = o.conversation_id and e.seq between o.seq - 20 and o.seq - 1
                          and e.turn_id = o.turn_id and e.kind in ('reply', 'card'))) w on true
    left join lateral (
        select jsonb_build_object('code', s.code, 'editable', s.editable, 'seconds', extract(epoch from s.timeout),
            'expires_at', s.expires_at, 'decided_at', s.decided_at,
            'outcome', case when s.reason in ('reissued', 'amended', 'not_both') then s.reason else nullif(s.state, 'pending') end) as asks
        from approval_cards h join approvals s on s.tenant_id = h.tenant_id and s.id = h.approval_id
        where o.kind = 'card' and h.tenant_id = o.tenant_id and h.outbound_id = o.id and h.role = 'card' limit 1
    ) k on true
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Returns the stored parts of a row in order, with what is known of their calls.
create function read_parts(p_tenant text, p_outbound text)
returns table (
    part int, ref text, text text, data jsonb, segments int, state text, attempt int, silent_for interval, lost bigint,
    lost_since timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select e.part, e.ref, e.text, e.data, e.segments, e.state, coalesce(max(d.attempt), 0),
           coalesce(clock_timestamp() - max(d.started_at), interval '0'),
           count(*) filter (where d.outcome in ('started', 'ambiguous')),
           min(d.started_at) filter (where d.outcome in ('started', 'ambiguous'))
    from outbound_parts e
    left join deliveries d on d.tenant_id = e.tenant_id and d.outbound_id = e.outbound_id and d.part = e.part
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound
    group by e.tenant_id, e.outbound_id, e.part
    order by e.part;
end $$;

-- Stores the rendering of the first attempt, including the portions that the person has to ask for, so that later
-- attempts send the very same parts. p_text: the words that its sentences became; null where it has none.
create function keep_parts(
    p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb, p_rest jsonb, p_text text)
returns table (
    part int, ref text, text text, data jsonb, segments int, state text, attempt int, silent_for interval, lost bigint,
    lost_since timestamptz)
language plpgsql as $$
begin
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    if not exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound) then
        update outbound o
        set rest = p_rest, text = coalesce(p_text, o.text),
            sentences = case when p_text is null then o.sentences else '[]' end
        where o.tenant_id = p_tenant and o.id = p_outbound;
        perform insert_parts(p_tenant, p_outbound, p_parts);
    end if;
    return query select * from read_parts(p_tenant, p_outbound);
end $$;

create function insert_parts(p_tenant text, p_outbound text, p_parts jsonb)
returns void
language sql as $$
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_outbound, (v.value ->> 'part')::int, v.value ->> 'ref', v.value ->> 'text',
           v.value -> 'data', (v.value ->> 'segments')::int
    from jsonb_array_elements(p_parts) v
    on conflict on constraint outbound_parts_pkey do nothing
$$;

-- Commits the attempt before the call leaves, and extends the lease to cover it; refused during a halt, unless the
-- message goes regardless. Returns 'go', or why the call must not be made: 'sent' (a callback has proved that the part
-- arrived), 'unreachable' (the person has said STOP; promise 8: nothing reaches them, except its one confirmation, which
-- was queued after it).
create function begin_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_owner text, p_ttl interval)
returns text
language plpgsql as $$
declare
    v_lost int;
begin
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    -- Claims are not flushed: one that Postgres lost when it died may have been made again, with the same fence.
    if not exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.owner = p_owner) then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
    if not exists (select from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.regardless) then
        perform require_no_halt();
    end if;
    if exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
               and e.part = p_part and e.state = 'sent') then
        return 'sent';
    end if;
    if exists (select 1 from outbound o
               join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
               left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
               cross join lateral (
                   select coalesce(i.state, state_of_recipient(c.tenant_id, c.recipient_id)) as state) s
               where o.tenant_id = p_tenant and o.id = p_outbound and s.state <> 'active'
                 and not (o.regardless and s.state = 'stopped' and o.created_at >= coalesce((
                     select f.since from find_consent(i.channel, i.account, i.user_key) f), o.created_at))) then
        return 'unreachable';
    end if;
    -- An earlier sender died during its call: nobody else will record the outcome.
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

-- The same for a channel that is billed: counts the part's segments, and its price where it has one, with the attempt, in
-- one transaction, so that each call is counted once; a repeated call costs again. Answers have three quarters of a day's segments, so that cards,
-- receipts and notifications have the rest; `regardless` (the confirmation of a STOP) always goes, and counts. Also
-- returns 'over_person' and 'over_all', if the message was ended instead. Nothing is billed where p_bill is null.
create function begin_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_owner text, p_ttl interval,
    p_bill jsonb)
returns text
language plpgsql as $$
declare
    v record;
    v_kind text;
    v_regardless boolean;
    v_share numeric;
    v_day date;
    v_today int;
    v_begun text;
begin
    if p_bill is null then
        return begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    select * into v from jsonb_to_record(p_bill) as b (
        segments int, now timestamptz, limit_of_person int, limit_of_all int, price numeric);
    if exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
               and d.part = p_part and d.attempt = p_attempt) then
        return begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    end if;
    select o.kind, o.regardless, (v.now at time zone coalesce(nullif(t.timezone, ''), 'UTC'))::date
    into v_kind, v_regardless, v_day
    from outbound o join tenants t on t.tenant_id = o.tenant_id where o.tenant_id = p_tenant and o.id = p_outbound;
    v_share := case when v_kind = 'reply' then 0.75 else 1 end;
    delete from segment_days s where s.tenant_id = p_tenant and s.day < v_day - 7;
    insert into segment_days (tenant_id, day) values (p_tenant, v_day) on conflict do nothing;
    select s.segments into v_today from segment_days s where s.tenant_id = p_tenant and s.day = v_day for update;
    if not v_regardless and v_today + v.segments > floor(v.limit_of_person * v_share) then
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of this person are used up', p_bill);
        return 'over_person';
    end if;
    v_begun := begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    if v_begun <> 'go' then
        return v_begun;
    end if;
    -- Last, since all people's texts wait for this row.
    if not take_segments_of_all((v.now at time zone 'UTC')::date, v.segments,
                                case when v_regardless then 2147483647 else floor(v.limit_of_all * v_share)::int end)
    then
        update deliveries d set finished_at = clock_timestamp(), outcome = 'rejected'
        where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of all people are used up', p_bill);
        return 'over_all';
    end if;
    update segment_days s set segments = s.segments + v.segments where s.tenant_id = p_tenant and s.day = v_day;
    if v.price > 0 then
        perform pay_text(p_tenant, p_outbound, v_day, v.price);
    end if;
    return 'go';
end $$;

-- Stores the rendering of the first attempt as keep_parts does, and begins the call of its first part, in one round
-- trip. p_rendered: "parts", "rest", "text"; p_bill is null where nothing is billed. Returns what begin_delivery does, or
-- 'kept' where another rendering is stored, which is to be sent: nothing has begun then.
create function begin_rendered(
    p_tenant text, p_outbound text, p_fence bigint, p_attempt int, p_owner text, p_ttl interval, p_rendered jsonb,
    p_bill jsonb)
returns text
language plpgsql as $$
begin
    if exists (
        select 1 from keep_parts(p_tenant, p_outbound, p_fence, p_rendered -> 'parts', p_rendered -> 'rest',
                                 p_rendered ->> 'text') k
        where k.part = 1 and k.ref <> p_rendered -> 'parts' -> 0 ->> 'ref') then
        return 'kept';
    end if;
    return begin_delivery(p_tenant, p_outbound, p_fence, 1, p_attempt, p_owner, p_ttl, p_bill);
end $$;

-- Returns a row's state from its parts, if none failed: 'sending' while one is open.
create function outbound_state(p_tenant text, p_outbound text)
returns text
language sql as $$
    select case
        when count(*) filter (where e.state in ('ready', 'sending', 'checking')) > 0 then 'sending'
        when count(*) filter (where e.state = 'ambiguous') > 0 then 'ambiguous'
        else 'sent' end
    from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
$$;

-- Ends a claimed row whose parts were all ended by callbacks, without its sender.
create function settle_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns text
language plpgsql as $$
declare
    v_state text;
begin
    if not outbound_released(p_tenant, p_outbound, p_fence) then
        perform lock_outbound(p_tenant, p_outbound, p_fence);
        update outbound o
        set state = outbound_state(p_tenant, p_outbound), owner = null, lease_until = null,
            sent_at = case when outbound_state(p_tenant, p_outbound) = 'sent' then clock_timestamp() end
        where o.tenant_id = p_tenant and o.id = p_outbound and outbound_state(p_tenant, p_outbound) <> 'sending';
    end if;
    select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    return v_state;
end $$;

-- Records the outcome of an attempt: part_state sent, ready (again), checking, ambiguous or failed. Repeating it
-- changes nothing. The row follows: sent with its last part; ready or checking until p_delay from now; ambiguous parts
-- let the rest go on; failed ends it, and identity_state (if any) is stored on the identity (promise 8). The record of
-- consents has the provider's code that stopped a person.
create function end_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_end jsonb, p_delay interval)
returns text
language plpgsql as $$
declare
    v record;
    v_state text;
    v_before text;
    v_conversation text;
begin
    select * into v from jsonb_to_record(p_end) as e (
        part_state text, outcome text, error_code text, reason text, provider_id text, degraded boolean,
        identity_state text);
    -- 1. Lock the message; a repeat changes nothing.
    if outbound_released(p_tenant, p_outbound, p_fence) then
        select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
        return v_state;
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    -- 2. Record the outcome of the call.
    select d.outcome into v_before from deliveries d
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    update deliveries d
    set finished_at = clock_timestamp(), outcome = v.outcome, error_code = v.error_code, provider_id = v.provider_id
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    -- 3. A callback with our ref may have settled the part already: that is never undone.
    update outbound_parts e
    set state = case when e.state = 'sent' then 'sent' else v.part_state end,
        provider_id = case when v.provider_id <> '' then v.provider_id else e.provider_id end,
        degraded = e.degraded or v.degraded,
        error_code = case when v.part_state = 'sent' then '' else v.error_code end,
        sent_at = case when v.part_state = 'sent' then coalesce(e.sent_at, clock_timestamp()) else e.sent_at end
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part
    returning e.state into v_state;
    if v_state not in ('failed', 'ready', 'checking') then
        v_state := outbound_state(p_tenant, p_outbound);
    end if;
    -- 4. Move the message on.
    update outbound o
    set state = v_state,
        reason = case when v_state = 'sent' then '' when v.reason <> '' then v.reason else o.reason end,
        ambiguities = o.ambiguities
            + (case when v_before = 'started' and v.outcome in ('ambiguous', 'found', 'left') then 1 else 0 end),
        next_attempt_at = case when v_state in ('ready', 'checking') then clock_timestamp() + p_delay
                               else o.next_attempt_at end,
        -- A part that waits for its next attempt may still have an earlier call whose outcome is unknown.
        unknown_since = case when v_state = 'checking' then coalesce(o.unknown_since, clock_timestamp())
                             when v_state = 'ready' then o.unknown_since end,
        given_up_at = case when v.outcome in ('left', 'gave_up') or v.part_state = 'ambiguous' then clock_timestamp()
                           else o.given_up_at end,
        owner = case when v_state = 'sending' then o.owner end,
        lease_until = case when v_state = 'sending' then o.lease_until end,
        sent_at = case when v_state = 'sent' then clock_timestamp() else o.sent_at end
    where o.tenant_id = p_tenant and o.id = p_outbound
    returning o.conversation_id into v_conversation;
    -- 5. Mark an address that takes nothing more, and a channel that works.
    if v.identity_state <> '' then
        update identities i
        set state = v.identity_state, state_reason = btrim(v.outcome || ' ' || v.error_code),
            state_at = clock_timestamp()
        from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation
          and i.tenant_id = c.tenant_id and i.id = c.identity_id and i.state = 'active';
        insert into consents (channel, account, user_key, state, how)
        select r.channel, r.account, r.user_key, v.identity_state, btrim(v.outcome || ' ' || v.error_code)
        from conversations c join recipients r on r.tenant_id = c.tenant_id and r.id = c.recipient_id
        where c.tenant_id = p_tenant and c.id = v_conversation
          and state_of_recipient(r.tenant_id, r.id) = 'active';
    end if;
    if v.part_state = 'sent' then
        perform mark_channel(c.channel, c.account, false) from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation;
    end if;
    return v_state;
end $$;

-- The same, and if that ends the row, claims the next one of its conversation as p_next_owner, in one round trip.
create function end_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_end jsonb, p_delay interval,
    p_next jsonb)
returns table (state text, tenant_id text, outbound_id text, conversation_id text, fence bigint)
language plpgsql as $$
declare
    v_state text := end_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_end, p_delay);
begin
    if v_state not in ('ready', 'sending', 'checking') then
        return query select v_state, c.* from outbound o
        cross join lateral claim_outbound(o.conversation_id, p_next ->> 'owner', (p_next ->> 'ttl')::interval) c
        where o.tenant_id = p_tenant and o.id = p_outbound;
        if found then
            return;
        end if;
    end if;
    return query select v_state, null::text, null::text, null::text, null::bigint;
end $$;

-- Ends a row that may not be sent at all (its person said STOP, or it cannot be rendered).
create function fail_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text)
returns void
language plpgsql as $$
begin
    if outbound_released(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'failed', reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Returns a row untouched, for a shutdown between parts.
create function give_back_outbound(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    if outbound_released(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set owner = null, lease_until = null,
        state = case when o.state = 'sending' then 'ready' else o.state end
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- The provider moved the chat: later messages go to its new address.
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
            and o.peer = p_peer and o.thread = c.thread and o.recipient_id is not distinct from c.recipient_id);
end $$;

-- Finds a part as look_for_part does, and locks its person, so that a merge does not lose the outcome of a part.
create function find_part(p_channel text, p_account text, p_ref text, p_provider_id text)
returns table (tenant_id text, outbound_id text, part int)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_held text;
begin
    loop
        select f.tenant_id into v_tenant from look_for_part(p_channel, p_account, p_ref, p_provider_id) f limit 1;
        exit when v_tenant is null or v_tenant = v_held;
        perform lock_person(v_tenant, false);
        v_held := v_tenant;
    end loop;
    return query select * from look_for_part(p_channel, p_account, p_ref, p_provider_id);
end $$;

create function look_for_part(p_channel text, p_account text, p_ref text, p_provider_id text)
returns table (tenant_id text, outbound_id text, part int)
language sql stable security definer set search_path = public, pg_temp as $$
    select e.tenant_id, e.outbound_id, e.part
    from (
        -- Each by its own index: one condition for both would be found by neither.
        select r.* from outbound_parts r where r.ref = p_ref
        union all
        select r.* from outbound_parts r where p_ref = '' and r.provider_id = p_provider_id and r.provider_id <> '') e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where c.channel = p_channel and c.account = p_account
    limit 1
$$;

-- Applies a status callback by rank, never back. It also proves that a part whose answer was lost has arrived (or was
-- accepted although the provider answered otherwise), and lets the row go on at once.
create function apply_status(
    p_channel text, p_account text, p_ref text, p_provider_id text, p_status text, p_rank int, p_error_code text,
    p_files_lost boolean)
returns table (tenant_id text, conversation_id text, resolved boolean)
language plpgsql as $$
declare
    v_tenant text;
    v_outbound text;
    v_part int;
    v_conversation text;
    v_before text;
    v_claimed boolean;
    v_turn text;
    v_instead text;
    v_told_before boolean;
begin
    -- 1. Find the part, and lock its news and its message first.
    select f.tenant_id, f.outbound_id, f.part into v_tenant, v_outbound, v_part
    from find_part(p_channel, p_account, p_ref, p_provider_id) f;
    if v_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    perform lock_told(v_tenant, v_outbound);
    select o.conversation_id, o.turn_id, o.owner is not null and o.lease_until > clock_timestamp()
    into v_conversation, v_turn, v_claimed from outbound o
    where o.tenant_id = v_tenant and o.id = v_outbound for no key update;
    select e.state, e.status_rank >= p_rank, (
        select string_agg(case when exists (select from files f where f.tenant_id = v_tenant and f.id = lost ->> 'id')
                               then lost ->> 'instead' else lost ->> 'gone' end, E'\n')
        from jsonb_array_elements(e.data -> 'files') lost)
    into v_before, v_told_before, v_instead from outbound_parts e
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part for update;
    -- 2. Move the part by rank, never back.
    update outbound_parts e
    set status = case when p_rank > e.status_rank then p_status else e.status end,
        status_at = case when p_rank > e.status_rank then clock_timestamp() else e.status_at end,
        error_code = case when p_rank > e.status_rank then p_error_code else e.error_code end,
        status_rank = greatest(e.status_rank, p_rank),
        provider_id = case when e.provider_id = '' then p_provider_id else e.provider_id end,
        state = case when e.state = 'failed' then e.state else 'sent' end,
        sent_at = case when e.state = 'failed' then e.sent_at else coalesce(e.sent_at, clock_timestamp()) end
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part;
    update outbound o set undelivered = not o.undelivered
    where o.tenant_id = v_tenant and o.id = v_outbound and o.undelivered <> exists (
        select from outbound_parts e where e.tenant_id = v_tenant and e.outbound_id = v_outbound
          and e.status in ('undelivered', 'failed'));
    -- 3. If the row is claimed, its sender sees this when it records the outcome of its own call.
    if v_before in ('ready', 'sending', 'checking', 'ambiguous') then
        update outbound o
        set state = v.state, next_attempt_at = clock_timestamp(),
            reason = case when v.state = 'sent' then '' else o.reason end,
            sent_at = case when v.state = 'sent' then clock_timestamp() else o.sent_at end
        from (select case outbound_state(v_tenant, v_outbound) when 'sending' then 'ready'
                     else outbound_state(v_tenant, v_outbound) end as state) v
        where o.tenant_id = v_tenant and o.id = v_outbound and o.owner is null and o.state <> 'failed';
    end if;
    -- 4. The provider took the message and then could not fetch its files: what stands in their place is sent after it.
    if p_files_lost and v_instead <> '' and not v_told_before then
        perform enqueue(v_tenant, v_conversation, v_turn, jsonb_build_array(jsonb_build_object(
            'id', v_outbound || '.' || v_part, 'kind', 'reply', 'text', v_instead)));
        update outbound o set resolution = 'resent'
        where o.tenant_id = v_tenant and o.id = v_outbound and o.resolution = '' and not exists (
            select from outbound_parts e where e.tenant_id = v_tenant and e.outbound_id = v_outbound
              and e.part <> v_part and (e.state = 'failed' or e.status in ('undelivered', 'failed')));
        return query select v_tenant, v_conversation, true;
        return;
    end if;
    return query select v_tenant, v_conversation,
        v_before in ('ready', 'sending', 'checking', 'ambiguous') and not v_claimed;
end $$;

-- Marks the identity to which a part was sent as one that cannot be reached any more.
create function mark_gone(p_channel text, p_account text, p_ref text, p_reason text)
returns void
language plpgsql as $$
declare
    v_tenant text;
    v_outbound text;
begin
    select f.tenant_id, f.outbound_id into v_tenant, v_outbound from find_part(p_channel, p_account, p_ref, '') f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    update identities i set state = 'blocked', state_reason = p_reason, state_at = clock_timestamp()
    from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.tenant_id = v_tenant and o.id = v_outbound and i.tenant_id = c.tenant_id and i.id = c.identity_id
      and i.user_key = c.peer and i.state = 'active';
end $$;

-- Returns where a high-risk approval is shown besides an SMS, whose sender can be forged: the person's newest other
-- chat.
create function other_conversation(p_tenant text, p_not_on text)
returns text
language sql stable as $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where c.tenant_id = p_tenant and c.channel not in (p_not_on, 'terminal', 'mcp') and not is_one_way(c.channel, c.account)
      and c.thread = ''
      and i.state = 'active' and i.admitted <> ''
    order by c.last_inbound_at desc nulls last limit 1
$$;

-- Comes back to a row later, having counted the attempt. Repeatable.
create function put_off_outbound(p_tenant text, p_outbound text, p_fence bigint, p_delay interval)
returns void
language plpgsql as $$
begin
    if outbound_released(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'ready', attempts = o.attempts + 1, owner = null, lease_until = null,
        next_attempt_at = clock_timestamp() + p_delay
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Ends a row whose outcome could not be recorded, twice in a row, so that it blocks nothing behind it. A row whose call
-- may have left is not known to have failed, so none of the consequences of a failure apply.
create function set_aside_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text)
returns void
language plpgsql as $$
declare
    v_left boolean;
begin
    if outbound_released(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    v_left := exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
                      and d.outcome in ('started', 'ambiguous', 'accepted', 'found'));
    update outbound o
    set state = case when v_left then 'ambiguous' else 'failed' end, reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Enqueues the next portion of a conversation's last answer. False if none is stored, or only one older than p_within.
-- A resumed turn that asks again has its portion already.
create function say_more(p_tenant text, p_conversation text, p_turn text, p_outbound text, p_within interval)
returns boolean
language plpgsql as $$
declare
    v_last outbound%rowtype;
    v_text text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = p_conversation for no key update;
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.conversation_id = p_conversation
               and o.turn_id = p_turn and o.kind = 'reply') then
        return true;
    end if;
    select o.* into v_last from outbound o
    where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.kind = 'reply' and o.seq is not null
    order by o.seq desc limit 1;
    if v_last.id is null or v_last.rest = '[]' or v_last.created_at < clock_timestamp() - p_within then
        return false;
    end if;
    select string_agg(v.value ->> 'text', E'\n' order by (v.value ->> 'part')::int) into v_text
    from jsonb_array_elements(v_last.rest -> 0) v;
    perform enqueue(p_tenant, p_conversation, p_turn,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', v_text)));
    perform insert_parts(p_tenant, p_outbound, v_last.rest -> 0);
    update outbound o set rest = case when o.id = p_outbound then v_last.rest - 0 else '[]' end
    where o.tenant_id = p_tenant and o.id in (p_outbound, v_last.id);
    return true;
end $$;

-- Counts segments of all people unless they exceed the limit; the row's lock makes it exact under any number of
-- workers.
create function take_segments_of_all(p_day date, p_segments int, p_limit int)
returns boolean
language plpgsql as $$
begin
    insert into segments_of_all as s (day) values (p_day) on conflict (day) do nothing;
    update segments_of_all s set segments = s.segments + p_segments
    where s.day = p_day and s.segments + p_segments <= p_limit;
    if found then
        return true;
    end if;
    update segments_of_all s set refused = s.refused + 1 where s.day = p_day;
    return false;
end $$;

-- Ends a message that would exceed its budget here: it moves to another place of the person's if there is one, and the
-- person is told once a day, by the texts of its bill. A card is moved as a whole, once, and never approved unseen: if
-- another place shows it already it is not shown there twice; its approval moves too, so that reminders are sent there
-- and plain words there mean it. The same goes for a message that wants a reply. One to a recipient goes nowhere else:
-- its trigger tells the person.
create function end_unpaid(
    p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_bill jsonb)
returns void
language plpgsql as $$
declare
    v_row outbound%rowtype;
    v_other text;
    v_shows text;
    v_shown_in text;
    v_first boolean;
begin
    select o.* into v_row from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    if v_row.kind = 'outreach' then
        perform fail_outbound(p_tenant, p_outbound, p_fence, p_why);
        return;
    end if;
    select other_conversation(p_tenant, c.channel) into v_other from conversations c
    where c.tenant_id = p_tenant and c.id = v_row.conversation_id;
    select k.approval_id into v_shows from approval_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    select o.conversation_id into v_shown_in from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    where v_row.kind = 'card' and k.tenant_id = p_tenant and k.approval_id = v_shows and k.role = 'card'
      and o.conversation_id <> v_row.conversation_id and o.state <> 'failed'
    limit 1;
    v_other := coalesce(v_shown_in, v_other);
    if v_other is not null and v_shown_in is null then
        perform enqueue(p_tenant, v_other, v_row.turn_id, jsonb_build_array(jsonb_build_object(
            'id', p_bill ->> 'copy', 'kind', v_row.kind, 'text', v_row.text, 'actions', v_row.actions,
            'media', v_row.media, 'wants_reply', v_row.wants_reply, 'closing', v_row.closing,
            'shows', coalesce(v_shows, ''))));
    end if;
    if v_other is not null and v_row.kind = 'card' then
        update approvals a set conversation_id = v_other
        where a.tenant_id = p_tenant and a.id = v_shows and a.state = 'pending';
    end if;
    perform fail_outbound(p_tenant, p_outbound, p_fence,
                          p_why || case when v_other is null then '' else '; sent to another place' end);
    update segment_days s set told = true where s.tenant_id = p_tenant and s.day = p_day and not s.told
    returning true into v_first;
    if v_first then
        perform enqueue(p_tenant, v_row.conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_bill ->> 'notice', 'kind', 'notification', 'text',
            p_bill ->> case when v_other is null then 'over' else 'moved' end)));
    end if;
end $$;
