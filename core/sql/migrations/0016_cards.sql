-- Cards: where an approval was shown, its redraws, and how presses and exact words decide in the inbox's own
-- transaction, without any lease.

alter table outbound add column wants_reply boolean not null default false;
alter table inbound add column reply_to text not null default '';

-- `role`: a card shows all of the approval; a prompt asks for what to change; a number proves who has a phone.
create table approval_cards (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    approval_id text not null,
    role        text not null default 'card',
    primary key (tenant_id, outbound_id),
    check (role in ('card', 'prompt', 'number')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade,
    foreign key (tenant_id, approval_id) references approvals on delete cascade
);
create index approval_cards_approval on approval_cards (tenant_id, approval_id);

create table redraws (
    tenant_id       text not null references tenants on delete cascade,
    outbound_id     text not null,
    outcome         text not null,
    state           text not null default 'due',
    reason          text not null default '',
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    lease_until     timestamptz,
    fence           bigint not null default 0,
    drawn_at        timestamptz,
    primary key (tenant_id, outbound_id),
    check (state in ('due', 'drawn', 'given_up')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index redraws_due on redraws (next_attempt_at) where state = 'due';

-- A moment of the day as the person reads it; where nobody knows their timezone, in UTC.
create function told_time(p_tenant text, p_moment timestamptz)
returns text
language plpgsql stable as $$
declare
    v_zone text;
begin
    select coalesce(nullif(t.timezone, ''), 'UTC') into v_zone from tenants t where t.tenant_id = p_tenant;
    return to_char(p_moment at time zone coalesce(v_zone, 'UTC'), 'HH24:MI');
exception when invalid_parameter_value then
    return to_char(p_moment at time zone 'UTC', 'HH24:MI');
end $$;

-- Draw second: every card of an approval, on every channel, is to show what became of it. p_outcome is a line
-- with {when}, which is told in the person's own time.
create function draw_outcome(p_tenant text, p_approval text, p_outcome text, p_now timestamptz)
returns void
language sql as $$
    insert into redraws as r (tenant_id, outbound_id, outcome)
    select c.tenant_id, c.outbound_id, replace(p_outcome, '{when}', told_time(p_tenant, p_now))
    from approval_cards c where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
    on conflict on constraint redraws_pkey do update
    set outcome = excluded.outcome, state = 'due', attempts = 0, next_attempt_at = clock_timestamp()
$$;

-- As in 0010, and: what wants a reply, and cards with the approval that they show.
create or replace function owe(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb)
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
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, actions, media, state, seq,
                              regardless, wants_reply)
        values (p_tenant, v_message ->> 'id', p_conversation, p_turn, v_message ->> 'kind', v_message ->> 'text',
                coalesce(v_message -> 'actions', '[]'), coalesce(v_message -> 'media', '[]'),
                case when v_held then 'held' else 'ready' end, case when not v_held then v_seq + 1 end,
                coalesce((v_message ->> 'regardless')::boolean, false),
                coalesce((v_message ->> 'wants_reply')::boolean, false))
        on conflict on constraint outbound_pkey do nothing;
        if found then
            if not v_held then
                v_seq := v_seq + 1;
            end if;
            if v_message -> 'approval' is not null and v_message -> 'approval' <> 'null' then
                perform write_approval(p_tenant, p_conversation, p_turn, v_message -> 'approval');
            end if;
            if coalesce(v_message ->> 'shows', '') <> '' then
                insert into approval_cards (tenant_id, outbound_id, approval_id, role)
                values (p_tenant, v_message ->> 'id', v_message ->> 'shows',
                        case v_message ->> 'kind' when 'card' then 'card' when 'receipt' then 'number' else 'prompt' end);
            end if;
        end if;
    end loop;
    update conversations c set out_seq = v_seq where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

-- A request for consent, committed with the turn that asks and with its card.
create function write_approval(p_tenant text, p_conversation text, p_turn text, p_approval jsonb)
returns void
language plpgsql as $$
begin
    insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
                           form, risk, source, code, token, timeout, sealed_head, sealed_tail, created_at,
                           editable)
    values (p_tenant, p_approval ->> 'id', p_turn, p_approval ->> 'place', (p_approval ->> 'generation')::int,
            p_conversation, p_approval ->> 'name', p_approval ->> 'summary', p_approval -> 'arguments',
            p_approval -> 'shown', p_approval -> 'form', p_approval ->> 'risk', p_approval ->> 'source',
            p_approval ->> 'code', p_approval ->> 'token', make_interval(secs => (p_approval ->> 'seconds')::float),
            p_approval ->> 'sealed_head', p_approval ->> 'sealed_tail', (p_approval ->> 'created_at')::timestamptz,
            coalesce((p_approval ->> 'editable')::boolean, true))
    on conflict on constraint approvals_pkey do nothing;
    if found then
        perform audit_approval(p_tenant, p_approval ->> 'id', (p_approval ->> 'created_at')::timestamptz, 'requested',
                               '', '', '', p_approval -> 'arguments');
    end if;
end $$;

-- Where high risk may be shown beside an SMS, whose number can be forged: the person's newest other chat.
create function other_conversation(p_tenant text, p_not_on text)
returns text
language sql stable as $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where c.tenant_id = p_tenant and c.channel not in (p_not_on, 'console', 'push', 'email')
      and c.thread = ''
      and i.state = 'active' and i.admitted <> ''
    order by c.last_inbound_at desc nulls last limit 1
$$;

-- What a person is told, with what is known of the approval filled in.
create function tell_outcome(p_tenant text, p_approval text, p_text text, p_confirm text)
returns text
language sql stable as $$
    select replace(replace(replace(replace(replace(replace(p_text,
        '{code}', a.code), '{confirm}', p_confirm), '{summary}', a.summary),
        '{who}', case a.decided_channel when 'sms' then 'you by SMS' when '' then 'you' when 'operator' then 'the operator'
                                    else 'you on ' || initcap(a.decided_channel) end),
        '{decided}', coalesce(told_time(p_tenant, a.decided_at), '')),
        '{expires}', coalesce(told_time(p_tenant, a.expires_at), ''))
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- Why an approval can no longer be decided: the key of what is said about it.
create function why_decided(p_tenant text, p_approval text, p_now timestamptz)
returns text
language sql stable as $$
    select case
        when a.state = 'pending' and a.expires_at <= p_now then 'expired'
        when a.state = 'pending' and not exists (
            select 1 from turns t where t.tenant_id = p_tenant and t.id = a.turn_id and t.state in ('waiting', 'running'))
            then 'over'
        when a.state = 'pending' and a.hash <> '' and a.hash <> approval_hash(a.sealed_head, a.expires_at, a.sealed_tail)
            then 'altered'
        when a.state = 'pending' then 'pending'
        when a.state = 'replaced' then 'replaced'
        else 'already_' || a.state end
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- High risk is not approved by a number alone, which can be forged: a code that only its owner reads goes there.
-- Gives what came of it: 'go', 'confirm' (a code is to be sent), 'wrong' or 'too_many'.
create function check_confirm(
    p_tenant text, p_approval text, p_given text, p_fresh text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_row approvals%rowtype;
begin
    select * into v_row from approvals a where a.tenant_id = p_tenant and a.id = p_approval for update;
    if p_given <> '' and v_row.confirm_hash is not null and v_row.confirm_until > p_now then
        update approvals a set confirm_tries = a.confirm_tries + 1
        where a.tenant_id = p_tenant and a.id = p_approval;
        if v_row.confirm_tries >= 5 then
            update approvals a set confirm_hash = null where a.tenant_id = p_tenant and a.id = p_approval;
            return 'too_many';
        end if;
        return case when v_row.confirm_hash = sha256(convert_to(p_approval || ':' || p_given, 'UTF8'))
                    then 'go' else 'wrong' end;
    end if;
    if v_row.confirm_sent >= 3 or v_row.confirm_tries >= 10 then
        return 'too_many';
    end if;
    update approvals a
    set confirm_hash = sha256(convert_to(p_approval || ':' || p_fresh, 'UTF8')), confirm_until = p_now + interval '10 minutes',
        confirm_tries = case when a.confirm_tries > 5 then a.confirm_tries else 0 end, confirm_sent = a.confirm_sent + 1
    where a.tenant_id = p_tenant and a.id = p_approval;
    return 'confirm';
end $$;

-- Which approvals an exact word means: the one with the code, all that were shown here, or the last thing said.
create function meant_approvals(
    p_tenant text, p_conversation text, p_inbound text, p_code text, p_now timestamptz)
returns table (approval_id text)
language plpgsql stable as $$
declare
    v_last bigint;
begin
    if p_code not in ('', 'ALL') then
        return query select a.id from approvals a
        where a.tenant_id = p_tenant and a.code = p_code order by a.created_at desc limit 1;
        return;
    end if;
    if p_code = '' then
        -- A bare word counts only when one card was the last thing said here, by anybody.
        select max(o.seq) into v_last from outbound o
        where o.tenant_id = p_tenant and o.conversation_id = p_conversation
          and not exists (select 1 from approval_cards c join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
                          where c.tenant_id = o.tenant_id and c.outbound_id = o.id and c.role = 'card' and a.state = 'pending');
        if exists (select 1 from inbound i
                   where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
                     and i.received_at > (select min(o.created_at) from outbound o
                                          where o.tenant_id = p_tenant and o.conversation_id = p_conversation
                                            and o.seq > coalesce(v_last, 0))) then
            return;
        end if;
    end if;
    return query select a.id from approvals a
    where a.tenant_id = p_tenant and a.state = 'pending' and (p_code = '' or a.risk <> 'high')
      and exists (select 1 from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
                  where c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
                    and o.conversation_id = p_conversation and (p_code = 'ALL' or o.seq > coalesce(v_last, 0)))
    order by a.created_at, a.id limit case when p_code = '' then 2 else 50 end;
end $$;

-- Whether a card of it was sent whole, somewhere: what is on its way, or may not have arrived, cannot have been read.
-- p_pressed: its buttons were pressed, so that at least its last part is there.
create function cards_sent(p_tenant text, p_approval text, p_pressed boolean)
returns text
language sql stable as $$
    select case
        when bool_or(s.parts > 0 and s.sure >= s.parts) then 'whole'
        -- Its one part may have arrived although its receipt is missing: whoever knows the code has read it.
        when bool_or(s.parts = 1 and s.attempts > 0) then 'whole'
        when bool_or(s.state in ('sent', 'ambiguous')) then 'not_whole'
        else 'not_sent' end
    from (select o.state, o.attempts, count(e.part) as parts,
                 count(*) filter (where e.state = 'sent' and e.status not in ('undelivered', 'failed'))
                 + count(*) filter (where p_pressed and e.state <> 'sent' and e.part = (
                     select max(l.part) from outbound_parts l
                     where l.tenant_id = o.tenant_id and l.outbound_id = o.id)) as sure
          from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
          left join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id
          where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
          group by o.tenant_id, o.id) s
$$;

-- An exact word (OK 7K): received and decided in one transaction. p_verb: approve, cancel or snooze. p_say holds what is
-- said to the person by outcome, p_draw what cards show. Where it is not an exact decision after all, it stays an
-- ordinary message, and `outcome` is empty.
create function receive_exact(
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
    if v_code = '' and (select count(*) from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, '', p_now)) <> 1 then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
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

-- Whether this very call has committed before, and its answer was lost.
create function was_received(p_channel text, p_account text, p_keys text[], p_id text)
returns boolean
language sql as $$
    select exists (select 1 from find_received(p_channel, p_account, p_keys) f where f.inbound_id = p_id)
$$;

-- What a press or an exact word decided when it was taken in; p_label stands before the outcome in its reason.
create function decided_before(p_tenant text, p_inbound text, p_label text)
returns table (conversation_id text, outcome text, approval_turn text, woken text[])
language sql stable as $$
    select i.conversation_id, substr(i.reason, length(p_label) + 1), i.turn_id,
           coalesce(array(select t.lane_id from turns t
                          where t.tenant_id = p_tenant and t.id = i.turn_id and t.ready), '{}')
    from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and starts_with(i.reason, p_label)
$$;

-- One exact word on one approval: gives the key of what is said, and the lane that may go on.
create function take_exact(
    p_tenant text, p_approval text, p_verb text, p_identity text, p_channel text, p_given text,
    p_fresh text, p_snooze interval, p_now timestamptz, p_draw jsonb, out outcome text, out lane_id text)
language plpgsql as $$
declare
    v_risk text;
    v_decided boolean;
    v_how text := 'code';
    v_sent text;
begin
    perform hold_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel') then
        return;
    end if;
    v_sent := cards_sent(p_tenant, p_approval, false);
    if v_sent = 'not_sent' or (v_sent = 'not_whole' and p_verb = 'approve') then
        outcome := v_sent;
        return;
    end if;
    if p_verb = 'snooze' then
        outcome := snooze_approval(p_tenant, p_approval, p_snooze, p_identity, p_channel, p_now);
        return;
    end if;
    select a.risk into v_risk from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    if p_verb = 'approve' and v_risk = 'high' and p_channel = 'sms' then
        outcome := check_confirm(p_tenant, p_approval, p_given, p_fresh, p_now);
        if outcome <> 'go' then
            perform audit_approval(p_tenant, p_approval, p_now, 'confirm', p_identity, p_channel, outcome, '{}');
            return;
        end if;
        v_how := 'code and number';
    end if;
    select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
        p_tenant, p_approval, case p_verb when 'approve' then 'approved' else 'cancelled' end, p_identity, p_channel,
        v_how, p_now, null, p_draw ->> p_verb, '') d;
    outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
end $$;

-- Leaves it open and reminds later, never past its expiry.
create function snooze_approval(
    p_tenant text, p_approval text, p_snooze interval, p_identity text, p_channel text, p_now timestamptz)
returns text
language plpgsql as $$
begin
    perform start_approval(p_tenant, p_approval, p_now);
    update approvals a set remind_at = least(p_now + p_snooze, a.expires_at - interval '1 minute')
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending'
      and a.expires_at > p_now + interval '2 minutes';
    if not found then
        return 'too_late';
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'snoozed', p_identity, p_channel, '', '{}');
    return 'snooze';
