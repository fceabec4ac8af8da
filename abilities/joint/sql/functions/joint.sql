-- Consents of two people to one action. The one who asks has the action, and a row of joint_consents; the other has an
-- approval of their own, on a turn that only asks. Each side is read and written as its own person; no function locks rows
-- of both but use_joint, which locks who is in the household before that row.

-- Finds joint consents with something to do, and from when on; ids only.
create function find_joint(p_now timestamptz)
returns table (tenant_id text, approval_id text, due_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select j.tenant_id, j.approval_id, j.next_attempt_at from joint_consents j
    join approvals a on a.tenant_id = j.tenant_id and a.id = j.approval_id
    join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
    left join approvals s on s.tenant_id = j.other_id and s.id = j.second_id
    where j.state <> 'ended' and not is_halted() and case j.state
        when 'asking' then coalesce(j.ask_at <= p_now, true) or joint_fault(j, a, t.state, s, p_now) is not null
        when 'ending' then true
        when 'used' then a.ran_at is not null or t.state not in ('running', 'waiting')
        else (j.state = 'asked' and s.state is distinct from 'pending') or joint_fault(j, a, t.state, s, p_now) is not null
        end
$$;

-- Claims those that are due; ids only. Each comes again after a pause that grows, unless it is taken further by then.
create function claim_joint(p_now timestamptz, p_limit int)
returns table (tenant_id text, approval_id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select j.tenant_id, j.approval_id, f.due_at from find_joint(p_now) f
        join joint_consents j on j.tenant_id = f.tenant_id and j.approval_id = f.approval_id
        where not is_halted() and f.due_at <= clock_timestamp() and j.next_attempt_at <= clock_timestamp()
        order by f.due_at limit p_limit for update of j skip locked),
    claimed as (
        update joint_consents j
        set attempts = j.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(j.attempts)
        from due where j.tenant_id = due.tenant_id and j.approval_id = due.approval_id
        returning j.tenant_id, j.approval_id, due.due_at)
    select c.tenant_id, c.approval_id from claimed c order by c.due_at
$$;

-- Returns why an open joint consent is void whatever the other decides; null if it is not.
create function joint_fault(
    p_joint joint_consents, p_approval approvals, p_turn text, p_second approvals, p_now timestamptz)
returns text
language sql stable as $$
    select case
        when p_approval.state = 'replaced' then 'changed'
        when p_approval.state = 'expired' then 'expired'
        when p_approval.state = 'cancelled' then 'refused'
        when p_turn not in ('running', 'waiting') then 'refused'
        -- Their card went with the place that was unlinked, or they are no longer here.
        when p_joint.state <> 'asking' and p_second.id is null then
            case when may_decide_too(p_joint.tenant_id, p_joint.other_id) then 'places' else 'gone' end
        when p_joint.state = 'asked' and p_approval.expires_at <= p_now and p_second.state = 'pending' then 'expired'
        when p_joint.state = 'asked' and not is_reached(p_joint.other_id, p_second.conversation_id) then 'away'
        when not is_reached(p_joint.tenant_id, p_approval.conversation_id) then 'asker_away'
        when not may_decide_too(p_joint.tenant_id, p_joint.other_id) then 'left'
        end
$$;

-- Returns whether a person still hears from us in a conversation.
create function is_reached(p_tenant text, p_conversation text)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select exists (select from conversations c join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
                   where c.tenant_id = p_tenant and c.id = p_conversation and i.state = 'active')
$$;

-- Returns whether somebody may decide besides a person: an adult of their household.
create function may_decide_too(p_tenant text, p_other text)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select p_other <> p_tenant and exists (
        select from household_members m join household_members o on o.household_id = m.household_id
        where m.tenant_id = p_tenant and o.tenant_id = p_other and o.role <> 'child')
$$;

-- Returns what is known of somebody before they are asked: {language, timezone, conversation, channel, today, quiet_from,
-- quiet_until}. `today`: how often this person has asked them within a day. Without a conversation they cannot be reached.
create function decider_facts(p_tenant text, p_other text, p_on text[], p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_today bigint;
    v_facts jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select count(*) into v_today from joint_consents j
    where j.tenant_id = p_tenant and j.other_id = p_other and j.made_at > p_now - interval '1 day';
    perform set_config('onevalet.tenant', p_other, true);
    select jsonb_build_object('language', nullif(t.language, ''), 'timezone', t.timezone, 'conversation', c.id,
                              'channel', c.channel, 'today', v_today, 'quiet_from', t.quiet_from,
                              'quiet_until', t.quiet_until)
    into v_facts from tenants t
    left join conversations c on c.tenant_id = t.tenant_id and c.id = home_conversation(p_other, '', p_on)
    where t.tenant_id = p_other;
    perform set_config('onevalet.tenant', p_tenant, true);
    return v_facts;
end $$;

-- Returns all of which the other person's card is made, while they have none: {approval, joint, other, timezone, seal}.
create function joint_to_ask(p_tenant text, p_approval text, p_on text[], p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_asked jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select jsonb_build_object(
        'name', a.name, 'arguments', a.arguments, 'risk', a.risk, 'editable', a.editable, 'other', j.other_id,
        'summary', j.summary, 'shown', j.shown, 'form', j.form, 'second', j.second_id, 'seal', seal_of(a),
        'seconds', extract(epoch from coalesce(a.expires_at - p_now, a.timeout)), 'timezone', t.timezone)
    into v_asked from joint_consents j
    join approvals a on a.tenant_id = j.tenant_id and a.id = j.approval_id
    join tenants t on t.tenant_id = j.tenant_id
    where j.tenant_id = p_tenant and j.approval_id = p_approval and j.state = 'asking';
    if v_asked is null then
        return null;
    end if;
    return v_asked || jsonb_build_object('facts', decider_facts(p_tenant, v_asked ->> 'other', p_on, p_now));
end $$;

-- Returns the digest of a request's seal, to which the other person's own is bound.
create function seal_of(p_approval approvals)
returns text
language sql immutable as $$
    select encode(sha256(convert_to(p_approval.sealed_head || chr(31) || p_approval.sealed_tail, 'UTF8')), 'hex')
$$;

-- Shows the other person their card, on a turn that only asks. Repeating it adds nothing. Returns the conversation to
-- deliver to; null if it is gone.
create function show_second(p_other text, p_conversation text, p_turn text, p_card jsonb)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_other, true);
    perform 1 from conversations c where c.tenant_id = p_other and c.id = p_conversation for no key update;
    if not found then
        return null;
    end if;
    -- A conversation in which they never wrote has no lane yet.
    insert into lanes (tenant_id, id, conversation_id) values (p_other, p_conversation, p_conversation)
    on conflict do nothing;
    perform 1 from lanes l where l.tenant_id = p_other and l.id = p_conversation for no key update;
    insert into turns (tenant_id, id, lane_id, conversation_id, state, fence, reason)
    values (p_other, p_turn, p_conversation, p_conversation, 'waiting', 0, 'asks')
    on conflict do nothing;
    perform enqueue(p_other, p_conversation, p_turn, jsonb_build_array(p_card));
    return p_conversation;
end $$;

-- Records that the other person has a card, which has the words from now on; false if it was void before.
create function note_asked(p_tenant text, p_approval text, p_from_name text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update joint_consents j
    set state = 'asked', from_name = p_from_name, summary = '', shown = '[]', form = '[]'
    where j.tenant_id = p_tenant and j.approval_id = p_approval and j.state = 'asking';
    return found or exists (select from joint_consents j where j.tenant_id = p_tenant and j.approval_id = p_approval
                            and j.state in ('asked', 'agreed', 'used'));
end $$;

-- Returns the other person's decision: {state, how, ...}, `intact` if it is about exactly p_seal; null if it is gone.
create function second_decision(p_other text, p_second text, p_seal text)
returns jsonb
language plpgsql as $$
declare
    v_found jsonb;
begin
    perform set_config('onevalet.tenant', p_other, true);
    select jsonb_build_object(
        'state', a.state, 'reason', a.reason, 'proposed', a.proposed, 'code', a.code, 'hash', a.hash,
        'how', a.decided_how, 'decided_on', a.decided_channel, 'decided_at', a.decided_at,
        'intact', a.arguments ->> 'seal' = p_seal and a.expires_at is not null
                  and a.hash = approval_hash(a.sealed_head, a.expires_at, a.sealed_tail))
    into v_found from approvals a where a.tenant_id = p_other and a.id = p_second;
    return v_found;
end $$;

-- Takes up what has become of a joint consent since: the other's yes lets the asker's turn go on, and a no, a change, or
-- whatever makes it void ends both requests. p_fault: a reason that only the caller knows, or ''. Repeatable. Returns the
-- lane that may resume.
create function settle_joint(p_tenant text, p_approval text, p_fault text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_turn turns%rowtype;
    a approvals%rowtype;
    j joint_consents%rowtype;
    s approvals%rowtype;
    v_second jsonb;
    v_why text;
begin
    -- 1. Read the other's decision, then lock the asker's turn, request and row.
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into j from joint_consents k where k.tenant_id = p_tenant and k.approval_id = p_approval;
    select * into a from approvals k where k.tenant_id = p_tenant and k.id = p_approval;
    v_second := second_decision(j.other_id, j.second_id, seal_of(a));
    select * into s from approvals k where k.tenant_id = j.other_id and k.id = j.second_id;
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_turn(p_tenant, a.turn_id);
    select * into a from approvals k where k.tenant_id = p_tenant and k.id = p_approval for no key update;
    select * into j from joint_consents k where k.tenant_id = p_tenant and k.approval_id = p_approval for no key update;
    select * into v_turn from turns t where t.tenant_id = p_tenant and t.id = a.turn_id;
    if (j.state in ('asking', 'asked', 'agreed')) is not true then
        return null;
    end if;
    -- 2. Decide.
    v_why := coalesce(nullif(p_fault, ''), joint_fault(j, a, v_turn.state, s, p_now));
    if v_why is null and j.state = 'asked' then
        v_why := case v_second ->> 'state'
            when 'pending' then 'open'
            when 'approved' then case when (v_second ->> 'intact')::boolean then null else 'altered' end
            when 'replaced' then case when v_second ->> 'proposed' is null then 'places' else 'other_changed' end
            when 'expired' then 'expired'
            else 'other_refused' end;
    end if;
    if v_why = 'open' or v_why is null and j.state <> 'asked' then
        return null;
    end if;
    -- 3. Their yes.
    if v_why is null then
        update joint_consents k
        set state = 'agreed', agreed = v_second - '{state,reason,proposed,intact}'::text[]
                                       || jsonb_build_object('name', k.other_name)
        where k.tenant_id = p_tenant and k.approval_id = p_approval;
        return wake_turn(p_tenant, a.turn_id);
    end if;
    -- 4. The end of both: the asker's is drawn so even if they have said yes.
    update joint_consents k set state = 'ending', reason = v_why, summary = '', shown = '[]', form = '[]'
    where k.tenant_id = p_tenant and k.approval_id = p_approval;
    if a.state not in ('pending', 'approved') then
        return null;
    end if;
    update approvals k
    set state = case when v_why = 'other_changed' then 'replaced' when k.state = 'pending' then 'cancelled' else k.state end,
        reason = case when v_why = 'other_changed' then '' else 'not_both' end,
        proposed = case when v_why = 'other_changed' then v_second -> 'proposed' else k.proposed end,
        decided_at = case when k.state = 'pending' then p_now else k.decided_at end,
        decided_how = case when k.state = 'pending' then 'not both' else k.decided_how end,
        confirm_hash = null
    where k.tenant_id = p_tenant and k.id = p_approval;
    perform audit_approval(p_tenant, p_approval, p_now, case when v_why = 'other_changed' then 'replaced' else 'cancelled' end,
                           '', '', 'not both: ' || v_why, '{}');
    perform draw_outcome(p_tenant, p_approval, case when v_why = 'other_changed' then 'replaced' else 'not_both' end, p_now);
    return wake_turn(p_tenant, a.turn_id);
end $$;

-- Ends the other person's request after the asker's: one that is open is void, and a card that was approved says so too.
create function end_second(p_other text, p_second text, p_why text, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_turn text;
    v_state text;
begin
    perform set_config('onevalet.tenant', p_other, true);
    select a.turn_id into v_turn from approvals a where a.tenant_id = p_other and a.id = p_second;
    if v_turn is null then
        return;
    end if;
    perform lock_turn(p_other, v_turn);
    select a.state into v_state from approvals a where a.tenant_id = p_other and a.id = p_second for no key update;
    update approvals a
    set state = case when a.state = 'pending' then 'cancelled' else a.state end, reason = 'not_both',
        decided_at = coalesce(a.decided_at, p_now), confirm_hash = null,
        decided_how = case when a.state = 'pending' then 'not both' else a.decided_how end
    where a.tenant_id = p_other and a.id = p_second and a.state in ('pending', 'approved', 'expired') and a.reason = '';
    if not found or v_state = 'expired' then
        return;
    end if;
    perform audit_approval(p_other, p_second, p_now, 'cancelled', '', '', 'not both: ' || p_why, '{}');
    perform draw_outcome(p_other, p_second, 'not_both', p_now);
    perform wake_turn(p_other, v_turn);
end $$;

-- Returns what the other person is to be told of a joint consent: {agreed, reason, ran, over, ...}. `over`: it ran, or its
-- turn has ended.
create function joint_news(p_tenant text, p_approval text)
returns jsonb
language plpgsql as $$
declare
    v_news jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select jsonb_build_object(
        'agreed', j.state = 'used', 'reason', j.reason, 'other', j.other_id, 'second', j.second_id, 'from', j.from_name,
        'over', j.state = 'ending' or a.ran_at is not null or t.state not in ('running', 'waiting'),
        'ran', coalesce(
            (select u.how from approval_audit u
             where u.tenant_id = p_tenant and u.approval_id = p_approval and u.what = 'ran' limit 1),
            -- It had begun when its worker died: nobody knows.
            (select s.outcome from steps s where s.tenant_id = p_tenant and s.turn_id = a.turn_id and s.name = a.name
             and s.outcome = 'unknown' limit 1)))
    into v_news from joint_consents j
    join approvals a on a.tenant_id = j.tenant_id and a.id = j.approval_id
    join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
    where j.tenant_id = p_tenant and j.approval_id = p_approval and j.state in ('used', 'ending');
    if v_news is null then
        return null;
    end if;
    perform set_config('onevalet.tenant', v_news ->> 'other', true);
    return v_news || coalesce((
        select jsonb_build_object('language', t.language, 'code', a.code, 'summary', a.arguments ->> 'summary')
        from tenants t join approvals a on a.tenant_id = t.tenant_id and a.id = v_news ->> 'second'
        where t.tenant_id = v_news ->> 'other'), '{}');
end $$;

create function note_told(p_tenant text, p_approval text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update joint_consents j set state = 'ended'
    where j.tenant_id = p_tenant and j.approval_id = p_approval and j.state in ('used', 'ending');
end $$;

-- Uses the consent of both for the one run, if both still share a household: from then on neither takes it back. Returns
-- 'used', 'waiting', or why it is void. Repeatable. The members' rows are locked first, as leaving does.
create function use_joint(p_tenant text, p_approval text)
returns text
language plpgsql as $$
declare
    v_other text;
    v_id text;
    v_homes text[] := '{}';
    v_joint joint_consents%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select j.other_id into v_other from joint_consents j where j.tenant_id = p_tenant and j.approval_id = p_approval;
    foreach v_id in array array[least(p_tenant, v_other), greatest(p_tenant, v_other)] loop
        perform set_config('onevalet.tenant', v_id, true);
        v_homes := v_homes || (select m.household_id from household_members m
                               where m.tenant_id = v_id and (v_id = p_tenant or m.role <> 'child') for share);
    end loop;
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_joint from joint_consents j
    where j.tenant_id = p_tenant and j.approval_id = p_approval for no key update;
    if v_joint.state = 'agreed' and (v_homes[1] = v_homes[2]) is not true then
        return 'left';
    elsif v_joint.state = 'agreed' then
        update joint_consents j set state = 'used' where j.tenant_id = p_tenant and j.approval_id = p_approval;
        return 'used';
    end if;
    return case when v_joint.state = 'used' or v_joint.state = 'ended' and v_joint.reason = '' then 'used'
                when v_joint.state in ('asking', 'asked') then 'waiting'
                else coalesce(nullif(v_joint.reason, ''), 'gone') end;
end $$;
