-- A turn whose own end the database refuses is ended with as little as possible: the person is told, what it took in is
-- answered by that, and what comes after it goes on. What may not be written either is left out, not fatal.

-- Whether a turn began something that has, or may have, taken effect.
create function turn_took_effect(p_tenant text, p_turn text)
returns boolean
language sql stable as $$
    select exists (select 1 from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn
                   and s.kind in ('tool', 'agent') and s.effect in ('once', 'idempotent')
                   and (s.state = 'started' or s.outcome in ('ok', 'unknown')))
$$;

-- What started and has no end may have taken effect: the same call is then refused without approval.
create function close_steps(p_tenant text, p_turn text)
returns void
language sql as $$
    update steps s set state = 'done', outcome = 'unknown', finished_at = clock_timestamp()
    where s.tenant_id = p_tenant and s.turn_id = p_turn and s.state = 'started' and s.effect <> 'read'
$$;

-- What a turn that failed leaves to the model: the person's words, and what they were told.
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
                 case when i.origin = 'own' then jsonb_build_object('role', 'user', 'text', i.text)
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

-- Ends the named turn, or, without a name, whatever cannot begin on the lane: the turn that runs or may go on, else what
-- waits for one. Repeating it changes nothing. Returns whether more waits: the lease is then kept.
create function fail_turn(
    p_tenant text, p_lane text, p_fence bigint, p_turn text, p_reason text, p_absorbed text[], p_outbound text,
    p_text text, p_begun_text text, p_run_text text, p_run_begun_text text, p_most_failures int, p_disabled text)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
    v_turn turns%rowtype;
    v_begun boolean;
    v_text text;
    v_more boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return false;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane
      and case when p_turn is null then t.state = 'running' or t.state = 'waiting' and t.ready
               else t.id = p_turn and t.state = 'running' end
    order by t.state, t.started_at limit 1;
    v_begun := turn_took_effect(p_tenant, v_turn.id);
    v_text := case when v_begun then p_begun_text else p_text end;
    if v_turn.id is not null then
        update turns t set state = 'failed', reason = p_reason, finished_at = clock_timestamp(), fence = p_fence
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        update inbound i set state = 'done', reason = p_reason
        where i.tenant_id = p_tenant and i.turn_id = v_turn.id and i.state = 'taken';
        update inbound i set state = 'done', reason = p_reason, turn_id = v_turn.id
        where i.tenant_id = p_tenant and i.id = any (p_absorbed) and i.state = 'waiting';
        begin
            perform close_steps(p_tenant, v_turn.id);
            delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_turn.id;
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'steps or pool of a failed turn stay as they are: %', sqlstate;
        end;
    elsif p_turn is null then
        update inbound i set state = 'done', reason = p_reason
        where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    end if;
    if v_conversation is null and v_turn.id is not null then
        begin
            update task_runs r set state = 'RUNNING'
            where r.tenant_id = p_tenant and r.turn_id = v_turn.id and r.state = 'PENDING_APPROVAL';
            perform note_run(p_tenant, v_turn.id, 'FAILED', p_reason, '[]', 'end',
                             case when v_begun then p_run_begun_text else p_run_text end, p_most_failures, p_disabled);
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'a run stays as it is: %', sqlstate;
        end;
    elsif v_turn.id is not null or p_turn is null then
        begin
            perform owe(p_tenant, v_conversation, v_turn.id,
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
    v_more := exists (select 1 from inbound i where i.tenant_id = p_tenant
                      and i.conversation_id = v_conversation and i.state = 'waiting')
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
    f text;
begin
    foreach f in array array[
        'turn_took_effect(text, text)', 'close_steps(text, text)', 'keep_failure(text, text, text, text)',
        'fail_turn(text, text, bigint, text, text, text[], text, text, text, text, text, integer, text)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