end $$;

-- A press or a sent form. Authority is the sender's identity and the stored row: a token proves nothing. p_verb:
-- approve, cancel, edit, details. `form` is what the channel may open; `outcome` the key of what is said.
create function receive_press(
    p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[],
    p_provider_id text, p_new_conversation text, p_verb text, p_token text, p_entered jsonb, p_now timestamptz,
    p_outbound text, p_say jsonb, p_draw jsonb, p_has_forms boolean, p_listed_only boolean)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text,
               said text, form jsonb, woken text[])
language plpgsql as $$
declare
    v_tenant text;
    v_approval text;
    v_own text;
    v_identity text;
    v_in record;
    v_outcome text;
    v_woken text[] := '{}';
    v_owed text;
    v_again boolean;
begin
    v_again := was_received(p_channel, p_account, p_keys, p_id);
    select f.tenant_id, f.approval_id into v_tenant, v_approval from find_approval(p_token) f;
    select f.tenant_id, f.identity_id into v_own, v_identity from find_identity(p_channel, p_account, p_user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_own, ''), true);
    if v_tenant is null or v_own is distinct from v_tenant
       or not exists (select 1 from identities i where i.tenant_id = v_own and i.id = v_identity and i.state = 'active'
                      and i.admitted <> '' and not (p_listed_only and i.admitted in ('open', 'allowlist'))) then
        v_outcome := case when v_tenant is null then 'unknown' else 'not_yours' end;
        if ignore_message(p_channel, p_account, p_keys, 'unsupported') and v_tenant is not null then
            perform set_config('onevalet.tenant', v_tenant, true);
            perform audit_approval(v_tenant, v_approval, p_now, 'refused', '', p_channel, p_verb, '{}');
        end if;
        return query select p_keys[1], false, null::text, null::text, null::text, v_outcome, p_say ->> v_outcome,
                            null::jsonb, '{}'::text[];
        return;
    end if;
    select r.* into v_in from receive_message(
        p_id, p_channel, p_account, p_peer, p_thread, p_user_key, p_keys, '', '[]', null, p_provider_id, null,
        '', '', '', '', p_new_conversation, '', false, '') r;
    if v_in.inbound_id is null or v_in.duplicate then
        v_outcome := why_decided(v_tenant, v_approval, p_now);
        return query select coalesce(v_in.inbound_id, p_keys[1]), true, v_tenant, null::text, null::text, v_outcome,
                            tell_outcome(v_tenant, v_approval, p_say ->> v_outcome, ''), null::jsonb, '{}'::text[];
        return;
    end if;
    if v_again then
        select d.outcome, d.conversation_id, d.woken into v_outcome, v_owed, v_woken
        from decided_before(v_tenant, p_id, 'press: ') d;
    else
        select i.conversation_id into v_owed from inbound i where i.tenant_id = v_tenant and i.id = p_id;
        select t.outcome, case when t.lane_id is null then '{}' else array[t.lane_id] end into v_outcome, v_woken
        from take_press(v_tenant, v_approval, v_identity, p_channel, p_verb, p_entered, p_now, p_draw, p_has_forms) t;
        if v_outcome = 'ask_change' then
            perform owe(v_tenant, v_owed, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'reply', 'wants_reply', true, 'shows', v_approval,
                'text', tell_outcome(v_tenant, v_approval, p_say ->> 'ask_change', ''))));
        end if;
        update inbound i set state = 'done', reason = 'press: ' || v_outcome,
            turn_id = (select a.turn_id from approvals a where a.tenant_id = v_tenant and a.id = v_approval)
        where i.tenant_id = v_tenant and i.id = p_id;
    end if;
    return query select p_id, false, v_tenant, null::text, case when v_outcome = 'ask_change' then v_owed end, v_outcome,
        tell_outcome(v_tenant, v_approval, p_say ->> v_outcome, ''),
        case when v_outcome in ('edit', 'details') and p_entered is null then form_shown(v_tenant, v_approval) end, v_woken;
