-- Strangers who wait with a code, and guesses at codes.

-- Codes given to strangers, as hashes; they belong to no tenant yet. Times are people's times.
create table pairings (
    code_hash  bytea primary key,
    channel    text not null,
    account    text not null,
    user_key   text not null check (user_key <> ''),
    asked_at   timestamptz not null,
    expires_at timestamptz not null,
    used_at    timestamptz,
    used_by    text not null default ''
);
create index pairings_account on pairings (channel, account, asked_at);

-- Wrong guesses at codes, counted here so that no restart and no flush forgets them.
create table guesses (
    scope text not null,
    at    timestamptz not null
);
create index guesses_scope on guesses (scope, at);

-- Forgets strangers whose code has run out with all that was kept for them, and old codes and guesses. A
-- stranger whose sentence is on its way at this moment is left for the next time.
create function drop_strangers(p_now timestamptz)
returns table (strangers bigint, codes bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
    v_strangers bigint := 0;
    v_codes bigint;
begin
    for v_row in
        select i.tenant_id from identities i
        where i.admitted = '' and not exists (
            select 1 from pairings p where p.channel = i.channel and p.account = i.account
              and p.user_key = i.user_key and p.used_at is null and p.expires_at > p_now)
        order by i.tenant_id for update skip locked
    loop
        perform 1 from outbound o where o.tenant_id = v_row.tenant_id for update;
        if not exists (select 1 from outbound o where o.tenant_id = v_row.tenant_id
                       and o.owner is not null and o.lease_until > clock_timestamp()) then
            delete from tenants t where t.tenant_id = v_row.tenant_id;
            v_strangers := v_strangers + 1;
        end if;
    end loop;
    delete from pairings p where p.asked_at < p_now - interval '2 days';
    get diagnostics v_codes = row_count;
    delete from guesses g where g.at < p_now - interval '2 days';
    return query select v_strangers, v_codes;
end $$;

-- Keeps a stranger's message without its text, and owes the sentence with the code, if one is due: not while an
-- earlier code of the sender counts, not beyond the limits, never to who said STOP. p_code_hash null: no code.
create function meet_stranger(
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
    select count(*) as of_account,
           count(*) filter (where p.user_key = p_user_key) as of_sender,
           count(*) filter (where p.used_at is null and p.expires_at > p_now) as waiting,
           count(*) filter (where p.used_at is null and p.expires_at > p_now and p.user_key = p_user_key) as told
    into v_asked
    from pairings p
    where p.channel = p_channel and p.account = p_account and p.asked_at > p_now - interval '1 day';
    if v_asked.told > 0 or v_asked.waiting >= p_most_waiting
       or v_asked.of_sender >= p_most_of_sender or v_asked.of_account >= p_most_of_account then
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

-- Counts a wrong guess at a kind of code.
create function add_guess(p_scope text, p_now timestamptz)
returns void
language sql as $$
    insert into guesses (scope, at) values (p_scope, p_now)
$$;

-- When the next guess may be made, null for now: p_most wrong ones within p_window are all there may be. Takes
-- the scope for this transaction, so that guesses made together are counted one by one.
create function next_guess(p_scope text, p_most int, p_window interval, p_now timestamptz)
returns timestamptz
language plpgsql as $$
declare
    v_oldest timestamptz;
begin
    perform pg_advisory_xact_lock(hashtextextended('guesses' || chr(31) || p_scope, 0));
    select g.at into v_oldest from guesses g
    where g.scope = p_scope and g.at > p_now - p_window
    order by g.at desc offset p_most - 1 limit 1;
    return v_oldest + p_window;
end $$;

-- Lets in whoever was given this code: 'paired', or why not: 'wrong', 'expired', 'used', 'limited' (until then).
-- Repeating it by the same p_id says the same again.
create function redeem_pairing(
    p_id text, p_code_hash bytea, p_role text, p_tier text, p_now timestamptz, p_most int, p_window interval)
returns table (outcome text, channel text, account text, user_key text, until timestamptz)
language plpgsql as $$
declare
    v_until timestamptz;
    v_code pairings%rowtype;
    v_outcome text;
    v_tenant text;
    v_identity text;
begin
    v_until := next_guess('pair', p_most, p_window, p_now);
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
    -- The code has done its work: it is not kept in clear.
    update outbound_parts e set text = '(This code was used.)', data = '{}'
    from outbound o join identities i on i.tenant_id = o.tenant_id and i.admitted = ''
    where e.tenant_id = v_tenant and o.tenant_id = e.tenant_id and o.id = e.outbound_id;
    update outbound o set text = '(This code was used.)' from identities i
    where o.tenant_id = v_tenant and i.tenant_id = o.tenant_id and i.admitted = '';
    update identities i set admitted = 'pairing' where i.tenant_id = v_tenant and i.id = v_identity;
    update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
    return query select 'paired', v_code.channel, v_code.account, v_code.user_key, v_until;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['pairings', 'guesses'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('create policy nobodys on %I using (true) with check (true)', name);
        execute format('grant select, insert, update on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('drop_strangers', 'meet_stranger', 'add_guess', 'next_guess', 'redeem_pairing')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
