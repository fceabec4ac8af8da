-- Turns whose model is down. They keep their journals and hold no lease while they wait to be tried again.

-- Releases the lane of a turn whose model is down, to be tried again after a pause: doubling from five seconds to a
-- minute, times p_jitter, and at least p_retry_after. A stop does not wait. p_note: what tells the person that it takes
-- longer, once a turn; null where nobody is told. False, and nothing has changed, once its tries have failed for
-- p_patience, or would be due only after that. `due`: when it is tried again. Repeatable.
create function await_model(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_patience interval, p_retry_after interval,
    p_jitter double precision, p_note jsonb)
returns table (waits boolean, told boolean, due timestamptz)
language plpgsql as $$
declare
    v_conversation text;
    v_turn turns%rowtype;
    v_left interval;
    v_pause interval;
    v_due timestamptz;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    if lane_released(p_tenant, p_lane, p_fence) then
        return query select true, exists (
                select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_note ->> 'id'),
            (select l.not_before from lanes l where l.tenant_id = p_tenant and l.id = p_lane);
        return;
    end if;
    perform lock_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'running';
    -- An answer since then has ended that outage: this is another one.
    if v_turn.model_down_since is null or exists (
            select 1 from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn and s.kind = 'model'
            and s.finished_at > v_turn.model_down_since) then
        v_turn.model_down_since := clock_timestamp();
        v_turn.model_tries := 0;
    end if;
    v_left := since_halt(v_turn.model_down_since) + p_patience - clock_timestamp();
    v_pause := greatest(p_retry_after,
        least(interval '5 seconds' * power(2, least(v_turn.model_tries, 10)), interval '1 minute') * p_jitter);
    if v_left <= interval '0' or p_retry_after > v_left then
        return query select false, false, null::timestamptz;
        return;
    end if;
    v_due := clock_timestamp()
        + case when v_turn.stop_message is null then least(v_pause, v_left) else interval '0' end;
    update turns t set model_down_since = v_turn.model_down_since, model_tries = v_turn.model_tries + 1
    where t.tenant_id = p_tenant and t.id = p_turn;
    update lanes l
    set owner = null, lease_until = null, not_before = v_due
    where l.tenant_id = p_tenant and l.id = p_lane;
    return query select true, v_turn.stop_message is null and say_delay(p_tenant, v_conversation, p_turn, p_note),
        v_due;
end $$;

-- Tells the person of a turn, once, that it takes longer.
create function say_delay(p_tenant text, p_conversation text, p_turn text, p_note jsonb)
returns boolean
language plpgsql as $$
begin
    if p_note is null or p_conversation is null then
        return false;
    end if;
    update turns t set told_of_delay = true
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'running' and not t.told_of_delay;
    if found then
        perform enqueue(p_tenant, p_conversation, p_turn, jsonb_build_array(p_note));
    end if;
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_note ->> 'id');
end $$;

-- The same for a turn that still runs, under its lease.
create function tell_delay(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_note jsonb)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    perform lock_lane(p_tenant, p_lane, p_fence);
    return say_delay(p_tenant, v_conversation, p_turn, p_note);
end $$;

-- Returns whether the turn that runs on a lane has waited for its model.
create function awaits_model(p_tenant text, p_lane text)
returns boolean
language plpgsql stable as $$
begin
    return exists (select 1 from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running'
                   and t.model_down_since is not null);
end $$;

-- A person's stop: the turn of their conversation that waits for its model is due at once. Returns whether there is
-- one. Locks the lane before the turn, as everything does.
-- Asks the turn that runs on a lane to stop, with the person's words; returns its id, null where none runs. One that
-- awaits its model stops at once.
create function stop_running(p_tenant text, p_lane text, p_words text)
returns text
language plpgsql as $$
declare
    v_turn text;
begin
    perform stop_awaiting(p_tenant, p_lane);
    update turns t set stop_message = p_words
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running'
    returning t.id into v_turn;
    return v_turn;
end $$;

create function stop_awaiting(p_tenant text, p_lane text)
returns boolean
language plpgsql as $$
declare
    v_awaits boolean := awaits_model(p_tenant, p_lane);
begin
    if v_awaits then
        update lanes l set not_before = clock_timestamp()
        where l.tenant_id = p_tenant and l.id = p_lane and l.owner is null;
    end if;
    return v_awaits;
end $$;