end $$;

-- One press on one approval: gives the key of what is said, and the lane that may go on.
create function take_press(
    p_tenant text, p_approval text, p_identity text, p_channel text, p_verb text, p_entered jsonb, p_now timestamptz,
    p_draw jsonb, p_has_forms boolean, out outcome text, out lane_id text)
language plpgsql as $$
declare
    v_decided boolean;
    v_editable boolean;
begin
    perform hold_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if p_verb = 'details' and outcome in ('pending', 'altered') then
        outcome := 'details';
        return;
    end if;
    if outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel') then
        return;
    end if;
    select a.editable into v_editable from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    if p_verb = 'approve' and cards_sent(p_tenant, p_approval, true) <> 'whole' then
        outcome := 'not_whole';
    elsif p_verb = 'edit' and not v_editable then
        outcome := 'not_editable';
    elsif p_verb in ('approve', 'cancel') or (p_verb = 'edit' and p_entered is not null) then
        select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
            p_tenant, p_approval,
            case p_verb when 'approve' then 'approved' when 'cancel' then 'cancelled' else 'replaced' end,
            p_identity, p_channel, case when p_entered is null then 'button' else 'form' end, p_now,
            case when p_entered is not null then jsonb_build_object('changes', p_entered) end, p_draw ->> p_verb, '') d;
        outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
    elsif p_verb = 'edit' then
        -- What comes of it is a change of this one; its time runs from here at the latest.
        perform start_approval(p_tenant, p_approval, p_now);
        outcome := case when p_has_forms then 'edit' else 'ask_change' end;
    end if;
