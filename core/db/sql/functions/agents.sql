-- The pool: agents that wait for a person, and the turns that wait with them.

-- Ends a waiting turn silently, unless another of its agents or an open approval still waits.
create function close_waiting_turn(p_tenant text, p_turn text, p_reason text)
returns void
language plpgsql as $$
begin
    if exists (select 1 from pool_entries e
               where e.tenant_id = p_tenant and e.turn_id = p_turn and e.status not in ('CANCELLED', 'COMPLETED'))
        or exists (select 1 from approvals a
                   where a.tenant_id = p_tenant and a.turn_id = p_turn and a.state = 'pending')
    then
        return;
    end if;
    update turns t set state = 'done', reason = p_reason, finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'waiting';
    if found then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
end $$;

-- Writes a turn's changes to the pool. A change applies only to the revision that was read: a decision made in between
-- wins.
create function write_pool(p_tenant text, p_turn text, p_conversation text, p_pool jsonb)
returns void
language plpgsql as $$
declare
    v_entry jsonb;
    v_changed text;
begin
    for v_entry in select * from jsonb_array_elements(p_pool) loop
        if v_entry ->> 'turn_id' = p_turn then
            insert into pool_entries (tenant_id, agent_id, agent_type, conversation_id, turn_id, agent_path,
                                      tool_call_id, status, schema_version, expires_at)
            values (p_tenant, v_entry ->> 'agent_id', v_entry ->> 'agent_type', p_conversation, p_turn,
                    v_entry ->> 'agent_path', v_entry ->> 'tool_call_id', v_entry ->> 'status',
                    v_entry ->> 'schema_version', (v_entry ->> 'expires_at')::timestamptz)
            on conflict (tenant_id, agent_id) do nothing;
        end if;
        update pool_entries e
        set status = v_entry ->> 'status', collected_fields = v_entry -> 'collected_fields',
            context = v_entry -> 'context', reason = v_entry ->> 'reason', revision = e.revision + 1,
            expires_at = (v_entry ->> 'expires_at')::timestamptz, updated_at = clock_timestamp()
        where e.tenant_id = p_tenant and e.agent_id = v_entry ->> 'agent_id'
          and e.revision = (v_entry ->> 'revision')::int and e.status not in ('CANCELLED', 'COMPLETED')
        returning e.turn_id into v_changed;
        if not found and v_entry ->> 'turn_id' <> p_turn then
            -- What was pressed in the meantime counts; what was answered in words besides that does, too.
            update pool_entries e
            set collected_fields = (v_entry -> 'collected_fields') || e.collected_fields,
                context = e.context || '{"question": null}', revision = e.revision + 1,
                updated_at = clock_timestamp()
            where e.tenant_id = p_tenant and e.agent_id = v_entry ->> 'agent_id'
              and (e.status, v_entry ->> 'status') = ('WAITING_FOR_INPUT', 'WAITING_FOR_INPUT')
              and (v_entry ->> 'wakes')::boolean and jsonb_array_length(e.context -> 'asks') > 0
            returning e.turn_id into v_changed;
        end if;
        if not found or v_changed = p_turn then
            continue;
        end if;
        if v_entry ->> 'reason' in ('dropped', 'stale') then
            perform close_waiting_turn(p_tenant, v_changed, v_entry ->> 'reason');
        elsif (v_entry ->> 'wakes')::boolean then
            perform wake_turn(p_tenant, v_changed);
        end if;
    end loop;
end $$;

-- A fresh start closes all questions of its conversation; approvals belong to the person and stay.
create function close_questions(p_tenant text, p_conversation text)
returns void
language plpgsql as $$
declare
    v_turn text;
begin
    for v_turn in
        update pool_entries e set status = 'CANCELLED', reason = 'dropped', revision = e.revision + 1
        where e.tenant_id = p_tenant and e.conversation_id = p_conversation
          and e.status in ('WAITING_FOR_INPUT', 'WAITING_FOR_ACCOUNT', 'PAUSED')
        returning e.turn_id
    loop
        perform close_waiting_turn(p_tenant, v_turn, 'new session');
    end loop;
end $$;

