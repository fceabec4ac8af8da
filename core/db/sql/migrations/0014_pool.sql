-- The pool: agents that wait for a person, and the turns that wait with them. A waiting turn holds no lease; it is
-- "ready" when something that it waited for has been decided, and then goes on from its journal.

alter table turns add column ready boolean not null default false;
alter table turns add column waiting_step int;
create index turns_ready on turns (tenant_id, lane_id) where state = 'waiting' and ready;

create table pool_entries (
    tenant_id        text not null references tenants on delete cascade,
    agent_id         text not null,
    agent_type       text not null,
    conversation_id  text,
    turn_id          text not null,
    agent_path       text not null,
    tool_call_id     text not null,
    status           text not null,
    schema_version   text not null,
    collected_fields jsonb not null default '{}',
    context          jsonb not null default '{}',
    reason           text not null default '',
    revision         int not null default 0,
    expires_at       timestamptz not null,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, agent_id),
    check (status in ('WAITING_FOR_INPUT', 'WAITING_FOR_APPROVAL', 'PAUSED', 'CANCELLED', 'COMPLETED')),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade,
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index pool_entries_turn on pool_entries (tenant_id, turn_id);
create index pool_entries_due on pool_entries (expires_at) where status not in ('CANCELLED', 'COMPLETED');

-- Lets a waiting turn go on. One that runs at this moment goes on once more when it comes to wait again.
create function wake_turn(p_tenant text, p_turn text)
returns text
language plpgsql as $$
declare
    v_lane text;
begin
    select t.lane_id into v_lane from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    -- The lane before the turn, as finish_turn locks them.
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for update;
    update turns t set ready = true
    where t.tenant_id = p_tenant and t.id = p_turn and t.state in ('waiting', 'running');
    if not found then
        return null;
    end if;
    update lanes l set pending = true, pending_since = coalesce(l.pending_since, clock_timestamp())
    where l.tenant_id = p_tenant and l.id = v_lane;
    return v_lane;
end $$;

-- Ends a waiting turn without another word, unless some other agent of it still waits.
create function close_waiting_turn(p_tenant text, p_turn text, p_reason text)
returns void
language plpgsql as $$
begin
    if exists (select 1 from pool_entries e
               where e.tenant_id = p_tenant and e.turn_id = p_turn and e.status not in ('CANCELLED', 'COMPLETED')) then
        return;
    end if;
    update turns t set state = 'done', reason = p_reason, finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'waiting';
    if found then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
end $$;

-- What a turn leaves in the pool. A change counts against the revision that was read: what was decided meanwhile
-- stays as it is.
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

-- A fresh start leaves no question open in its conversation; approvals are per person, and stay.
create function close_questions(p_tenant text, p_conversation text)
returns void
language plpgsql as $$
declare
    v_turn text;
begin
    for v_turn in
        update pool_entries e set status = 'CANCELLED', reason = 'dropped', revision = e.revision + 1
        where e.tenant_id = p_tenant and e.conversation_id = p_conversation
          and e.status in ('WAITING_FOR_INPUT', 'PAUSED')
        returning e.turn_id
    loop
        perform close_waiting_turn(p_tenant, v_turn, 'new session');
    end loop;
end $$;

-- Pauses, resumes or cancels one agent; true where it was in a state that allows it. Gives the lane to wake.
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
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for update;
    update pool_entries e
    set status = case p_change when 'pause' then 'PAUSED' when 'resume' then 'WAITING_FOR_INPUT' else 'CANCELLED' end,
        reason = case p_change when 'cancel' then 'cancelled' else '' end,
        -- Without its question: it is asked again.
        context = case p_change when 'resume' then e.context || '{"question": ""}' else e.context end,
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

-- Ends what has waited too long, of all people; their turns go on and say so.
create function expire_pool(p_now timestamptz, p_most int)
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_entry record;
begin
    for v_entry in
        select e.tenant_id, e.agent_id, e.turn_id, t.lane_id from pool_entries e
        join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
        where e.status not in ('CANCELLED', 'COMPLETED') and e.expires_at <= p_now
        order by e.expires_at limit p_most
    loop
        perform 1 from lanes l where l.tenant_id = v_entry.tenant_id and l.id = v_entry.lane_id for update;
        update pool_entries e
        set status = 'CANCELLED', reason = 'expired', revision = e.revision + 1, updated_at = clock_timestamp()
        where e.tenant_id = v_entry.tenant_id and e.agent_id = v_entry.agent_id and e.status not in ('CANCELLED', 'COMPLETED')
          and e.expires_at <= p_now;
        if found then
            perform wake_turn(v_entry.tenant_id, v_entry.turn_id);
            return query select v_entry.tenant_id, v_entry.lane_id;
        end if;
    end loop;
end $$;

-- As in 0004, but a waiting turn that may go on comes first.
create or replace function begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text)
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
    -- A waiting turn that may go on comes before what was written since: its person has answered.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'waiting' and t.ready
    order by t.started_at limit 1;
    if v_turn.id is not null then
        update turns t set state = 'running', ready = false, attempts = 1, fence = p_fence, owner = p_owner
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        return query select v_turn.id, 1, true;
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

-- As in 0004, with what the turn leaves in the pool, and where it goes on if it waits.
drop function finish_turn(text, text, bigint, text, text, text, jsonb, jsonb, jsonb, text[], boolean);
create function finish_turn(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_state text, p_reason text, p_usage jsonb,
    p_history jsonb, p_outbound jsonb, p_absorbed text[], p_new_session boolean,
    p_pool jsonb, p_waiting_step int)
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
    update turns t set state = p_state, reason = p_reason, usage = p_usage, waiting_step = p_waiting_step,
        finished_at = case when p_state <> 'waiting' then clock_timestamp() end
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

    perform write_pool(p_tenant, p_turn, v_conversation.id, p_pool);
    if p_state <> 'waiting' then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
    if p_new_session then
        perform close_questions(p_tenant, v_conversation.id);
    end if;

    v_more := exists (select 1 from inbound i where i.tenant_id = p_tenant
                      and i.conversation_id = v_conversation.id and i.state = 'waiting')
        or exists (select 1 from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane
                   and t.state = 'waiting' and t.ready);
    update lanes l
    set pending = v_more, pending_since = case when v_more then clock_timestamp() end,
        owner = case when v_more then l.owner end, lease_until = case when v_more then l.lease_until end,
        not_before = null
    where l.tenant_id = p_tenant and l.id = p_lane;
    return v_more;
end $$;

do $$
declare
    f regprocedure;
begin
    alter table pool_entries enable row level security;
    alter table pool_entries force row level security;
    create policy one_tenant on pool_entries to onevalet_app
        using (tenant_id = nullif(current_setting('onevalet.tenant', true), ''))
        with check (tenant_id = nullif(current_setting('onevalet.tenant', true), ''));
    execute 'create policy owner on pool_entries to current_user using (true) with check (true)';
    grant select, insert, update, delete on pool_entries to onevalet_app;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('wake_turn', 'close_waiting_turn', 'write_pool', 'close_questions', 'change_pool_entry',
                            'expire_pool', 'finish_turn')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