end $$;

-- What a form or a view of an approval is made of.
create function form_shown(p_tenant text, p_approval text)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'token', a.token, 'code', a.code, 'summary', a.summary, 'shown', a.shown, 'form', a.form, 'name', a.name,
        'until', coalesce(told_time(p_tenant, a.expires_at), ''))
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

-- Which message of ours a person's message answers, as a reply; in the transaction that takes it in.
create function note_reply_to(p_tenant text, p_inbound text, p_reply_to text)
returns void
language sql as $$
    update inbound i set reply_to = p_reply_to
    where p_reply_to <> '' and i.tenant_id = p_tenant and i.id = p_inbound and i.reply_to = ''
$$;

create function set_tenant(p_tenant text)
returns text
language sql as $$
    select set_config('onevalet.tenant', p_tenant, true)
$$;

-- An approved action has run; the first word counts.
create function approval_ran(p_tenant text, p_approval text, p_outcome text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update approvals a set ran_at = p_now
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'approved' and a.ran_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'ran', '', '', p_outcome, '{}');
    end if;
end $$;

-- High risk that came by SMS is shown in the person's newest other chat too, once. Gives that conversation.
create function show_elsewhere(p_tenant text, p_approval text, p_outbound text)
returns text
language plpgsql as $$
declare
    v_other text;
    v_card outbound%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_other := other_conversation(p_tenant, 'sms');
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_other for update;
    select o.* into v_card from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id and c.channel = 'sms'
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending' and a.risk = 'high'
    where k.tenant_id = p_tenant and k.approval_id = p_approval and k.role = 'card'
      and (select count(*) from approval_cards n
           where n.tenant_id = p_tenant and n.approval_id = p_approval and n.role = 'card') = 1;
    if v_card.id is null or v_other is null then
        return null;
    end if;
    perform owe(p_tenant, v_other, v_card.turn_id, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'card', 'text', v_card.text, 'actions', v_card.actions, 'shows', p_approval)));
    return v_other;
