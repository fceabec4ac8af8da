-- Turns: who may run on a lane, what they recorded, and how they end. Every write carries the fence.

-- Takes a lane that has work and no live lease: the named one, or the one that waited longest. Repeating
-- the call with the same owner gives the same lane again, since an error does not mean "not committed".
create function claim_lane(p_lane text, p_owner text, p_ttl interval)
returns table (tenant_id text, lane_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_lane text;
begin
    return query select l.tenant_id, l.id, l.fence from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found then
        return;
    end if;
    select l.tenant_id, l.id into v_tenant, v_lane from lanes l
    where l.pending and (p_lane is null or l.id = p_lane)
      and (l.lease_until is null or l.lease_until < clock_timestamp())
      and (l.not_before is null or l.not_before <= clock_timestamp())
    order by l.pending_since limit 1 for update skip locked;
    if v_lane is null then
        return;
    end if;
    return query update lanes l
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = l.fence + 1
    where l.tenant_id = v_tenant and l.id = v_lane
    returning l.tenant_id, l.id, l.fence;
end $$;
create index lanes_owner on lanes (owner) where owner is not null;

-- True while the lane is still ours. A lease that ran out but that nobody took is simply prolonged.
create function renew_lane(p_tenant text, p_lane text, p_fence bigint, p_ttl interval)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update lanes l set lease_until = clock_timestamp() + p_ttl
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null;
    return found;
end $$;

create function hold_lane(p_tenant text, p_lane text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform 1 from lanes l
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null
    for share;
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

-- Letting go is repeatable: the fence rises with each claim only, so a lane without an owner that still has
-- our fence was let go by us.
create function lane_let_go(p_tenant text, p_lane text, p_fence bigint)
returns boolean
language sql as $$
    select exists (select 1 from lanes l where l.tenant_id = p_tenant and l.id = p_lane
                   and l.fence = p_fence and l.owner is null)
$$;

-- The turn to run now: the one a dead worker left, else a new one over all waiting inbound, else none (then
-- the lane is given back). A clean hand-over by leave_lane burns no attempt.
create function begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text)
returns table (turn_id text, attempts int, resumed boolean)
language plpgsql as $$
declare
    v_turn turns%rowtype;
    v_conversation text;
    v_command bigint;
    v_first bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running';
    if v_turn.id is not null then
        if v_turn.fence <> p_fence then
            update turns t set attempts = t.attempts + (case when t.owner = '' then 0 else 1 end),
                fence = p_fence, owner = p_owner
            where t.tenant_id = p_tenant and t.id = v_turn.id returning t.* into v_turn;
        end if;
        return query select v_turn.id, v_turn.attempts, v_turn.id <> p_turn;
        return;
    end if;
    if not exists (select 1 from inbound i where i.tenant_id = p_tenant
                   and i.conversation_id = v_conversation and i.state = 'waiting') then
        update lanes l set pending = false, pending_since = null, owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    insert into turns (tenant_id, id, lane_id, conversation_id, fence, owner)
    values (p_tenant, p_turn, p_lane, v_conversation, p_fence, p_owner);
    -- Messages are taken together up to the next command; a command is a turn of its own.
    select min(i.seq) into v_command from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and i.command is not null;
    select min(i.seq) into v_first from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    update inbound i set state = 'taken', turn_id = p_turn
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and case when v_command is null then true when v_command = v_first then i.seq = v_first
               else i.seq < v_command end;
    return query select p_turn, 1, false;
end $$;

-- A worker that stops on purpose (or must wait) gives the lane back with its work still pending, and the next
-- one goes on with its turn, if it had begun one, without a burnt attempt.
create function leave_lane(p_tenant text, p_lane text, p_fence bigint, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    update turns t set owner = ''
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.fence = p_fence and t.state = 'running';
    update lanes l set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where l.tenant_id = p_tenant and l.id = p_lane;
end $$;

create function record_step(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_agent_path text, p_step int, p_call_index int,
    p_kind text, p_name text, p_args_hash text, p_effect text, p_state text, p_outcome text,
    p_idempotency_key text, p_result jsonb, p_usage jsonb, p_duration_ms int)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_lane(p_tenant, p_lane, p_fence);
    if not exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = p_turn
                   and t.fence = p_fence and t.state = 'running') then
        -- The lane is ours, but its turn has ended: what still writes is a left-over of it.
        raise exception 'turn over' using errcode = 'OV001';
    end if;
    insert into steps as s (tenant_id, turn_id, agent_path, step, call_index, kind, name, args_hash, effect,
                            state, outcome, idempotency_key, result, usage, duration_ms, finished_at)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_kind, p_name, p_args_hash, p_effect,
            p_state, p_outcome, p_idempotency_key, p_result, p_usage, p_duration_ms,
            case when p_state = 'done' then clock_timestamp() end)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set state = excluded.state, outcome = excluded.outcome, result = excluded.result, usage = excluded.usage,
        duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
    where s.state = 'started';
