-- Strangers: how they are met, paired by a code, linked, and forgotten.

-- Makes an identity that is let in for the first time a tenant. The lock makes two first messages that arrive together
-- meet the same tenant. An address that said STOP before stays stopped.
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
    p_tenant_id := in_partition(p_tenant_id);
    perform set_config('onevalet.tenant', p_tenant_id, true);
    insert into tenants (tenant_id, name, timezone, role) values (p_tenant_id, p_name, p_timezone, p_role);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted, state, state_reason)
    select p_tenant_id, p_identity_id, p_channel, p_account, p_user_key, p_name, p_timezone, p_admitted,
           coalesce(max(f.state), 'active'), case when max(f.state) is null then '' else 'said before' end
    from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped';
    return query select p_tenant_id, p_identity_id;
end $$;

-- Deletes strangers whose code has expired with all their rows, and old codes and guesses. A stranger whose sentence is
-- being sent is left to the next run, and one who was asked about a link stays until its code has expired.
create function drop_strangers(p_now timestamptz)
returns table (strangers bigint, codes bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
    v_strangers bigint := 0;
    v_codes bigint;
    v_free bigint;
begin
    -- First, as whoever lets a stranger in uses up the code first.
    delete from pairings p where p.asked_at < p_now - interval '2 days';
    get diagnostics v_codes = row_count;
    for v_row in
        select i.tenant_id from identities i
        where i.admitted = '' and not exists (
            select 1 from pairings p where p.channel = i.channel and p.account = i.account
              and p.user_key = i.user_key and p.used_at is null and p.expires_at > p_now)
          and not exists (
            select 1 from link_codes k where k.asked_channel = i.channel and k.asked_account = i.account
              and k.asked_user_key = i.user_key and k.used_at is null and k.expires_at > p_now)
        order by i.tenant_id for update skip locked
    loop
        -- Never waits for the person or a message, whose holder may wait for the identity: whoever is written to, or let
        -- in, right now goes later.
        perform 1 from tenants t where t.tenant_id = v_row.tenant_id for no key update skip locked;
        continue when not found;
        perform 1 from conversations c where c.tenant_id = v_row.tenant_id order by c.id for no key update;
        select count(*) into v_free from (
            select 1 from outbound o where o.tenant_id = v_row.tenant_id for update skip locked) f;
        if v_free = (select count(*) from outbound o where o.tenant_id = v_row.tenant_id)
           and not exists (select 1 from outbound o where o.tenant_id = v_row.tenant_id
                           and o.owner is not null and o.lease_until > clock_timestamp()) then
            delete from tenants t where t.tenant_id = v_row.tenant_id;
            v_strangers := v_strangers + 1;
        end if;
    end loop;
    delete from guesses g where g.at < p_now - interval '2 days';
    return query select v_strangers, v_codes;
end $$;

-- Stores a stranger's message without its text, and enqueues the sentence with the code, if one is due: not while an
-- earlier code of the sender is valid, not beyond the limits, never to someone who said STOP. p_code_hash null: no
-- code. Pending codes do not shut other strangers out. p_limit_of_account bounds the messages that strangers on one
-- account may cost in an hour.
create function meet_stranger(
    p_arrival jsonb, p_code_hash bytea, p_text text, p_now timestamptz, p_expires timestamptz, p_limit_of_sender int,
    p_limit_of_account int)
returns table (duplicate boolean, conversation_id text)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_conversation text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    if exists (select 1 from find_received(v.channel, v.account, v.user_key, v.keys))
       or is_of_deleted(v.channel, v.account, v.keys)
       or not ignore_message(v.channel, v.account, v.keys, 'unknown') then
        return query select true, null::text;
        return;
    end if;
    if p_code_hash is not null and not exists (
            select 1 from find_consent(v.channel, v.account, v.user_key) f where f.state = 'stopped') then
        v_conversation := tell_stranger_code(v, p_code_hash, p_text, p_now, p_expires, p_limit_of_sender,
                                             p_limit_of_account);
    end if;
    perform mark_channel(v.channel, v.account, true);
    return query select false, v_conversation;
end $$;

-- Enqueues a code for a stranger; returns the conversation, null where the limits forbid it.
create function tell_stranger_code(
    v arrival, p_code_hash bytea, p_text text, p_now timestamptz, p_expires timestamptz, p_limit_of_sender int,
    p_limit_of_account int)
returns text
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_conversation text;
    v_asked record;
begin
    perform drop_strangers(p_now);
    perform pg_advisory_xact_lock(hashtextextended('pairing' || chr(31) || v.channel || chr(31) || v.account, 0));
    select count(*) filter (where p.asked_at > p_now - interval '1 hour') as of_account,
           count(*) filter (where p.user_key = v.user_key) as of_sender,
           count(*) filter (where p.used_at is null and p.expires_at > p_now and p.user_key = v.user_key) as told
    into v_asked
    from pairings p
    where p.channel = v.channel and p.account = v.account and p.asked_at > p_now - interval '1 day';
    if v_asked.told > 0 or v_asked.of_sender >= p_limit_of_sender or v_asked.of_account >= p_limit_of_account then
        return null;
    end if;
    insert into pairings (code_hash, channel, account, user_key, asked_at, expires_at)
    values (p_code_hash, v.channel, v.account, v.user_key, p_now, p_expires);
    select a.tenant_id, a.identity_id into v_tenant, v_identity
    from admit_identity(v.channel, v.account, v.user_key, v.name, v.timezone, v.new_tenant, v.new_identity,
                        '', 'guest') a;
    perform note_language(v_tenant, v.channel, v.language);
    v_conversation := open_conversation(
        v_tenant, v_identity, v.channel, v.account, v.peer, v.thread, v.new_conversation);
    perform enqueue(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', v.outbound, 'kind', 'receipt', 'text', p_text)));
    return v_conversation;
end $$;

create function add_guess(p_scope text, p_now timestamptz)
returns void
language sql as $$
    insert into guesses (scope, at) values (p_scope, p_now)
$$;

-- Returns when the next guess is allowed, null for now: at most p_limit wrong ones within p_window. Locks the scope for
-- this transaction, so that concurrent guesses are counted one by one.
create function next_guess(p_scope text, p_limit int, p_window interval, p_now timestamptz)
returns timestamptz
language plpgsql as $$
declare
    v_oldest timestamptz;
begin
    perform pg_advisory_xact_lock(hashtextextended('guesses' || chr(31) || p_scope, 0));
    select g.at into v_oldest from guesses g
    where g.scope = p_scope and g.at > p_now - p_window
    order by g.at desc offset p_limit - 1 limit 1;
    return v_oldest + p_window;
end $$;

-- Lets in the stranger who was given this code: 'paired', or why not: 'wrong', 'expired', 'used', 'limited' (until
-- then). Repeating it with the same p_id returns the same.
create function redeem_pairing(
    p_id text, p_code_hash bytea, p_role text, p_tier text, p_now timestamptz, p_limit int, p_window interval)
returns table (outcome text, channel text, account text, user_key text, until timestamptz)
language plpgsql as $$
declare
    v_until timestamptz;
    v_code pairings%rowtype;
    v_outcome text;
    v_tenant text;
    v_identity text;
begin
    v_until := next_guess('pair', p_limit, p_window, p_now);
    if v_until is not null then
        return query select 'limited', '', '', '', v_until;
        return;
    end if;
    select * into v_code from pairings p where p.code_hash = p_code_hash for update;
    if v_code.code_hash is not null and v_code.used_by = p_id then
        return query select 'paired', v_code.channel, v_code.account, v_code.user_key, v_until;
        return;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(v_code.channel, v_code.account, v_code.user_key) f;
    v_outcome := case when v_code.code_hash is null then 'wrong'
                      when v_code.used_at is not null then 'used'
                      when v_code.expires_at <= p_now or v_tenant is null then 'expired' end;
    if v_outcome is not null then
        perform add_guess('pair', p_now);
        return query select v_outcome, '', '', '', v_until;
        return;
    end if;
    update pairings p set used_at = p_now, used_by = p_id where p.code_hash = p_code_hash;
    perform set_config('onevalet.tenant', v_tenant, true);
    -- The code is used up: it is not kept in clear.
    perform 1 from tenants t where t.tenant_id = v_tenant for no key update;
    update outbound o set text = '(This code was used.)' from identities i
    where o.tenant_id = v_tenant and i.tenant_id = o.tenant_id and i.admitted = '';
    update outbound_parts e set text = '(This code was used.)', data = '{}'
    from outbound o join identities i on i.tenant_id = o.tenant_id and i.admitted = ''
    where e.tenant_id = v_tenant and o.tenant_id = e.tenant_id and o.id = e.outbound_id;
    update identities i set admitted = 'pairing' where i.tenant_id = v_tenant and i.id = v_identity;
    update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
    return query select 'paired', v_code.channel, v_code.account, v_code.user_key, v_until;
end $$;

-- An unknown sender typed a person's code. 'ask', with the person and the identity that were given it, until they agree
-- in a message after the question; then the address becomes that person's: 'linked', with it and its conversation.
-- Stored without its text. 'duplicate', or why not; an unknown address is not told why.
create function link_stranger(
    p_arrival jsonb, p_code_hash bytea, p_agreed boolean, p_now timestamptz, p_limit_of_sender int, p_window interval)
returns table (outcome text, tenant_id text, identity_id text, conversation_id text)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_gone text;
    v_person text;
    v_code record;
    v_conversation text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    -- 1. A message that is known does nothing.
    if exists (select 1 from ignored_messages g where g.channel = v.channel and g.account = v.account
               and g.key = any (v.keys)) or is_of_deleted(v.channel, v.account, v.keys) then
        return query select 'duplicate', '', '', '';
        return;
    end if;
    -- 2. Check the code, with the address and the person who was given it locked.
    perform pg_advisory_xact_lock(hashtextextended(v.channel || chr(31) || v.account || chr(31) || v.user_key, 0));
    select f.tenant_id into v_person from find_link_code(p_code_hash) f;
    if v_person is not null then
        perform lock_person(v_person, true);
    end if;
    select * into v_code from try_link_code(
        p_code_hash, 'link of a stranger', v.channel, v.account, v.user_key, v.outbound, p_now,
        p_limit_of_sender, p_window);
    if v_code.outcome <> 'good' then
        return query select v_code.outcome, '', '', '';
        return;
    end if;
    if not ignore_message(v.channel, v.account, v.keys, 'link') then
        return query select 'duplicate', '', '', '';
        return;
    end if;
    -- 3. Ask first; agreeing is a message after the question.
    v_person := v_code.tenant_id;
    if not (p_agreed and v_code.asked) then
        perform note_link_asked(v_person, p_code_hash, v.channel, v.account, v.user_key, v.outbound);
        return query select 'ask', v_person, v_code.identity_id, '';
        return;
    end if;
    -- 4. Make room where the address belongs to somebody who was never let in.
    select f.tenant_id into v_gone from find_identity(v.channel, v.account, v.user_key) f;
    if v_gone is not null then
        perform set_config('onevalet.tenant', v_gone, true);
        delete from tenants t where t.tenant_id = v_gone and not exists (
            select from identities i where i.tenant_id = v_gone and i.admitted <> '');
        if not found then
            raise exception 'the stranger is known by now' using errcode = 'serialization_failure';
        end if;
    end if;
    -- 5. Link the address: its consent as it was said before, its zone and language if none is known.
    perform set_config('onevalet.tenant', v_person, true);
    update link_codes k set used_at = p_now, used_by = v.outbound
    where k.tenant_id = v_person and k.code_hash = p_code_hash;
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted, state, state_reason)
    select v_person, v.new_identity, v.channel, v.account, v.user_key, v.name, v.timezone, 'link',
           coalesce(max(f.state), 'active'), case when max(f.state) is null then '' else 'said before' end
    from find_consent(v.channel, v.account, v.user_key) f where f.state = 'stopped';
    update tenants t set timezone = v.timezone where t.tenant_id = v_person and t.timezone = '';
    perform note_language(v_person, v.channel, v.language);
    insert into person_audit (tenant_id, what, channel, account, identity_id)
    values (v_person, 'linked', v.channel, v.account, v.new_identity);
    v_conversation := open_conversation(
        v_person, v.new_identity, v.channel, v.account, v.peer, v.thread, v.new_conversation);
    perform mark_channel(v.channel, v.account, true);
    return query select 'linked', v_person, v.new_identity, v_conversation;
end $$;

-- Enqueues a text to a stranger, who is stored as an identity that nobody let in, and deleted as such.
create function tell_stranger(p_arrival jsonb, p_text text)
returns table (conversation_id text)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_identity text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    if exists (select from find_consent(v.channel, v.account, v.user_key) f where f.state = 'stopped') then
        return;
    end if;
    select a.tenant_id, a.identity_id into v_tenant, v_identity
    from admit_identity(v.channel, v.account, v.user_key, v.name, v.timezone, v.new_tenant, v.new_identity,
                        '', 'guest') a;
    perform note_language(v_tenant, v.channel, v.language);
    conversation_id := open_conversation(
        v_tenant, v_identity, v.channel, v.account, v.peer, v.thread, v.new_conversation);
    perform enqueue(v_tenant, conversation_id, null,
                jsonb_build_array(jsonb_build_object('id', v.outbound, 'kind', 'receipt', 'text', p_text)));
    return next;
end $$;

-- Lets an address in, on this account, or if p_account is empty on those that it is known on, otherwise on all of the
-- channel's; one that is in already gets the role. Returns the accounts, none if nothing has ever come in by the
-- channel.
create function admit_address(
    p_id text, p_channel text, p_account text, p_user_key text, p_role text, p_tier text, p_now timestamptz)
returns table (account text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_identity text;
begin
    for account in
        select i.account from identities i
        where i.channel = p_channel and i.user_key = p_user_key and p_account in ('', i.account)
        union
        select s.account from channel_state s
        where s.channel = p_channel and s.account <> '' and p_account in ('', s.account) and not exists (
            select from identities i
            where i.channel = p_channel and i.user_key = p_user_key and p_account in ('', i.account))
        union
        select p_account where p_account <> ''
    loop
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(p_channel, account, p_user_key, '', '', p_id || '.tn.' || account,
                            p_id || '.idn.' || account, 'operator', p_role) a;
        perform set_config('onevalet.tenant', v_tenant, true);
        update pairings p set used_at = p_now, used_by = p_id
        where p.channel = p_channel and p.account = admit_address.account and p.user_key = p_user_key
          and p.used_at is null;
        perform 1 from tenants t where t.tenant_id = v_tenant for no key update;
        update outbound o set text = '(This code was used.)' from identities i
        where o.tenant_id = v_tenant and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update outbound_parts e set text = '(This code was used.)', data = '{}' from outbound o, identities i
        where e.tenant_id = v_tenant and o.tenant_id = v_tenant and o.id = e.outbound_id
          and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update identities i set admitted = 'operator'
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted in ('', 'open', 'allowlist');
        update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
        return next;
    end loop;
end $$;
