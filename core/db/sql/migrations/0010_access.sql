-- Who may come in: how each identity was let in, and what each address said about being written to.

-- The tier of a person; '' is the one named like the role.
alter table tenants add column tier text not null default '';

-- By what an identity was let in; '' is a stranger who was given a code and waits to be let in.
alter table identities add column admitted text not null default 'open'
    check (admitted in ('', 'open', 'allowlist', 'pairing', 'link', 'operator'));
alter table identities alter column admitted drop default;
create index identities_strangers on identities (tenant_id, id) where admitted = '';

-- May go to who said STOP: the one confirmation of that STOP.
alter table outbound add column regardless boolean not null default false;

-- What each address said, or its provider told, about being written to. Only ever added to, and kept when a
-- person is deleted: a STOP outlives the person's data.
create table consents (
    id       bigint generated always as identity primary key,
    channel  text not null,
    account  text not null,
    user_key text not null,
    state    text not null check (state in ('active', 'stopped', 'blocked')),
    how      text not null,
    at       timestamptz not null default clock_timestamp()
);
create index consents_address on consents (channel, account, user_key, id);

alter table consents enable row level security;
alter table consents force row level security;
create policy owner on consents to current_user using (true) with check (true);
-- The serving role may add to the record, and ask it about one address at a time.
create policy nobodys on consents for insert with check (true);
grant insert on consents to onevalet_app;

create function find_consent(p_channel text, p_account text, p_user_key text)
returns table (state text, since timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.state, c.at from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
    order by c.id desc limit 1
$$;

-- How often an address changed its mind of late: confirmations cost money.
create function count_consents(p_channel text, p_account text, p_user_key text, p_within interval)
returns table (stops bigint, starts bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*) filter (where c.state = 'stopped'), count(*) filter (where c.state = 'active')
    from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
      and c.at > clock_timestamp() - p_within
$$;

-- Whatever changes an identity's state, it is recorded; and what was ready when STOP came does not leave, not
-- even after a START. What is under way is stopped by begin_delivery.
create function note_consent()
returns trigger
language plpgsql as $$
begin
    insert into consents (channel, account, user_key, state, how)
    values (new.channel, new.account, new.user_key, new.state, new.state_reason);
    if new.state = 'stopped' then
        update outbound o set state = 'failed', reason = 'the person stopped or blocked this channel'
        from conversations c
        where o.tenant_id = new.tenant_id and c.tenant_id = o.tenant_id and c.id = o.conversation_id
          and c.identity_id = new.id and o.state = 'ready' and not o.regardless
          and (o.owner is null or o.lease_until < clock_timestamp());
    end if;
    return null;
end $$;
create trigger identities_consent after update of state on identities
    for each row when (old.state is distinct from new.state) execute function note_consent();

-- Whoever is let in for the first time becomes a tenant of their own. The lock makes two first messages that
-- arrive together meet the same tenant. An address that said STOP before stays stopped.
drop function admit_identity(text, text, text, text, text, text, text);
create function admit_identity(
    p_channel text, p_account text, p_user_key text, p_name text, p_timezone text,
    p_tenant_id text, p_identity_id text, p_admitted text, p_role text)
returns table (tenant_id text, identity_id text)
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_channel || chr(31) || p_account || chr(31) || p_user_key, 0));
    return query select * from find_identity(p_channel, p_account, p_user_key);
    if found then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant_id, true);
    insert into tenants (tenant_id, name, timezone, role) values (p_tenant_id, p_name, p_timezone, p_role);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted, state, state_reason)
    select p_tenant_id, p_identity_id, p_channel, p_account, p_user_key, p_name, p_timezone, p_admitted,
           coalesce(max(f.state), 'active'), case when max(f.state) is null then '' else 'said before' end
    from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped';
    return query select p_tenant_id, p_identity_id;
end $$;

-- p_admit: by what an unknown sender is let in, '' when not. p_listed_only: who is not let in by p_admit stays out
-- even when known, unless paired, linked or brought in by the operator. Whoever stays out leaves no trace here
-- (inbound_id is null): what a stranger wrote is kept elsewhere, without its text.
drop function receive_message(
    text, text, text, text, text, text, text[], text, jsonb, jsonb, text, timestamptz, text, text, text, text, text);
