-- Profiles: what is known about a person, each fact told or inferred, and every change undoable. And what they
-- prefer, and said about being written to.

-- One row per fact as it was at a time. In force: not replaced and not undone. What was undone is not inferred again.
create table profile_facts (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      bigint not null,
    key         text not null check (key ~ '^[a-z][a-z0-9_]{0,39}$'),
    value       text not null check (length(value) between 1 and 300),
    source      text not null check (source in ('told', 'inferred', 'outside')),
    turn_id     text not null default '',
    since       timestamptz not null,
    replaced_by text,
    undone_at   timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index profile_facts_in_force on profile_facts (tenant_id, key) where replaced_by is null and undone_at is null;

-- Turns whose words nobody has looked at yet. Made with the end of the turn, so that none is forgotten.
create table profile_jobs (
    tenant_id   text not null,
    turn_id     text not null,
    not_before  timestamptz not null default clock_timestamp() + interval '20 seconds',
    attempts    int not null default 0,
    owner       text,
    lease_until timestamptz,
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index profile_jobs_due on profile_jobs (not_before);

create function owe_profile()
returns trigger
language plpgsql as $$
begin
    if exists (select from inbound i where i.tenant_id = new.tenant_id and i.turn_id = new.id and i.command is null
               and length(i.text) >= 8) then
        insert into profile_jobs (tenant_id, turn_id) values (new.tenant_id, new.id) on conflict do nothing;
    end if;
    return null;
end $$;
create trigger turns_profile after update of state on turns
    for each row when (old.state = 'running' and new.state in ('done', 'waiting')) execute function owe_profile();

-- Takes all that is due of one person, once nobody else has it: a person whose newest is not due yet talks on, and
-- is looked at afterwards, all at once. Repeating the call as the same owner gives the same again.
create function claim_profile(p_owner text, p_ttl interval, p_most int)
returns table (tenant_id text, turn_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
begin
    select j.tenant_id into v_tenant from profile_jobs j
    where j.not_before <= clock_timestamp() and (j.lease_until is null or j.lease_until < clock_timestamp())
      and (j.attempts >= 3 or not exists (
          select from profile_jobs n where n.tenant_id = j.tenant_id and n.not_before > clock_timestamp()
            and n.attempts = 0 and j.not_before > clock_timestamp() - interval '2 minutes'))
    order by j.not_before limit 1;
    if v_tenant is null or not pg_try_advisory_xact_lock(hashtextextended('profile' || chr(31) || v_tenant, 0)) then
        return;
    end if;
    return query update profile_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, attempts = j.attempts + 1
    where (j.tenant_id, j.turn_id) in (
        select d.tenant_id, d.turn_id from profile_jobs d
        where d.tenant_id = v_tenant and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.not_before limit p_most for update skip locked)
    returning j.tenant_id, j.turn_id;
end $$;

-- What was said in these turns, by the person alone.
create function read_profile_words(p_tenant text, p_turns text[])
returns table (turn_id text, text text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select i.turn_id, i.text from inbound i
    where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and i.text <> ''
    order by i.received_at, i.seq;
end $$;

create function read_profile(p_tenant text)
returns table (number bigint, key text, value text, source text, since timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select f.number, f.key, f.value, f.source, f.since from profile_facts f
    where f.tenant_id = p_tenant and f.replaced_by is null and f.undone_at is null order by f.number;
end $$;

-- Keeps a fact in place of what was known under its key. What was told is not replaced by what was inferred, nor is
-- inferred again what was undone. Gives its number, null where nothing changed.
create function keep_fact(
    p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamptz)
returns bigint
language plpgsql as $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select f.number into v_number from profile_facts f where f.tenant_id = p_tenant and f.id = p_id;
    if found then
        return v_number;
    end if;
    if exists (select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null
               and f.undone_at is null
               and (lower(f.value) = lower(p_value) and (f.source = 'told' or p_source <> 'told')
                    or f.source = 'told' and p_source <> 'told'))
       or p_source <> 'told' and exists (
           select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.undone_at is not null
             and lower(f.value) = lower(p_value)) then
        return null;
    end if;
    select coalesce(max(f.number), 0) + 1 into v_number from profile_facts f where f.tenant_id = p_tenant;
    update profile_facts f set replaced_by = p_id
    where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null and f.undone_at is null;
    insert into profile_facts (tenant_id, id, number, key, value, source, turn_id, since)
    values (p_tenant, p_id, v_number, p_key, p_value, p_source, p_turn, p_now);
    return v_number;
end $$;

-- Takes a fact back, and puts what it replaced in its place again. Gives what was taken back.
create function undo_fact(p_tenant text, p_number bigint, p_now timestamptz)
returns table (key text, value text, before text)
language plpgsql as $$
declare
    v_fact profile_facts%rowtype;
    v_before text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    update profile_facts f set undone_at = p_now
    where f.tenant_id = p_tenant and f.number = p_number and f.undone_at is null and f.replaced_by is null
    returning f.* into v_fact;
    if v_fact.id is null then
        return;
    end if;
    update profile_facts f set replaced_by = null
    where f.tenant_id = p_tenant and f.replaced_by = v_fact.id and f.undone_at is null
    returning f.value into v_before;
    return query select v_fact.key, v_fact.value, coalesce(v_before, '');
end $$;

create function end_profile(p_tenant text, p_owner text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

-- Lets them be tried again later; after the third time they are let go of.
create function leave_profile(p_tenant text, p_owner text, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner and j.attempts >= 3;
    update profile_jobs j set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['profile_facts', 'profile_jobs'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('owe_profile', 'claim_profile', 'read_profile_words', 'read_profile', 'keep_fact',
                            'undo_fact', 'end_profile', 'leave_profile')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;

-- Forgets which messages of unknown senders were turned away: providers send nothing again after so long.
create function drop_unknown(p_before timestamptz)
returns table (messages bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from ignored_messages g where g.reason = 'unknown' and g.received_at < p_before;
    get diagnostics messages = row_count;
    return next;
end $$;

create function read_person(p_tenant text)
returns table (name text, language text, timezone text, preferred_channel text, quiet_from text, quiet_until text,
               while_running text, channels text[], muted text[])
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select t.name, t.language, t.timezone, t.preferred_channel, t.quiet_from, t.quiet_until,
        t.while_running,
        array(select i.channel from identities i where i.tenant_id = p_tenant and i.state = 'active'
              group by i.channel order by i.channel),
        t.muted
    from tenants t where t.tenant_id = p_tenant;
end $$;

-- Keeps what a person prefers: {name: value} of the columns named below, the others stay.
create function keep_preferences(p_tenant text, p_values jsonb, p_turn text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tenants t
    set name = coalesce(p_values ->> 'name', t.name), language = coalesce(p_values ->> 'language', t.language),
        timezone = coalesce(p_values ->> 'timezone', t.timezone),
        preferred_channel = coalesce(p_values ->> 'preferred_channel', t.preferred_channel),
        quiet_from = coalesce(p_values ->> 'quiet_from', t.quiet_from),
        quiet_until = coalesce(p_values ->> 'quiet_until', t.quiet_until),
        while_running = coalesce(p_values ->> 'while_running', t.while_running),
        muted = coalesce(string_to_array(p_values ->> 'muted', ','), t.muted)
    where t.tenant_id = p_tenant;
    insert into person_audit (tenant_id, what, other, turn_id)
    select p_tenant, 'preference', string_agg(k, ','), p_turn from jsonb_object_keys(p_values) k;
end $$;

-- What a provider says of an address: kept there, and with its person where they have not said it themselves.
create function note_sender(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text)
returns boolean
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        return false;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    update identities i set name = coalesce(nullif(p_name, ''), i.name),
        timezone = coalesce(nullif(p_timezone, ''), i.timezone)
    where i.tenant_id = v_tenant and i.id = v_identity;
    update tenants t set name = coalesce(nullif(t.name, ''), p_name),
        timezone = coalesce(nullif(t.timezone, ''), p_timezone)
    where t.tenant_id = v_tenant;
    return true;
end $$;

-- As in 0010; and by p_said_at, where the provider tells it, what was said earlier but comes in later changes
-- nothing: a STOP that a sweep finds after the START. State_at is when it was said, as far as that is known. Clocks
-- differ: in doubt the STOP counts.
drop function change_reachability(text, text, text, text, text, text[], text, text, text);
create function change_reachability(
    p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[],
    p_reply text, p_outbound text, p_new_conversation text, p_said_at timestamptz)
returns table (changed boolean, conversation_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_me identities%rowtype;
    v_conversation text;
begin
    if cardinality(p_keys) > 0 and not ignore_message(p_channel, p_account, p_keys, p_reason) then
        return query select false, null::text;
        return;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        insert into consents (channel, account, user_key, state, how)
        select p_channel, p_account, p_user_key, p_state, p_reason
        where p_state is distinct from coalesce(
            (select f.state from find_consent(p_channel, p_account, p_user_key) f), 'active')
          and not exists (select from find_consent(p_channel, p_account, p_user_key) f
                          where f.since > p_said_at + case when p_state = 'active' then interval '0'
                                                           else interval '10 seconds' end);
        return query select false, null::text;
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    select * into v_me from identities i where i.tenant_id = v_tenant and i.id = v_identity for update;
    if v_me.state_at > p_said_at + (case when p_state = 'active' then interval '0' else interval '10 seconds' end)
       and v_me.state_reason <> '' then
        return query select false, null::text;
        return;
    end if;
    update identities i set state = p_state, state_reason = p_reason,
        state_at = coalesce(p_said_at, clock_timestamp())
    where i.tenant_id = v_tenant and i.id = v_identity;
    if v_me.state = p_state then
        return query select false, null::text;
        return;
    end if;
    if p_reply <> '' and not exists (
            select 1 from count_consents(p_channel, p_account, p_user_key, interval '1 hour') k
            where case when p_state = 'active' then k.starts else k.stops end > 5) then
        v_conversation := open_conversation(
            v_tenant, v_identity, p_channel, p_account, p_user_key, '', p_new_conversation);
        perform owe(v_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound, 'kind', 'receipt', 'text', p_reply, 'regardless', true)));
    end if;
    return query select true, v_conversation;
end $$;

-- As in 0005; but by which of the provider's codes somebody came to be stopped stands in the record of consents.
create or replace function end_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_part_state text,
    p_outcome text, p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval,
    p_identity_state text)
returns text
language plpgsql as $$
declare
    v_state text;
    v_before text;
    v_conversation text;
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
        return v_state;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    select d.outcome into v_before from deliveries d
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    update deliveries d
    set finished_at = clock_timestamp(), outcome = p_outcome, error_code = p_error_code, provider_id = p_provider_id
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    -- A callback that carried our ref may have resolved the part already: that knowledge is never undone.
    update outbound_parts e
    set state = case when e.state = 'sent' then 'sent' else p_part_state end,
        provider_id = case when p_provider_id <> '' then p_provider_id else e.provider_id end,
        degraded = e.degraded or p_degraded,
        error_code = case when p_part_state = 'sent' then '' else p_error_code end,
        sent_at = case when p_part_state = 'sent' then coalesce(e.sent_at, clock_timestamp()) else e.sent_at end
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part
    returning e.state into v_state;
    if v_state not in ('failed', 'ready', 'checking') then
        v_state := outbound_state(p_tenant, p_outbound);
    end if;
    update outbound o
    set state = v_state,
        reason = case when v_state = 'sent' then '' when p_reason <> '' then p_reason else o.reason end,
        ambiguities = o.ambiguities
            + (case when v_before = 'started' and p_outcome in ('ambiguous', 'found', 'left') then 1 else 0 end),
        next_attempt_at = case when v_state in ('ready', 'checking') then clock_timestamp() + p_delay
                               else o.next_attempt_at end,
        owner = case when v_state = 'sending' then o.owner end,
        lease_until = case when v_state = 'sending' then o.lease_until end,
        sent_at = case when v_state = 'sent' then clock_timestamp() else o.sent_at end
    where o.tenant_id = p_tenant and o.id = p_outbound
    returning o.conversation_id into v_conversation;
    if p_identity_state <> '' then
        update identities i
        set state = p_identity_state, state_reason = btrim(p_outcome || ' ' || p_error_code),
            state_at = clock_timestamp()
        from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation
          and i.tenant_id = c.tenant_id and i.id = c.identity_id and i.state = 'active';
    end if;
    if p_part_state = 'sent' then
        perform mark_channel(c.channel, c.account, false) from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation;
    end if;
    return v_state;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('drop_unknown', 'read_person', 'keep_preferences', 'note_sender',
                            'change_reachability', 'end_delivery')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