end $$;

-- The code of the approval whose card or prompt a person's reply answers; null for none.
create function answered_card(p_tenant text, p_conversation text, p_reply_to text)
returns text
language sql stable as $$
    select a.code from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id and o.conversation_id = p_conversation
    join approval_cards k on k.tenant_id = e.tenant_id and k.outbound_id = e.outbound_id
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
    where p_reply_to <> '' and e.tenant_id = p_tenant and e.provider_id = p_reply_to limit 1
$$;

-- Reminds once, where the card is; in one transaction with the note of it. Gives the conversation.
create function remind_approval(p_tenant text, p_approval text, p_text text, p_outbound text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select a.conversation_id into v_conversation from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    update approvals a set remind_at = null
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.remind_at <= p_now;
    if not found then
        return null;
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'reminded', '', '', '', '{}');
    perform owe(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'notification', 'text', tell_outcome(p_tenant, p_approval, p_text, ''))));
    return v_conversation;
end $$;

-- Takes a redraw that is due: the newest part of a card that was sent. A card that is on its way is waited for.
create function claim_redraw(p_ttl interval)
returns table (tenant_id text, outbound_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    update redraws r set lease_until = clock_timestamp() + p_ttl, fence = r.fence + 1, attempts = r.attempts + 1
    from (select d.tenant_id, d.outbound_id from redraws d
          join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
          where d.state = 'due' and d.next_attempt_at <= clock_timestamp()
            and (d.lease_until is null or d.lease_until < clock_timestamp())
            and o.state in ('sent', 'ambiguous', 'failed')
          order by d.next_attempt_at limit 1 for update of d skip locked) due
    where r.tenant_id = due.tenant_id and r.outbound_id = due.outbound_id
    returning r.tenant_id, r.outbound_id, r.fence;
end $$;

create function end_redraw(
    p_tenant text, p_outbound text, p_fence bigint, p_outcome text, p_state text, p_reason text, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- What is to be drawn may have changed meanwhile: then it is due again.
    update redraws r
    set state = case when r.outcome = p_outcome then p_state else 'due' end, reason = p_reason, lease_until = null,
        next_attempt_at = clock_timestamp() + case when r.outcome = p_outcome then p_delay else interval '0' end,
        drawn_at = case when p_state = 'drawn' then clock_timestamp() else r.drawn_at end
    where r.tenant_id = p_tenant and r.outbound_id = p_outbound and r.fence = p_fence and r.state = 'due';
end $$;

-- The numbers that proved who has a phone, once they are of no use any more: what was sent is kept without them.
create function scrub_numbers(p_now timestamptz, p_most int)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
    v_count int := 0;
begin
    for v_row in
        select c.tenant_id, c.outbound_id from approval_cards c
        join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where c.role = 'number' and (a.confirm_hash is null or a.confirm_until <= p_now)
          and o.state in ('sent', 'ambiguous', 'failed')
        limit p_most
    loop
        update outbound o set text = regexp_replace(o.text, '\m\d{6}\M', '******', 'g')
        where o.tenant_id = v_row.tenant_id and o.id = v_row.outbound_id;
        update outbound_parts e set text = regexp_replace(e.text, '\m\d{6}\M', '******', 'g')
        where e.tenant_id = v_row.tenant_id and e.outbound_id = v_row.outbound_id;
        delete from approval_cards c where c.tenant_id = v_row.tenant_id and c.outbound_id = v_row.outbound_id;
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;

-- Cards that were sent although nobody fixed the expiry (their sender died), and cards that could not be sent.
create function sweep_cards(p_now timestamptz, p_most int)
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id,
               bool_or(o.state in ('sent', 'ambiguous')) as sent, bool_and(o.state = 'failed') as failed
        from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        join approval_cards c on c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where a.state = 'pending' and a.expires_at is null
        group by a.tenant_id, a.id, a.turn_id, t.lane_id
        having bool_or(o.state in ('sent', 'ambiguous')) or bool_and(o.state = 'failed') limit p_most
    loop
        -- A lane that somebody holds at this moment is looked at the next time.
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for update skip locked;
        continue when not found;
        if v_row.sent then
            perform start_approval(v_row.tenant_id, v_row.id, p_now);
            continue;
        end if;
        update approvals a set state = 'expired', reason = 'not shown', decided_at = p_now, decided_how = 'not shown'
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'not shown', '{}');
            return query select v_row.tenant_id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['approval_cards', 'redraws'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app'
            ' using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))'
            ' with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('draw_outcome', 'told_time', 'owe', 'write_approval', 'other_conversation', 'tell_outcome',
                            'why_decided', 'check_confirm', 'meant_approvals', 'cards_sent', 'receive_exact', 'take_exact',
                            'snooze_approval', 'receive_press', 'take_press', 'form_shown', 'set_tenant',
                            'was_received', 'decided_before', 'scrub_numbers',
                            'approval_ran', 'show_elsewhere', 'answered_card', 'remind_approval',
                            'note_reply_to', 'claim_redraw', 'end_redraw', 'sweep_cards')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