create function receive_message(
    p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text,
    p_keys text[], p_text text, p_media jsonb, p_command jsonb, p_provider_id text, p_sent_at timestamptz,
    p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text,
    p_admit text, p_listed_only boolean, p_role text)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_state text;
    v_admitted text;
    v_conversation text;
    v_owner text;
    v_known text;
    v_seq bigint;
    v_added int;
    v_stopping text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is not null then
        perform set_config('onevalet.tenant', v_tenant, true);
        select i.admitted into v_admitted from identities i where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    if coalesce(v_admitted, '') = '' or (p_listed_only and v_admitted in ('open', 'allowlist')) then
        if p_admit = '' then
            return query select null::text, false, null::text, null::text;
            return;
        end if;
    end if;
    -- What was kept without its text because nobody knew the sender is not taken in later.
    if exists (select 1 from ignored_messages g
               where g.channel = p_channel and g.account = p_account and g.key = any (p_keys)
                 and g.reason = 'unknown') then
        return query select p_keys[1], true, null::text, null::text;
        return;
    end if;
    if v_tenant is null then
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity,
                            p_admit, p_role) a;
        perform set_config('onevalet.tenant', v_tenant, true);
    end if;
    if p_admit <> '' then
        update identities i set admitted = p_admit
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        if found then
            update tenants t set role = p_role where t.tenant_id = v_tenant;
        end if;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    -- From here to the commit this conversation is ours: duplicates and seq are decided one at a time.
    perform 1 from conversations c where c.tenant_id = v_tenant and c.id = v_conversation for update;
    select i.state into v_state from identities i where i.tenant_id = v_tenant and i.id = v_identity;

    select r.tenant_id, r.inbound_id into v_owner, v_known from find_received(p_channel, p_account, p_keys) r;
    if v_known is not null then
        insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
        select p_channel, p_account, k, v_tenant, v_known from unnest(p_keys) k where v_owner = v_tenant order by k
        on conflict (channel, account, key) do nothing;
        -- Our own id: this very call committed before, and its answer was lost.
        return query select v_known, v_known <> p_id, v_owner,
            (select i.conversation_id from inbound i
             where i.tenant_id = v_tenant and i.id = p_id and i.state = 'waiting');
        return;
    end if;

    update conversations c set in_seq = c.in_seq + 1, last_inbound_at = clock_timestamp()
    where c.tenant_id = v_tenant and c.id = v_conversation returning c.in_seq into v_seq;
    -- A stop does not queue: it is a flag on the running turn, which the loop looks at between its steps.
    if p_command ->> 'name' = 'stop' and v_state <> 'stopped' then
        update turns t set stop_message = coalesce(p_command ->> 'argument', '')
        where t.tenant_id = v_tenant and t.lane_id = v_conversation and t.state = 'running'
        returning t.id into v_stopping;
    end if;
    insert into inbound (tenant_id, id, conversation_id, seq, text, media, command, provider_id, sent_at,
                         state, reason, turn_id)
    values (v_tenant, p_id, v_conversation, v_seq,
            case when v_state = 'stopped' then '' else p_text end,
            case when v_state = 'stopped' then '[]' else p_media end,
            case when v_state = 'stopped' then null else p_command end, p_provider_id, p_sent_at,
            case when v_state = 'stopped' then 'ignored' when v_stopping is not null then 'done' else 'waiting' end,
            case when v_state = 'stopped' then 'stopped' when v_stopping is not null then 'stop' else '' end,
            v_stopping);
    insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
    select p_channel, p_account, k, v_tenant, p_id from unnest(p_keys) k order by k
    on conflict (channel, account, key) do nothing;
    get diagnostics v_added = row_count;
    if v_added < (select count(distinct k) from unnest(p_keys) k) then
        -- The same message is being taken in through another conversation at this moment.
        raise exception 'inbox key taken meanwhile' using errcode = 'serialization_failure';
    end if;
    perform mark_channel(p_channel, p_account, true);
    if v_state = 'stopped' or v_stopping is not null then
        return query select p_id, false, v_tenant, null::text;
        return;
    end if;
    if v_state = 'blocked' then
        update identities i set state = 'active', state_reason = 'wrote again', state_at = clock_timestamp()
        where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    insert into lanes as l (tenant_id, id, conversation_id, pending, pending_since)
    values (v_tenant, v_conversation, v_conversation, true, clock_timestamp())
    on conflict on constraint lanes_pkey do update
    set pending = true, pending_since = coalesce(l.pending_since, excluded.pending_since);
    return query select p_id, false, v_tenant, v_conversation;
end $$;

