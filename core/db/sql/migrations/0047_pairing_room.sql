-- Pairing: strangers who hold codes shut no other stranger out, and the operator lets in by address.

-- As in 0013; but a code that waits takes nobody's place. p_most_of_account is the bound on what an hour's strangers on
-- one account may cost in messages; p_most_waiting, which older processes hand over, is not looked at any more.
create or replace function meet_stranger(
    p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[],
    p_name text, p_timezone text, p_code_hash bytea, p_outbound text, p_text text,
    p_now timestamptz, p_expires timestamptz, p_most_waiting int, p_most_of_sender int, p_most_of_account int,
    p_new_tenant text, p_new_identity text, p_new_conversation text)
returns table (duplicate boolean, conversation_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_conversation text;
    v_asked record;
begin
    if exists (select 1 from find_received(p_channel, p_account, p_keys))
       or not ignore_message(p_channel, p_account, p_keys, 'unknown') then
        return query select true, null::text;
        return;
    end if;
    perform mark_channel(p_channel, p_account, true);
    if p_code_hash is null or exists (
            select 1 from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped') then
        return query select false, null::text;
        return;
    end if;
    perform drop_strangers(p_now);
    perform pg_advisory_xact_lock(hashtextextended('pairing' || chr(31) || p_channel || chr(31) || p_account, 0));
    select count(*) filter (where p.asked_at > p_now - interval '1 hour') as of_account,
           count(*) filter (where p.user_key = p_user_key) as of_sender,
           count(*) filter (where p.used_at is null and p.expires_at > p_now and p.user_key = p_user_key) as told
    into v_asked
    from pairings p
    where p.channel = p_channel and p.account = p_account and p.asked_at > p_now - interval '1 day';
    if v_asked.told > 0 or v_asked.of_sender >= p_most_of_sender or v_asked.of_account >= p_most_of_account then
        return query select false, null::text;
        return;
    end if;
    insert into pairings (code_hash, channel, account, user_key, asked_at, expires_at)
    values (p_code_hash, p_channel, p_account, p_user_key, p_now, p_expires);
    select a.tenant_id, a.identity_id into v_tenant, v_identity
    from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity,
                        '', 'guest') a;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'receipt', 'text', p_text)));
    return query select false, v_conversation;
end $$;

-- Lets an address in, on this account, or where p_account is empty on those that it is known on, else on all of the
-- channel's; an address that is in already gets the role. Gives the accounts, none where nothing came in by the channel.
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
            select from identities i where i.channel = p_channel and i.user_key = p_user_key and p_account in ('', i.account))
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
        update outbound_parts e set text = '(This code was used.)', data = '{}' from outbound o, identities i
        where e.tenant_id = v_tenant and o.tenant_id = v_tenant and o.id = e.outbound_id
          and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update outbound o set text = '(This code was used.)' from identities i
        where o.tenant_id = v_tenant and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update identities i set admitted = 'operator'
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted in ('', 'open', 'allowlist');
        update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
        return next;
    end loop;
end $$;

do $$
begin
    revoke all on function admit_address(text, text, text, text, text, text, timestamptz) from public;
    grant execute on function admit_address(text, text, text, text, text, text, timestamptz) to onevalet_app;
end $$;
