-- Approvals: requests for consent to one exact action each, decided once (promises 9 and 10).
--
-- What was asked is bound by a hash over canonical JSON of approver, arguments, expiry, tenant and tool. The
-- expiry is known when the card is sent, and stands in the middle: the text before and after it is kept.

create table approvals (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    turn_id         text not null,
    -- Which call of the turn: its agent path with step and index, or an agent's path with its run.
    place           text not null,
    generation      int not null,
    conversation_id text not null,
    name            text not null,
    summary         text not null,
    arguments       jsonb not null,
    -- What the card shows, as [label, text] pairs, and what a form may change (core.messaging.messages.FormField).
    shown           jsonb not null,
    form            jsonb not null default '[]',
    editable        boolean not null default true,
    risk            text not null default '',
    source          text not null default 'message',
    code            text not null,
    token           text not null,
    timeout         interval not null,
    sealed_head     text not null,
    sealed_tail     text not null,
    hash            text not null default '',
    expires_at      timestamptz,
    state           text not null default 'pending',
    reason          text not null default '',
    -- What the person wants changed: field names with new values. The approval is "replaced" by then.
    proposed        jsonb,
    decided_at      timestamptz,
    decided_by      text not null default '',
    decided_channel text not null default '',
    decided_how     text not null default '',
    confirm_hash    bytea,
    confirm_until   timestamptz,
    confirm_tries   int not null default 0,
    confirm_sent    int not null default 0,
    remind_at       timestamptz,
    ran_at          timestamptz,
    created_at      timestamptz not null,
    primary key (tenant_id, id),
    unique (token),
    check (state in ('pending', 'approved', 'cancelled', 'expired', 'replaced')),
    check ((expires_at is null) = (hash = '')),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index approvals_turn on approvals (tenant_id, turn_id);
create unique index approvals_code on approvals (tenant_id, code) where state = 'pending';
create index approvals_due on approvals (least(expires_at, remind_at)) where state = 'pending';
create index approvals_unsent on approvals (created_at) where state = 'pending' and expires_at is null;

-- A code is not given out again for a while: a late "OK 7K" must not meet another action.
create table approval_codes (
    tenant_id text not null references tenants on delete cascade,
    code      text not null,
    holder    text not null,
    issued_at timestamptz not null,
    primary key (tenant_id, code)
);

create table approval_audit (
    tenant_id   text not null references tenants on delete cascade,
    id          bigint generated always as identity,
    approval_id text not null,
    at          timestamptz not null,
    what        text not null,
    hash        text not null default '',
    identity_id text not null default '',
    channel     text not null default '',
    how         text not null default '',
    detail      jsonb not null default '{}',
    primary key (tenant_id, id),
    check (what in ('requested', 'sent', 'approved', 'cancelled', 'replaced', 'expired', 'ran', 'refused', 'confirm',
                    'reminded', 'snoozed', 'reissued'))
);
create index approval_audit_approval on approval_audit (tenant_id, approval_id);

create function audit_approval(
    p_tenant text, p_approval text, p_at timestamptz, p_what text, p_identity text, p_channel text, p_how text,
    p_detail jsonb)
returns void
language sql as $$
    insert into approval_audit (tenant_id, approval_id, at, what, hash, identity_id, channel, how, detail)
    select a.tenant_id, a.id, p_at, p_what, a.hash, p_identity, p_channel, p_how, p_detail
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

create function approval_hash(p_head text, p_expires_at timestamptz, p_tail text)
returns text
language sql immutable as $$
    select encode(sha256(convert_to(
        p_head || to_char(p_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || p_tail, 'UTF8')), 'hex')
$$;

-- Gives an approval one of the codes that the caller made up: the first that is free. Repeatable by its holder.
create function issue_code(p_tenant text, p_holder text, p_codes text[], p_now timestamptz, p_rest interval)
returns text
language plpgsql as $$
declare
    v_code text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.code into v_code from approval_codes c where c.tenant_id = p_tenant and c.holder = p_holder;
    if found then
        return v_code;
    end if;
    foreach v_code in array p_codes loop
        insert into approval_codes as c (tenant_id, code, holder, issued_at) values (p_tenant, v_code, p_holder, p_now)
        on conflict on constraint approval_codes_pkey do update set holder = excluded.holder, issued_at = excluded.issued_at
        where c.issued_at < p_now - p_rest
          and not exists (select 1 from approvals a where a.tenant_id = p_tenant and a.code = c.code and a.state = 'pending');
        if found then
            return v_code;
        end if;
    end loop;
    return null;
end $$;

-- Fixes expiry and hash when the card has been sent; later calls change nothing.
create function start_approval(p_tenant text, p_approval text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    update approvals a
    set expires_at = date_trunc('second', p_now + a.timeout),
        hash = approval_hash(a.sealed_head, date_trunc('second', p_now + a.timeout), a.sealed_tail),
        remind_at = case when a.timeout >= interval '10 minutes' then p_now + a.timeout * 0.8 end
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'sent', '', '', '', '{}');
    end if;
end $$;

-- The one decision. p_state: approved, cancelled or replaced (with what the person wants changed instead). True
-- where it was this call's to make: pending, in time, its turn still there, and, to approve it, still what was hashed.
-- p_said_in: the message in which it was said, whose sender decides where p_identity is empty. Its turn may go on.
create function decide_approval(
    p_tenant text, p_approval text, p_state text, p_identity text, p_channel text, p_how text, p_now timestamptz,
    p_proposed jsonb, p_outcome text, p_said_in text, out decided boolean, out lane_id text)
language plpgsql as $$
declare
    v_turn text;
    v_identity text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select a.turn_id into v_turn from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    -- The lane first, as whoever finishes the turn locks them.
    perform hold_turn(p_tenant, v_turn);
    select coalesce(nullif(p_identity, ''), (
        select c.identity_id from inbound i
        join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
        where i.tenant_id = p_tenant and i.id = p_said_in), '') into v_identity;
    perform start_approval(p_tenant, p_approval, p_now);
    update approvals a
    set state = p_state, proposed = case when p_state = 'replaced' then p_proposed end, decided_at = p_now,
        decided_by = v_identity, decided_channel = p_channel, decided_how = p_how, confirm_hash = null
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at > p_now
      and (p_state <> 'approved' or a.hash = approval_hash(a.sealed_head, a.expires_at, a.sealed_tail))
      and exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = v_turn and t.state in ('waiting', 'running'));
    decided := found;
    if decided then
        perform audit_approval(p_tenant, p_approval, p_now, p_state, v_identity, p_channel, p_how,
                               coalesce(p_proposed, '{}'));
        perform draw_outcome(p_tenant, p_approval, p_outcome, p_now);
        lane_id := wake_turn(p_tenant, v_turn);
    end if;
end $$;

-- Locks the lane of a turn, which is locked before any approval of it: who decides and who ends a turn meet there.
create function hold_turn(p_tenant text, p_turn text)
returns void
language plpgsql as $$
begin
    perform 1 from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where t.tenant_id = p_tenant and t.id = p_turn for update of l;
end $$;

-- Ends what has waited too long, of all people; their turns go on and say so. What belongs to a turn that has ended
-- by itself ends with it. A lane that somebody holds at this moment is looked at the next time.
create function expire_approvals(p_now timestamptz, p_outcome text, p_most int)
returns table (tenant_id text, approval_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id from approvals a
        join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        where a.state = 'pending' and (a.expires_at <= p_now or t.state not in ('running', 'waiting'))
        order by a.expires_at limit p_most
    loop
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for update skip locked;
        continue when not found;
        update approvals a set state = 'expired', decided_at = p_now, confirm_hash = null,
            decided_how = case when a.expires_at <= p_now then 'expiry' else 'its turn ended' end
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending'
          and (a.expires_at <= p_now or exists (select 1 from turns t where t.tenant_id = v_row.tenant_id
               and t.id = v_row.turn_id and t.state not in ('running', 'waiting')));
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'expiry', '{}');
            perform draw_outcome(v_row.tenant_id, v_row.id, p_outcome, p_now);
            return query select v_row.tenant_id, v_row.id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;

-- Whom to remind.
create function due_reminders(p_now timestamptz, p_most int)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and a.remind_at <= p_now and a.expires_at > p_now
    order by a.remind_at limit p_most
$$;

-- Two people became one: what was asked of either is bound to who they were, and is asked again.
create function reissue_approvals(p_tenant text, p_outcome text, p_now timestamptz)
returns int
language plpgsql as $$
declare
    v_row record;
    v_count int := 0;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_row in select a.id, a.turn_id from approvals a where a.tenant_id = p_tenant and a.state = 'pending'
                 order by a.turn_id, a.id
    loop
        perform hold_turn(p_tenant, v_row.turn_id);
        update approvals a set state = 'replaced', reason = 'reissued', decided_at = p_now, decided_how = 'reissue'
        where a.tenant_id = p_tenant and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(p_tenant, v_row.id, p_now, 'reissued', '', '', '', '{}');
            perform draw_outcome(p_tenant, v_row.id, p_outcome, p_now);
            perform wake_turn(p_tenant, v_row.turn_id);
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end $$;

create function find_approval(p_token text)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a where a.token = p_token
$$;

-- What is pending, of all people, by code where there is one; for the operator.
create function find_pending(p_code text, p_most int)
returns table (tenant_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and (p_code = '' or a.code = p_code) order by a.created_at, a.id limit p_most
$$;

-- As in 0014, but what waits for a decision ends with its approval: its card may not even have been sent.
create or replace function expire_pool(p_now timestamptz, p_most int)
returns table (tenant_id text, lane_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_entry record;
begin
    for v_entry in
        select e.tenant_id, e.agent_id, e.turn_id, t.lane_id from pool_entries e
        join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
        where e.status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') and e.expires_at <= p_now
        order by e.expires_at limit p_most
    loop
        perform 1 from lanes l where l.tenant_id = v_entry.tenant_id and l.id = v_entry.lane_id for update;
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

-- As in 0014, but an approval that is open keeps its turn waiting too.
create or replace function close_waiting_turn(p_tenant text, p_turn text, p_reason text)
returns void
language plpgsql as $$
begin
    if exists (select 1 from pool_entries e
               where e.tenant_id = p_tenant and e.turn_id = p_turn and e.status not in ('CANCELLED', 'COMPLETED'))
        or exists (select 1 from approvals a where a.tenant_id = p_tenant and a.turn_id = p_turn and a.state = 'pending')
    then
        return;
    end if;
    update turns t set state = 'done', reason = p_reason, finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'waiting';
    if found then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['approvals', 'approval_codes', 'approval_audit'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app'
            ' using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))'
            ' with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
    end loop;
    grant select, insert, update, delete on approvals, approval_codes to onevalet_app;
    grant select, insert on approval_audit to onevalet_app;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('audit_approval', 'approval_hash', 'issue_code', 'start_approval', 'decide_approval', 'hold_turn',
                            'expire_approvals', 'due_reminders', 'reissue_approvals', 'find_approval', 'find_pending')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