end $$;

-- Puts what we owe into the outbox, in order: seq is given to what may be sent now, what has "held" true gets
-- it from release_outbound. Repeating it adds nothing.
create function owe(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb)
returns void
language plpgsql as $$
declare
    v_message jsonb;
    v_held boolean;
    v_seq bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.out_seq into v_seq from conversations c
    where c.tenant_id = p_tenant and c.id = p_conversation for update;
    for v_message in select * from jsonb_array_elements(p_outbound) loop
        v_held := coalesce((v_message ->> 'held')::boolean, false);
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, actions, media, state, seq)
        values (p_tenant, v_message ->> 'id', p_conversation, p_turn, v_message ->> 'kind', v_message ->> 'text',
                coalesce(v_message -> 'actions', '[]'), coalesce(v_message -> 'media', '[]'),
                case when v_held then 'held' else 'ready' end, case when not v_held then v_seq + 1 end)
        on conflict on constraint outbound_pkey do nothing;
        if found and not v_held then
            v_seq := v_seq + 1;
        end if;
    end loop;
    update conversations c set out_seq = v_seq where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

-- Makes a held row sendable: it comes after all that became sendable before it (promise 4).
create function release_outbound(p_tenant text, p_outbound text)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id into v_conversation from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
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

-- One transaction for all that a turn leaves behind. Repeating it changes nothing. Returns whether more
-- inbound came meanwhile: then the lease is kept and the next turn begins at once.
create function finish_turn(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_state text, p_reason text, p_usage jsonb,
    p_history jsonb, p_outbound jsonb, p_absorbed text[], p_new_session boolean)
returns boolean
language plpgsql as $$
declare
    v_conversation conversations%rowtype;
    v_turn turns%rowtype;
    v_more boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.* into v_conversation from conversations c
    join lanes l on l.tenant_id = c.tenant_id and l.conversation_id = c.id
    where l.tenant_id = p_tenant and l.id = p_lane for update of c;
    select * into v_turn from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    if v_turn.fence is distinct from p_fence then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
    if v_turn.state <> 'running' then
        select l.fence = p_fence and l.owner is not null and l.pending into v_more
        from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
        return coalesce(v_more, false);
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    update turns t set state = p_state, reason = p_reason, usage = p_usage, finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn;
    update inbound i set state = 'done', reason = p_reason
    where i.tenant_id = p_tenant and i.turn_id = p_turn and i.state = 'taken';
    update inbound i set state = 'done', reason = p_reason, turn_id = p_turn
    where i.tenant_id = p_tenant and i.id = any (p_absorbed) and i.state = 'waiting';

    insert into history (tenant_id, conversation_id, position, session, turn_id, message)
    select p_tenant, v_conversation.id, v_conversation.history_seq + h.position, v_conversation.session, p_turn, h.value
    from jsonb_array_elements(p_history) with ordinality as h (value, position);
    perform owe(p_tenant, v_conversation.id, p_turn, p_outbound);
    update conversations c
    set history_seq = c.history_seq + jsonb_array_length(p_history),
        session = c.session + (case when p_new_session then 1 else 0 end)
    where c.tenant_id = p_tenant and c.id = v_conversation.id;

    v_more := exists (select 1 from inbound i where i.tenant_id = p_tenant
                      and i.conversation_id = v_conversation.id and i.state = 'waiting');
    update lanes l
    set pending = v_more, pending_since = case when v_more then clock_timestamp() end,
        owner = case when v_more then l.owner end, lease_until = case when v_more then l.lease_until end,
        not_before = null
    where l.tenant_id = p_tenant and l.id = p_lane;
    return v_more;
end $$;
