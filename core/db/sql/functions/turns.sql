-- Turns: who may run on a lane, what they recorded, and how they end. Every write carries the fence.
--
-- Locks of a person's rows are taken in this order, in all functions: person, conversation, lane, approval, turn,
-- message, its parts, news, and the channel last; lanes and conversations among themselves by their ids. They are taken
-- "for no key update", for which foreign keys do not wait. Who comes the other way takes only what is free ("skip
-- locked"). docs/architecture.md has more; tests/core/db/test_lock_pairs.py runs each two functions at once.

-- Claims the named lane, or the one that waits longest, of a person with fewer than p_limit running lanes. A lane whose
-- turn is quarantined is claimed once it has waited for p_patience; any other if p_any. Both are decided by what
-- quarantine_facts returns (core/queue/quarantine.py), p_facts: if that is no longer so, the only row returns what is so
-- now in place of a lane. While no turn is quarantined p_facts is null, and one call claims.
create function claim_lane(
    p_lane text, p_process text, p_owner text, p_ttl interval, p_limit integer, p_facts jsonb, p_patience interval,
    p_any boolean)
returns table (tenant_id text, lane_id text, fence bigint, quarantine jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_lane text;
    v_facts jsonb;
begin
    -- 1. A repeat by the same owner, whose first answer was lost.
    return query select l.tenant_id, l.id, l.fence, null::jsonb from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found or is_halted() then
        return;
    end if;
    -- 2. Lock the conversation: open_turn may begin the turn in this very transaction, and all lock it before the lane. Where
    -- leases have expired, lanes are locked to free them: then nothing is waited for, and the slow poll finds the lane.
    if exists (select 1 from lanes l where l.owner is not null and l.lease_until < clock_timestamp()) then
        perform reap_lapsed(p_process, p_ttl);
        if exists (select 1 from lanes l where l.id = p_lane and l.conversation_id is not null) then
            perform 1 from conversations c join lanes l on l.tenant_id = c.tenant_id and l.conversation_id = c.id
            where l.id = p_lane for no key update of c skip locked;
            if not found then
                return;
            end if;
        end if;
    elsif p_lane is not null then
        perform 1 from conversations c join lanes l on l.tenant_id = c.tenant_id and l.conversation_id = c.id
        where l.id = p_lane and l.pending and l.owner is null for no key update of c;
    end if;
    -- 3. Require that the facts about quarantine are those that were decided by.
    if exists (select 1 from turns t where t.state = 'running' and t.quarantined) then
        -- Claims of one process are serialised here: the process would look idle to two concurrent ones.
        perform pg_advisory_xact_lock(hashtextextended('quarantine in ' || p_process, 0));
        v_facts := quarantine_facts(p_process, p_limit);
    end if;
    if v_facts is distinct from p_facts then
        return query select null::text, null::text, null::bigint, coalesce(v_facts, 'null');
        return;
    end if;
    -- 4. Find the work, in the requested lane, if any. Each way has a statement and so a plan of its own, which is kept.
    if p_lane is null then
        -- First come, first served; a lane that is locked by another claim is left to that claim.
        select l.tenant_id, l.id into v_tenant, v_lane from lanes l
        where l.pending and l.owner is null and (l.not_before is null or l.not_before <= clock_timestamp())
          and may_run(l.tenant_id, l.id, l.not_before, p_limit, p_patience, p_any)
        order by l.pending_since limit 1 for no key update skip locked;
    else
        select l.tenant_id, l.id into v_tenant, v_lane from lanes l
        where l.id = p_lane
          and l.pending and l.owner is null and (l.not_before is null or l.not_before <= clock_timestamp())
          and may_run(l.tenant_id, l.id, l.not_before, p_limit, p_patience, p_any)
        limit 1 for no key update skip locked;
    end if;
    -- 5. Take the lease.
    return query update lanes l
    set process = p_process, owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = l.fence + 1
    where l.tenant_id = v_tenant and l.id = v_lane
    returning l.tenant_id, l.id, l.fence, null::jsonb;
end $$;

-- Returns whether a lane that waits may run in a process: its person has fewer than the allowed number of running lanes;
-- its turn is quarantined and has waited long enough for this process, or this process may claim any lane.
create function may_run(
    p_tenant text, p_lane text, p_not_before timestamptz, p_limit integer, p_patience interval, p_any boolean)
returns boolean
language plpgsql stable as $$
begin
    return (select count(*) from lanes o where o.tenant_id = p_tenant and o.lease_until > clock_timestamp()) < p_limit
       and coalesce(
           (select p_not_before <= clock_timestamp() - p_patience
            from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running' and t.quarantined),
           p_any);
end $$;

-- True while the lane is still ours. An expired lease that nobody has taken is simply renewed.
create function renew_lane(p_tenant text, p_lane text, p_fence bigint, p_ttl interval)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update lanes l set lease_until = clock_timestamp() + p_ttl
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null;
    return found;
end $$;

-- Returns why the calls of the turn that runs on a lane are cut off: the message with which its person asked to stop,
-- whether they wrote again and prefer that turns end for it, and whether all work is halted; null and false if not.
create function lane_cut(p_tenant text, p_lane text, out stop text, out superseded boolean, out halted boolean)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select t.stop_message, case when p.while_running = 'interrupt'
                                then jsonb_array_length(turn_news(t.tenant_id, t.id) -> 'waiting') > 0 end
    into stop, superseded from turns t join tenants p on p.tenant_id = t.tenant_id
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running';
    superseded := coalesce(superseded, false);
    halted := is_halted();
end $$;

create function lock_lane(p_tenant text, p_lane text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform 1 from lanes l
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null
    for no key update;  -- not shared: two that share it and then change it wait for each other
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

-- Releasing is repeatable: the fence rises only with a claim, so a lane without an owner that still has our fence was
-- released by us.
create function lane_released(p_tenant text, p_lane text, p_fence bigint)
returns boolean
language sql as $$
    select exists (select 1 from lanes l where l.tenant_id = p_tenant and l.id = p_lane
                   and l.fence = p_fence and l.owner is null)
$$;

-- Returns the turn to run now: the one that a dead worker left, or a waiting one that may resume, or a new one over all
-- waiting inbound, or none (then the lane is released). A clean hand-over by leave_lane is not counted as an attempt.
-- A lane without a conversation is a run's own. During a halt the lane is released with its work still pending.
create function begin_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text)
returns table (turn_id text, attempts int, is_run boolean, crashes int, solo_crashes int, quarantined boolean,
               traceparent text)
language plpgsql as $$
declare
    v_turn turns%rowtype;
    v_conversation text;
    v_command bigint;
    v_first bigint;
    v_trace text;
    v_until timestamptz;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- 1. Lock the conversation and the lane; a lane that was released by this worker has nothing to run.
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    if lane_released(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform lock_lane(p_tenant, p_lane, p_fence);
    if is_halted() then
        update lanes l set owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    -- 2. Go on with the turn that a dead worker left.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running';
    if v_turn.id is not null then
        if v_turn.fence <> p_fence then
            update turns t set fence = p_fence, tried_at = clock_timestamp()
            where t.tenant_id = p_tenant and t.id = v_turn.id returning t.* into v_turn;
        end if;
        return query select v_turn.id, v_turn.attempts, v_conversation is null, v_turn.crashes,
            v_turn.solo_crashes, v_turn.quarantined, v_turn.traceparent;
        return;
    end if;
    -- 3. A waiting turn that may resume precedes later messages: its person has answered.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'waiting' and t.ready
    order by t.started_at limit 1;
    if v_turn.id is not null then
        update turns t
        set state = 'running', ready = false, attempts = 1, fence = p_fence, tried_at = clock_timestamp(),
            quarantined = false, crashes = 0, solo_crashes = 0, crashed_after = -1
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        return query select v_turn.id, 1, v_conversation is null, 0, 0, false, v_turn.traceparent;
        return;
    end if;
    -- 4. Release the lane if nothing waits.
    if not exists (select 1 from inbound i where i.tenant_id = p_tenant
                   and i.conversation_id = v_conversation and i.state = 'waiting') then
        update lanes l set pending = false, pending_since = null, owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    -- 5. Messages are taken together up to the next command; a command is a turn of its own.
    select min(i.seq) into v_command from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and i.command is not null;
    select i.seq, i.traceparent into v_first, v_trace from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
    order by i.seq limit 1;
    -- 6. A text of which more may come waits for it; with a command among them the messages are complete up to that.
    if v_command is null then
        select o.until into v_until from open_text(p_tenant, v_conversation) o;
        if v_until is not null then
            update lanes l set owner = null, lease_until = null, not_before = v_until
            where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
            return;
        end if;
    end if;
    -- 7. Begin a new turn over what was taken.
    insert into turns (tenant_id, id, lane_id, conversation_id, fence, traceparent)
    values (p_tenant, p_turn, p_lane, v_conversation, p_fence, v_trace);
    update inbound i set state = 'taken', turn_id = p_turn
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and case when v_command is null then true when v_command = v_first then i.seq = v_first
               else i.seq < v_command end;
    return query select p_turn, 1, false, 0, 0, false, v_trace;
end $$;

-- Returns where a cut text begins of which more may come, and until when that is waited for: 2 seconds after its newest
-- part, 20 after its first. Nothing once the newest message is whole, or that time is over.
create function open_text(p_tenant text, p_conversation text)
returns table (since bigint, until timestamptz)
language plpgsql stable as $$
declare
    v_newest inbound%rowtype;
begin
    select i.* into v_newest from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.state = 'waiting'
    order by i.seq desc limit 1;
    if v_newest.goes_on is null then
        return;
    end if;
    select i.seq, least(v_newest.received_at + interval '2 seconds', i.received_at + interval '20 seconds')
    into since, until
    from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.state = 'waiting' and i.seq <= v_newest.seq
    -- Where its beginning was taken up before: the oldest part that waits.
    order by i.continues, case when i.continues then i.seq else -i.seq end limit 1;
    if until > clock_timestamp() then
        return next;
    end if;
end $$;

-- A worker that stops on purpose (or must wait) releases the lane with its work still pending; the next one continues
-- its turn, if it had started one, without counting an attempt.
create function leave_lane(p_tenant text, p_lane text, p_fence bigint, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if lane_released(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform lock_lane(p_tenant, p_lane, p_fence);
    update lanes l set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where l.tenant_id = p_tenant and l.id = p_lane;
end $$;

-- Stores steps, or one, and tells what has reached the turn meanwhile; see turn_news. During a halt the end of a step is
-- still stored, but no call with an effect begins.
create function record_step(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_step jsonb)
returns jsonb
language plpgsql as $$
declare
    -- An array, or the object of a single step.
    v_steps jsonb := '[]' || p_step;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_lane(p_tenant, p_lane, p_fence);
    if not exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = p_turn
                   and t.fence = p_fence and t.state = 'running') then
        -- The lane is ours, but its turn has ended: this write comes from a leftover of it.
        raise exception 'turn over' using errcode = 'OV001';
    end if;
    if v_steps @> '[{"state": "started"}]' and is_halted() and exists (
        select from jsonb_populate_recordset(null::steps, v_steps) v where begins_call(v)
        -- One that was stored under this lease has begun: its answer was lost.
        and not exists (select from steps s where (s.tenant_id, s.turn_id, s.agent_path, s.step, s.call_index)
                        = (p_tenant, p_turn, v.agent_path, v.step, v.call_index)
                        and s.result ->> 'under' = p_fence::text)) then
        perform require_no_halt();
    end if;
    -- Whatever comes after hurried steps in the turn is on disk no sooner, and their worker writes them again with it: if
    -- Postgres dies, it loses the end of a turn after which nothing has acted yet.
    if not v_steps @? '$[*] ? (!(@.hurried == true))' then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    perform store_steps(p_tenant, p_fence, p_turn, v_steps);
    return turn_news(p_tenant, p_turn);
end $$;

-- Returns whether a step begins a call that may have an effect. One that waits for an account or for its person, and an
-- agent that paused, are stored as started too.
create function begins_call(p_step steps)
returns boolean
language sql immutable as $$
    select p_step.state = 'started' and not coalesce(p_step.result ?| array['waits_for_account', 'paused_inside'], false)
$$;

-- Stores steps of a turn that runs under a lease, with their prompts and offers to take back. `waited_ms`: the age of a
-- step that was not written at once.
create function store_steps(p_tenant text, p_fence bigint, p_turn text, p_steps jsonb)
returns void
language plpgsql as $$
begin
    insert into steps as s (tenant_id, turn_id, agent_path, step, call_index, kind, name, args_hash, effect,
                            state, outcome, idempotency_key, result, usage, duration_ms, started_at, finished_at)
    select p_tenant, p_turn, v.agent_path, v.step, v.call_index, v.kind, v.name, v.args_hash, v.effect,
           v.state, v.outcome, v.idempotency_key,
           case when begins_call(v) then jsonb_build_object('under', p_fence) else '{}' end || coalesce(v.result, '{}') - 'undo',
           v.usage, v.duration_ms, t.at, case when v.state = 'done' then t.at end
    from jsonb_array_elements(p_steps) p, jsonb_populate_record(null::steps, p) v,
         lateral (select clock_timestamp() - coalesce((p ->> 'waited_ms')::int, 0) * interval '1 ms' as at) t
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set state = excluded.state, outcome = excluded.outcome, result = excluded.result, usage = excluded.usage,
        duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
    where s.state = 'started';
    -- What is being forgotten may stand in the prompts of turns that run meanwhile.
    if p_steps @? '$[*].prompt ? (@ != null)' and not exists (
        select where false
        -- Whether they forget something comes from their sql/forgetting.sql.
        ) then
        insert into prompts (tenant_id, turn_id, agent_path, step, packed)
        select p_tenant, p_turn, p ->> 'agent_path', (p ->> 'step')::int, decode(p ->> 'prompt', 'base64')
        from jsonb_array_elements(p_steps) p where p ->> 'prompt' is not null
        on conflict do nothing;
    end if;
    if p_steps @? '$[*] ? (@.state == "done").result.undo' then
        perform keep_undo(p_tenant, p_turn, concat_ws('/', p_turn, v.agent_path, v.step, v.call_index),
                          v.result -> 'undo')
        from jsonb_populate_recordset(null::steps, p_steps) v where v.state = 'done' and v.result ? 'undo';
    end if;
end $$;

-- Commits all results of a turn in one transaction, with its changes to the pool, and where it resumes if it waits.
-- Repeating it changes nothing. Returns whether more inbound has arrived: then the lease is kept and the next turn
-- starts at once.
create function finish_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_end jsonb)
returns boolean
language plpgsql as $$
declare
    v record;
    v_conversation conversations%rowtype;
    v_turn turns%rowtype;
    v_more boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v from jsonb_to_record(p_end) as e (
        state text, reason text, usage jsonb, history jsonb, outbound jsonb, absorbed text[], new_session boolean,
        pool jsonb, waiting_step int, traceparent text, steps jsonb);
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    -- 1. Lock the conversation and the lane; of a turn that has ended, return what was returned.
    select c.* into v_conversation from conversations c
    join lanes l on l.tenant_id = c.tenant_id and l.conversation_id = c.id
    where l.tenant_id = p_tenant and l.id = p_lane for no key update of c;
    select * into v_turn from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    if v_turn.fence is distinct from p_fence then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
    if v_turn.state <> 'running' then
        select l.fence = p_fence and l.owner is not null and l.pending into v_more
        from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
        return coalesce(v_more, false);
    end if;
    perform lock_lane(p_tenant, p_lane, p_fence);
    -- 2. Store the steps that waited for this write, and end the turn and its messages.
    if v.steps is not null then
        perform store_steps(p_tenant, p_fence, p_turn, v.steps);
    end if;
    update turns t set state = v.state, reason = v.reason, usage = v.usage, waiting_step = v.waiting_step,
        finished_at = case when v.state <> 'waiting' then clock_timestamp() end
    where t.tenant_id = p_tenant and t.id = p_turn;
    update inbound i set state = 'done', reason = v.reason
    where i.tenant_id = p_tenant and i.turn_id = p_turn and i.state = 'taken';
    update inbound i set state = 'done', reason = v.reason, turn_id = p_turn
    where i.tenant_id = p_tenant and i.id = any (v.absorbed)
      -- One that was deleted while it was being taken in was taken in.
      and (i.state = 'waiting' or i.state = 'ignored' and i.reason = 'deleted');
    -- 3. Write its history and its answer.
    insert into history (tenant_id, conversation_id, position, session, turn_id, message)
    select p_tenant, v_conversation.id, v_conversation.history_seq + h.position, v_conversation.session, p_turn, h.value
    from jsonb_array_elements(v.history) with ordinality as h (value, position);
    perform enqueue(p_tenant, v_conversation.id, p_turn, v.outbound);
    update conversations c
    set history_seq = c.history_seq + jsonb_array_length(v.history),
        session = c.session + (case when v.new_session then 1 else 0 end)
    where c.tenant_id = p_tenant and c.id = v_conversation.id;

    -- 4. What abilities noted of the turn is stored by their sql/finish_turn.sql.
    -- 5. Write what waits for the person, and void what was asked on words that they have changed meanwhile.
    perform write_pool(p_tenant, p_turn, v_conversation.id, v.pool);
    if v.state <> 'waiting' then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
    if v.new_session then
        perform close_questions(p_tenant, v_conversation.id);
    end if;
    if v.state = 'waiting' then
        perform void_unread_amendments(p_tenant, v_conversation.id);
    end if;
    -- 6. Release the lane, unless more waits.
    return end_lane_turn(p_tenant, p_lane, v_conversation.id);
end $$;

-- After the end of a turn: keeps the lane's lease if more waits for it, and releases it otherwise.
create function end_lane_turn(p_tenant text, p_lane text, p_conversation text)
returns boolean
language plpgsql as $$
declare
    v_more boolean := exists (select 1 from inbound i where i.tenant_id = p_tenant
                              and i.conversation_id = p_conversation and i.state = 'waiting')
        or exists (select 1 from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane
                   and t.state = 'waiting' and t.ready);
begin
    update lanes l
    set pending = v_more, pending_since = case when v_more then clock_timestamp() end,
        owner = case when v_more then l.owner end, lease_until = case when v_more then l.lease_until end,
        not_before = null
    where l.tenant_id = p_tenant and l.id = p_lane;
    return v_more;
end $$;

-- Lets a waiting turn resume. One that is running now resumes once more when it waits again. One that asked on behalf of
-- somebody else ('asks') has nothing more to do.
create function wake_turn(p_tenant text, p_turn text)
returns text
language plpgsql as $$
declare
    v_lane text;
begin
    select t.lane_id into v_lane from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    -- Lock the lane before the turn, as finish_turn does.
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for no key update;
    update turns t set state = 'done', finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'waiting' and t.reason = 'asks';
    if found then
        return null;
    end if;
    update turns t set ready = true
    where t.tenant_id = p_tenant and t.id = p_turn and t.state in ('waiting', 'running');
    if not found then
        return null;
    end if;
    update lanes l set pending = true, pending_since = coalesce(l.pending_since, clock_timestamp())
    where l.tenant_id = p_tenant and l.id = v_lane;
    return v_lane;
end $$;

-- A turn whose regular end the database refuses is ended with as little as possible: the person is told, its messages
-- count as answered, and the next turn runs. A part that cannot be written either is left out; that is not fatal.

-- A step that started without an end may have taken effect: the same call is then refused without approval.
create function close_steps(p_tenant text, p_turn text)
returns void
language sql as $$
    update steps s set state = 'done', outcome = 'unknown', finished_at = clock_timestamp()
    where s.tenant_id = p_tenant and s.turn_id = p_turn and s.state = 'started' and s.effect <> 'read'
$$;

-- Writes what the model sees of a turn that failed: the person's words, and the reply to them.
create function keep_failure(p_tenant text, p_conversation text, p_turn text, p_text text)
returns void
language plpgsql as $$
declare
    v_seq bigint;
    v_kept int;
begin
    select c.history_seq into v_seq from conversations c where c.tenant_id = p_tenant and c.id = p_conversation;
    insert into history (tenant_id, conversation_id, position, session, turn_id, message)
    select p_tenant, p_conversation, v_seq + row_number() over (order by m.place, m.seq), c.session, p_turn, m.message
    from conversations c,
         (select 0 as place, i.seq,
                 case when i.origin = 'own' then jsonb_build_object('role', 'user', 'text', words_of(i))
                      else jsonb_build_object('role', 'user', 'internal', true,
                                              'text', '[The person passed something on, not shown here.]')
                 end as message
          from inbound i
          where i.tenant_id = p_tenant and i.turn_id = p_turn
          union all select 1, 0, jsonb_build_object('role', 'assistant', 'text', p_text)) m
    where c.tenant_id = p_tenant and c.id = p_conversation;
    get diagnostics v_kept = row_count;
    update conversations c set history_seq = v_seq + v_kept where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

-- Ends the named turn or, without a name, whatever cannot start on the lane: the turn that runs or may resume,
-- otherwise the waiting messages. Repeating it changes nothing. Returns whether more waits: the lease is then kept.
create function fail_turn(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_absorbed text[], p_outbound text, p_templates jsonb,
    p_max_failures int)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
    v_turn turns%rowtype;
    v_begun boolean;
    v_text text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- 1. Lock the conversation and the lane, and find the turn.
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    if lane_released(p_tenant, p_lane, p_fence) then
        return false;
    end if;
    perform lock_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane
      and case when p_turn is null then t.state = 'running' or t.state = 'waiting' and t.ready
               else t.id = p_turn and t.state = 'running' end
    order by t.state, t.started_at limit 1;
    if v_turn.traceparent is not null then
        perform set_config('onevalet.trace', v_turn.traceparent, true);
    end if;
    -- 2. Say whether it may have done something.
    v_begun := exists (select from steps s where s.tenant_id = p_tenant and s.turn_id = v_turn.id
                       and s.kind in ('tool', 'agent') and s.effect in ('once', 'idempotent')
                       and (s.state = 'started' or s.outcome in ('ok', 'unknown')));
    v_text := case when v_begun then p_templates ->> 'begun' else p_templates ->> 'failed' end;
    -- 3. End the turn and its messages, or the messages for which none can begin.
    if v_turn.id is not null then
        update turns t set state = 'failed', reason = 'error', finished_at = clock_timestamp(), fence = p_fence
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        update inbound i set state = 'done', reason = 'error'
        where i.tenant_id = p_tenant and i.turn_id = v_turn.id and i.state = 'taken';
        update inbound i set state = 'done', reason = 'error', turn_id = v_turn.id
        where i.tenant_id = p_tenant and i.id = any (p_absorbed) and i.state = 'waiting';
        begin
            perform close_steps(p_tenant, v_turn.id);
            delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_turn.id;
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'steps or pool of a failed turn stay as they are: %', sqlstate;
        end;
    elsif p_turn is null then
        update inbound i set state = 'done', reason = 'error'
        where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    end if;
    -- 4. Tell the person, by the run or by a reply, as far as the database takes it.
    if v_conversation is null and v_turn.id is not null then
        begin
            perform note_run(p_tenant, v_turn.id, jsonb_build_object(
                'even_waiting', true, 'state', 'FAILED', 'reason', 'error', 'history', '[]'::jsonb, 'key', 'end', 'kind', 'end',
                'text', p_templates -> case when v_begun then 'run_begun' else 'run_failed' end,
                'max_failures', p_max_failures, 'disabled', p_templates -> 'disabled'));
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'a run stays as it is: %', sqlstate;
        end;
    elsif v_turn.id is not null or p_turn is null then
        begin
            perform enqueue(p_tenant, v_conversation, v_turn.id,
                        jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', v_text)));
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'nobody is told of a failed turn: %', sqlstate;
        end;
        begin
            if v_turn.id is not null then
                perform keep_failure(p_tenant, v_conversation, v_turn.id, v_text);
            end if;
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'a failed turn is not in history: %', sqlstate;
        end;
    end if;
    -- 5. Release the lane, unless more waits.
    return end_lane_turn(p_tenant, p_lane, v_conversation);
end $$;

-- What a turn reads while it runs: what has reached it, and its journal.

-- Returns its person's stop, what they wrote since, up to the next command or to a text of which more may come, and
-- whether all work is halted; null if there is none of it.
create function turn_news(p_tenant text, p_turn text)
returns jsonb
language plpgsql as $$
declare
    v_stop text;
    v_waiting jsonb;
    v_halted boolean := is_halted();
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select t.stop_message, (
        select jsonb_agg(turn_message(i) order by i.seq) from inbound i
        where i.tenant_id = t.tenant_id and i.conversation_id = t.conversation_id and i.state = 'waiting'
          and i.seq < coalesce(
            (select min(k.seq) from inbound k where k.tenant_id = t.tenant_id
             and k.conversation_id = t.conversation_id and k.state = 'waiting' and k.command is not null),
            (select o.since from open_text(t.tenant_id, t.conversation_id) o), i.seq + 1))
    into v_stop, v_waiting
    from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    if v_stop is null and v_waiting is null and not v_halted then
        return null;
    end if;
    return jsonb_build_object('stop', v_stop, 'waiting', coalesce(v_waiting, '[]'), 'halted', v_halted);
end $$;

-- Returns a message as its turn sees it.
create function turn_message(p_inbound inbound)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'id', p_inbound.id, 'text', p_inbound.text, 'received_at', p_inbound.received_at,
        'media_count', jsonb_array_length(p_inbound.media), 'command', p_inbound.command, 'origin', p_inbound.origin,
        'points', p_inbound.points, 'goes_on', p_inbound.goes_on, 'continues', p_inbound.continues,
        'provider_id', p_inbound.provider_id, 'traceparent', p_inbound.traceparent,
        'amends', case when p_inbound.points @> '[{"whose": "changed"}]' then first_sent(p_inbound) end,
        -- Few messages answer another: a call that finds nothing costs as much as all the rest.
        'about', case when p_inbound.reply_to <> ''
                      then answered_card(p_inbound.tenant_id, p_inbound.conversation_id, p_inbound.reply_to) end)
$$;

-- Returns whether the newest call of a tool with these arguments, in any turn, has an unknown outcome.
create function has_unknown_outcome(p_tenant text, p_name text, p_args_hash text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return coalesce((
        select s.outcome = 'unknown' from steps s
        where s.tenant_id = p_tenant and s.name = p_name and s.args_hash = p_args_hash and s.state = 'done'
          and s.outcome in ('ok', 'unknown')
        order by s.finished_at desc limit 1), false);
end $$;

create function read_steps(p_tenant text, p_turn text)
returns setof steps
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select * from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn
    order by s.agent_path, s.step, s.call_index;
end $$;

-- Begins the lane's turn, and returns with it all that a turn over messages begins with: its conversation and person,
-- its messages, what is known of the person, the newest of the session's history, and whether the person has approvals
-- or waiting agents that concern it, and the descriptions of the stored values in p_described. `was_passed_on`: a turn that waited began with words of others.
create function open_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_history int,
    p_described text[] default '{}')
returns table (
    turn_id text, attempts int, is_run boolean, crashes int, solo_crashes int, quarantined boolean, traceparent text,
    channel text, account text, peer text, thread text, conversation_id text, role text, tier text, user_key text,
    sender_state text, admitted text, waiting_step int, name text, language text, timezone text,
    timezone_known boolean, while_running text, history jsonb, has_pool boolean, has_approvals boolean,
    taken jsonb, facts jsonb, is_new boolean, described jsonb, was_passed_on boolean, brought jsonb)
language plpgsql as $$
begin
    if p_lane is null then  -- nothing was claimed
        return;
    end if;
    return query
    select b.*, r.*, b.turn_id = p_turn and b.attempts = 1, described_values(p_tenant, p_described),
           r.waiting_step is not null and exists (
               select from inbound m where m.tenant_id = p_tenant and m.turn_id = b.turn_id
               and (m.origin <> 'own' or m.points @> '[{"whose": "others"}]')),
           (select jsonb_object_agg(a.ability, a.brings) from (
                select null::text as ability, null::jsonb as brings where false
                -- What the abilities read with a turn, from their sql/open_turn.sql.
            ) a)
    from begin_turn(p_tenant, p_lane, p_fence, p_turn) b
    left join lateral read_turn(p_tenant, b.turn_id, p_history) r on not b.is_run;
    -- A turn that is new need not be on disk before it goes on. If Postgres dies and loses it, its messages wait as
    -- before, and whatever is written for a turn that is not there is refused: record_step and finish_turn commit, and
    -- with them what came before, before anybody sees anything of it.
    if exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = p_turn and t.attempts = 1) then
        perform set_config('synchronous_commit', 'off', true);
    end if;
end $$;

create function read_turn(p_tenant text, p_turn text, p_history int)
returns table (
    channel text, account text, peer text, thread text, conversation_id text, role text, tier text, user_key text,
    sender_state text, admitted text, waiting_step int, name text, language text, timezone text,
    timezone_known boolean, while_running text, history jsonb, has_pool boolean, has_approvals boolean,
    taken jsonb, facts jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select c.channel, c.account, c.peer, c.thread, c.id, p.role, nullif(p.tier, ''), i.user_key, i.state, i.admitted,
           t.waiting_step, p.name, nullif(p.language, ''), coalesce(nullif(p.timezone, ''), 'UTC'), p.timezone <> '',
           p.while_running,
           -- The newest rows are the session's: only among those is its own looked for, and older ones are not read.
           -- They are cut in steps of half of p_history, so that prompts begin alike from turn to turn.
           (select coalesce(jsonb_agg(h.message order by h.position) filter (where h.session = c.session), '[]')
            from (select n.position, n.message, n.session from history n
                  where n.tenant_id = p_tenant and n.conversation_id = c.id
                    and n.position > greatest(p_history / 2, 1)
                        * ((c.history_seq - p_history + greatest(p_history / 2, 1) - 1) / greatest(p_history / 2, 1))
                  order by n.position desc limit p_history) h),
           exists (select 1 from pool_entries e where e.tenant_id = p_tenant
                   and (e.turn_id = p_turn or e.status not in ('CANCELLED', 'COMPLETED'))),
           exists (select 1 from approvals a where a.tenant_id = p_tenant and a.state = 'pending')
               or exists (select 1 from approvals a where a.tenant_id = p_tenant and a.turn_id = p_turn),
           (select coalesce(jsonb_agg(turn_message(m) order by m.seq), '[]') from inbound m
            where m.tenant_id = p_tenant and m.turn_id = p_turn and m.state = 'taken'),
           (select coalesce(jsonb_agg(to_jsonb(f)), '[]') from read_profile(p_tenant) f)
    from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants p on p.tenant_id = t.tenant_id
    where t.tenant_id = p_tenant and t.id = p_turn;
end $$;

-- Deletes prompts that were sent before a time, the oldest first, p_limit at most; returns how many.
create function prune_prompts(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_pruned int;
begin
    delete from prompts p using (
        select o.tenant_id, o.turn_id, o.agent_path, o.step from prompts o
        where o.created_at <= p_before order by o.created_at limit p_limit for update skip locked) old
    where p.tenant_id = old.tenant_id and p.turn_id = old.turn_id and p.agent_path = old.agent_path and p.step = old.step;
    get diagnostics v_pruned = row_count;
    return v_pruned;
end $$;