-- Pauses, resumes or cancels an agent; true if its state allowed it. Returns the lane to wake.
create function change_pool_entry(p_tenant text, p_agent text, p_change text)
returns table (changed boolean, lane_id text)
language plpgsql as $$
declare
    v_turn text;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select e.turn_id, t.lane_id into v_turn, v_lane from pool_entries e
    join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
    where e.tenant_id = p_tenant and e.agent_id = p_agent;
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for no key update;
    update pool_entries e
    set status = case p_change when 'pause' then 'PAUSED' when 'resume' then 'WAITING_FOR_INPUT' else 'CANCELLED' end,
        reason = case p_change when 'cancel' then 'cancelled' else '' end,
        -- Drop the question: the agent asks it again.
        context = case p_change when 'resume' then e.context || '{"question": null}' else e.context end,
        revision = e.revision + 1, updated_at = clock_timestamp()
    where e.tenant_id = p_tenant and e.agent_id = p_agent
      and case p_change when 'pause' then e.status = 'WAITING_FOR_INPUT' when 'resume' then e.status = 'PAUSED'
                        when 'cancel' then e.status not in ('CANCELLED', 'COMPLETED') else false end;
    if not found then
        return query select false, null::text;
    elsif p_change = 'pause' then
        return query select true, null::text;
    else
        return query select true, wake_turn(p_tenant, v_turn);
    end if;
end $$;

-- Lets everything of a person go on that waits for an account, since one was connected, and what is running now look
-- once more: it may have found none a moment ago. Returns the lanes to wake, and whether a call of theirs waits.
create function wake_for_account(p_tenant text)
returns table (lane_id text, held boolean)
language plpgsql as $$
declare
    v_turn text;
    v_held boolean;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from account_prompts a
    where a.tenant_id = p_tenant
      and not exists (select from credentials c where c.tenant_id = p_tenant and c.revoked_at is not null
                      and a.topic = renewal_topic(c.service, c.account_name));
    for v_turn, v_held in
        select t.id, h.held from turns t,
            lateral (select exists (
                select from pool_entries e where e.tenant_id = p_tenant and e.turn_id = t.id
                  and e.status = 'WAITING_FOR_ACCOUNT') as held) h
        where t.tenant_id = p_tenant and (t.state = 'running' or t.state = 'waiting' and h.held)
        order by t.lane_id, t.id
    loop
        v_lane := wake_turn(p_tenant, v_turn);
        if v_lane is not null then
            return query select v_lane, v_held;
        end if;
    end loop;
end $$;

-- Returns under which name it is kept that a person was asked to connect an account again.
create function renewal_topic(p_service text, p_account text)
returns text
language sql immutable as $$
    select 'renew ' || p_service || ' ' || p_account
$$;

-- Notes that a turn asks a person for an account. False if another turn did so before, and nothing was connected since.
create function note_account_prompt(p_tenant text, p_topic text, p_turn text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into account_prompts (tenant_id, topic, turn_id) values (p_tenant, p_topic, p_turn) on conflict do nothing;
    return exists (select from account_prompts a
                   where a.tenant_id = p_tenant and a.topic = p_topic and a.turn_id = p_turn);
end $$;

-- Expires agents that have waited too long, for all people; their turns resume and say so. An agent that waits for an
-- approval expires with it instead: the approval's card may not even have been sent.
create function expire_pool(p_now timestamptz, p_limit int)
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_entry record;
begin
    for v_entry in
        select o.* from (
            select e.tenant_id, e.agent_id, e.turn_id, t.lane_id from pool_entries e
            join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
            where e.status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') and e.expires_at <= p_now
            order by e.expires_at limit p_limit) o
        order by o.tenant_id, o.lane_id, o.agent_id
    loop
        perform 1 from lanes l where l.tenant_id = v_entry.tenant_id and l.id = v_entry.lane_id for no key update;
        update pool_entries e
        set status = 'CANCELLED', reason = 'expired', revision = e.revision + 1, updated_at = clock_timestamp()
        where e.tenant_id = v_entry.tenant_id and e.agent_id = v_entry.agent_id
          and e.status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') and e.expires_at <= p_now;
        if found then
            perform wake_turn(v_entry.tenant_id, v_entry.turn_id);
            return query select v_entry.tenant_id, v_entry.lane_id;
        end if;
    end loop;
end $$;