-- Makes one tenant with these identities, [{channel, account, user_key}]; those that are known stay what they
-- are, and are let in. For the operator's own doing only. Returns the tenant of the first.
create function seed_person(
    p_tenant text, p_identities jsonb, p_ids text[], p_name text, p_timezone text, p_role text)
returns text
language plpgsql as $$
declare
    v_item record;
    v_tenant text;
    v_found record;
begin
    for v_item in select v.value, v.ordinality from jsonb_array_elements(p_identities) with ordinality v loop
        select * into v_found from find_identity(
            v_item.value ->> 'channel', v_item.value ->> 'account', v_item.value ->> 'user_key');
        if v_found.tenant_id is not null then
            perform set_config('onevalet.tenant', v_found.tenant_id, true);
            update identities i set admitted = 'operator'
            where i.tenant_id = v_found.tenant_id and i.id = v_found.identity_id;
            update tenants t set role = p_role where t.tenant_id = v_found.tenant_id;
            v_tenant := coalesce(v_tenant, v_found.tenant_id);
        else
            v_tenant := coalesce(v_tenant, p_tenant);
            perform set_config('onevalet.tenant', v_tenant, true);
            insert into tenants (tenant_id, name, timezone, role) values (v_tenant, p_name, p_timezone, p_role)
            on conflict (tenant_id) do nothing;
            insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted)
            values (v_tenant, p_ids[v_item.ordinality], v_item.value ->> 'channel', v_item.value ->> 'account',
                    v_item.value ->> 'user_key', p_name, p_timezone, 'operator');
        end if;
    end loop;
    return v_tenant;
end $$;

-- STOP, START, a blocked or unblocked bot; once per key, so that a replayed STOP does not undo a START. A change
-- is confirmed with p_reply, where that is ours to say: once, and not to an address that says it over and over.
-- An unknown address has nothing to change, but what it said counts.
drop function change_reachability(text, text, text, text, text, text[]);
create function change_reachability(
    p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[],
    p_reply text, p_outbound text, p_new_conversation text)
returns table (changed boolean, conversation_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
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
            (select f.state from find_consent(p_channel, p_account, p_user_key) f), 'active');
        return query select false, null::text;
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    update identities i set state = p_state, state_reason = p_reason, state_at = clock_timestamp()
    where i.tenant_id = v_tenant and i.id = v_identity and i.state <> p_state;
    if not found then
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

-- As in 0004, with "regardless".
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
                              regardless)
        values (p_tenant, v_message ->> 'id', p_conversation, p_turn, v_message ->> 'kind', v_message ->> 'text',
                coalesce(v_message -> 'actions', '[]'), coalesce(v_message -> 'media', '[]'),
                case when v_held then 'held' else 'ready' end, case when not v_held then v_seq + 1 end,
                coalesce((v_message ->> 'regardless')::boolean, false))
        on conflict on constraint outbound_pkey do nothing;
        if found and not v_held then
            v_seq := v_seq + 1;
        end if;
    end loop;
    update conversations c set out_seq = v_seq where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

-- As in 0005; but no kind of message reaches who said STOP, except the one confirmation of it.
create or replace function begin_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_owner text, p_ttl interval)
returns text
language plpgsql as $$
declare
    v_lost int;
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    if exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
               and e.part = p_part and e.state = 'sent') then
        return 'sent';
    end if;
    if exists (select 1 from outbound o
               join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
               join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
               where o.tenant_id = p_tenant and o.id = p_outbound and i.state <> 'active'
                 and not (o.regardless and i.state = 'stopped')) then
        return 'unreachable';
    end if;
    -- An earlier sender died over its call: nobody else will write what became of it.
    update deliveries d set finished_at = clock_timestamp(), outcome = 'ambiguous'
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part
      and d.attempt < p_attempt and d.outcome = 'started';
    get diagnostics v_lost = row_count;
    insert into deliveries (tenant_id, outbound_id, part, attempt, owner)
    values (p_tenant, p_outbound, p_part, p_attempt, p_owner)
    on conflict (tenant_id, outbound_id, part, attempt) do nothing;
    update outbound_parts e set state = 'sending'
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part;
    update outbound o
    set state = 'sending', attempts = p_attempt, ambiguities = o.ambiguities + v_lost,
        lease_until = clock_timestamp() + p_ttl
    where o.tenant_id = p_tenant and o.id = p_outbound;
    return 'go';
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('find_consent', 'count_consents', 'note_consent', 'admit_identity', 'receive_message',
                            'seed_person', 'change_reachability')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
