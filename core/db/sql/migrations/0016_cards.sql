-- Cards: where an approval was shown, and its redraws.

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
    where c.tenant_id = p_tenant and c.channel not in (p_not_on, 'terminal', 'push', 'email')
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
          and p.proname in (
            'draw_outcome', 'told_time', 'owe', 'write_approval', 'other_conversation', 'set_tenant',
            'scrub_numbers', 'approval_ran', 'show_elsewhere', 'answered_card', 'remind_approval',
            'note_reply_to', 'claim_redraw', 'end_redraw', 'sweep_cards', 'tell_outcome')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
