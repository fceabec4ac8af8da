-- Exact words where a sender can be forged: a channel may take codes only, and codes cannot be guessed one after another.

-- How many codes that fit nothing were written in a conversation within an hour. A code begins with a digit, so that
-- "ok but" is none.
create function wrong_codes(p_tenant text, p_conversation text, p_inbound text)
returns bigint
language sql stable as $$
    select count(*) from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
      and i.received_at > clock_timestamp() - interval '1 hour'
      and i.text ~* '^\s*(ok|okay|no|snooze)\s+[2-9][a-z][2-9a-z]?([\s.!]|$)'
      and not starts_with(i.reason, 'decision: ')
$$;

-- As before, but: where p_say has 'needs_code', a bare word and ALL decide nothing, and are answered with the codes that
-- wait; and after five codes that fit nothing no code decides anything in that conversation for an hour, told once.
create or replace function receive_exact(
    p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text,
    p_keys text[], p_text text, p_provider_id text, p_sent_at timestamptz,
    p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text,
    p_admit text, p_listed_only boolean, p_role text,
    p_verb text, p_code text, p_given text, p_fresh text, p_snooze interval, p_now timestamptz, p_outbound text,
    p_say jsonb, p_draw jsonb, p_reply_to text)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text, woken text[])
language plpgsql as $$
declare
    v_in record;
    v_identity text;
    v_meant record;
    v_state text;
    v_said text[] := '{}';
    v_woken text[] := '{}';
    v_turn text;
    v_one text;
    v_count int := 0;
    v_code text := p_code;
    v_number text;
    v_again boolean;
begin
    v_again := was_received(p_channel, p_account, p_keys, p_id);
    select r.* into v_in from receive_message(
        p_id, p_channel, p_account, p_peer, p_thread, p_user_key, p_keys, p_text, '[]', null, p_provider_id, p_sent_at,
        p_name, p_timezone, p_new_tenant, p_new_identity, p_new_conversation, p_admit, p_listed_only, p_role) r;
    if v_again and v_in.inbound_id = p_id and v_in.lane_id is null then
        return query select p_id, false, v_in.tenant_id, null::text, d.conversation_id, d.outcome, d.woken
        from decided_before(v_in.tenant_id, p_id, 'decision: ') d;
        return;
    end if;
    -- What was no decision the first time is none now: another card may have come since.
    if v_in.inbound_id is null or v_in.duplicate or v_in.lane_id is null or v_again then
        return query select v_in.inbound_id, v_in.duplicate, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if v_code = '' and p_reply_to <> '' then
        -- A bare word that answers one message is about that one, whatever was said last.
        perform note_reply_to(v_in.tenant_id, p_id, p_reply_to);
        v_code := coalesce(answered_card(v_in.tenant_id, v_in.lane_id, p_reply_to), '-');
    end if;
    select f.identity_id into v_identity from find_identity(p_channel, p_account, p_user_key) f;
    select count(*) into v_count from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, '', p_now);
    if v_code = '' and (v_count = 0 or (v_count > 1 and not p_say ? 'needs_code')) then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if p_say ? 'guessed' and p_code not in ('', 'ALL')
       and wrong_codes(v_in.tenant_id, v_in.lane_id, p_id) >= 5 then
        v_again := exists (
            select 1 from inbound i where i.tenant_id = v_in.tenant_id and i.conversation_id = v_in.lane_id
              and i.reason = 'decision: guessed' and i.received_at > clock_timestamp() - interval '1 hour');
        update inbound i set state = 'done', reason = 'decision: guessed'
        where i.tenant_id = v_in.tenant_id and i.id = p_id;
        if not v_again then
            perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'receipt', 'text', p_say ->> 'guessed')));
        end if;
        return query select p_id, false, v_in.tenant_id, null::text, v_in.lane_id, 'guessed', v_woken;
        return;
    end if;
    if p_say ? 'needs_code' and v_code in ('', 'ALL') then
        v_said := array(
            select tell_outcome(v_in.tenant_id, a.id, p_say ->> 'needs_code', '') from approvals a
            where a.tenant_id = v_in.tenant_id and a.id in (
                select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, '', p_now) m
                union select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, 'ALL', p_now) m)
            order by a.created_at, a.id limit 10);
        if v_said <> '{}' then
            update inbound i set state = 'done', reason = 'decision: needs_code'
            where i.tenant_id = v_in.tenant_id and i.id = p_id;
            perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'receipt', 'text', array_to_string(v_said, E'\n'))));
            return query select p_id, false, v_in.tenant_id, null::text, v_in.lane_id, 'needs_code', v_woken;
            return;
        end if;
    end if;
    v_count := 0;
    for v_meant in select * from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, v_code, p_now) loop
        v_count := v_count + 1;
        v_one := v_meant.approval_id;
        select t.outcome, t.lane_id into v_state, v_turn from take_exact(
            v_in.tenant_id, v_one, p_verb, v_identity, p_channel, p_given, p_fresh, p_snooze, p_now, p_draw) t;
        if v_turn is not null then
            v_woken := v_woken || v_turn;
        end if;
        v_said := v_said || tell_outcome(v_in.tenant_id, v_one, p_say ->> v_state, p_fresh);
        if v_state = 'confirm' then
            v_number := v_one;
        end if;
    end loop;
    if v_count = 0 and p_code <> 'ALL' then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if v_count = 0 then
        v_said := array[p_say ->> 'nothing'];
        v_state := 'nothing';
    end if;
    update inbound i set state = 'done', reason = 'decision: ' || v_state,
        text = case when p_given = '' then i.text else replace(i.text, p_given, '') end,
        turn_id = (select a.turn_id from approvals a where a.tenant_id = v_in.tenant_id and a.id = v_one)
    where i.tenant_id = v_in.tenant_id and i.id = p_id;
    perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'receipt', 'text', array_to_string(v_said, E'\n'), 'shows', v_number)));
    return query select v_in.inbound_id, false, v_in.tenant_id, null::text, v_in.lane_id, v_state, v_woken;
end $$;

revoke all on function wrong_codes(text, text, text) from public;
grant execute on function wrong_codes(text, text, text) to onevalet_app;
