-- People: who an address belongs to, their preferences, and their consents to being written to.

-- Lists the people, for commands that may omit the tenant if there is only one; ids and counts only.
create function find_tenants(p_limit int)
returns table (tenant_id text, identities bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, (select count(*) from identities i where i.tenant_id = t.tenant_id)
    from tenants t
    where t.tenant_id not in (
        select ''
        -- The tenants of what several people share, who are nobody, come from their sql/shared.sql.
        )
    order by t.tenant_id limit p_limit
$$;

-- Lists the tenants of what a person shares with others, each by a name of its own.
create function shared_homes(p_tenant text)
returns table (name text, home_id text)
language sql stable as $$
    select null, null where false
    -- What a person shares comes from their sql/shared_homes.sql.
$$;

create function find_consent(p_channel text, p_account text, p_user_key text)
returns table (state text, since timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.state, c.at from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
    order by c.id desc limit 1
$$;

-- Counts how often an address changed its consent recently: confirmations cost money.
create function count_consents(p_channel text, p_account text, p_user_key text, p_within interval)
returns table (stops bigint, starts bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*) filter (where c.state = 'stopped'), count(*) filter (where c.state = 'active')
    from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
      and c.at > clock_timestamp() - p_within
$$;

-- Records every change of an identity's state. After a STOP, messages that were ready are never sent, not even after a
-- START; begin_delivery stops those being sent. The confirmation of this STOP is queued after it.
create or replace function note_consent()
returns trigger
language plpgsql as $$
begin
    insert into consents (channel, account, user_key, state, how)
    values (new.channel, new.account, new.user_key, new.state, new.state_reason);
    if new.state = 'stopped' then
        update outbound o set state = 'failed', reason = 'the person stopped or blocked this channel'
        from conversations c
        where o.tenant_id = new.tenant_id and c.tenant_id = o.tenant_id and c.id = o.conversation_id
          and c.identity_id = new.id and o.state = 'ready'
          and (o.owner is null or o.lease_until < clock_timestamp());
    end if;
    return null;
end $$;

create or replace trigger identities_consent after update of state on identities
    for each row when (old.state is distinct from new.state) execute function note_consent();

-- Creates one tenant with these identities, [{channel, account, user_key}]; known ones stay as they are, and are let
-- in. For the operator only. Returns the tenant of the first.
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
            v_tenant := coalesce(v_tenant, in_partition(p_tenant));
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

-- Locks a person until the end of this transaction: nobody merges or unlinks them. p_alone: exclusively.
create function lock_person(p_tenant text, p_alone boolean)
returns void
language plpgsql as $$
begin
    if p_alone then
        perform pg_advisory_xact_lock(hashtextextended('person' || chr(31) || p_tenant, 0));
        -- Its row too, before what belongs to it: news are kept under it. Foreign keys do not wait for this.
        perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    else
        perform pg_advisory_xact_lock_shared(hashtextextended('person' || chr(31) || p_tenant, 0));
    end if;
end $$;

create function read_person(p_tenant text)
returns table (name text, language text, timezone text, preferred_channel text, quiet_from text, quiet_until text,
               while_running text, channels text[], muted text[], language_from text, switches text[])
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select t.name, t.language, t.timezone, t.preferred_channel, t.quiet_from, t.quiet_until,
        t.while_running,
        array(select i.channel from identities i where i.tenant_id = p_tenant and i.state = 'active'
              group by i.channel order by i.channel),
        t.muted, t.language_from,
        array(select v.key from stored_values v
              where v.tenant_id = p_tenant and v.collection = 'preference_switches' order by v.key)
    from tenants t where t.tenant_id = p_tenant;
end $$;

-- Returns whether a person has turned a preference of an ability's on.
create function is_switched_on(p_tenant text, p_name text)
returns boolean
language sql stable as $$
    select exists (select from stored_values v where v.tenant_id = p_tenant and v.collection = 'preference_switches'
                   and v.key = p_name)
$$;

-- Stores a person's preferences: {name: value} of the columns named below, and of abilities' switches, whose names begin
-- with "switch."; the others stay. Without a language of their
-- own they are spoken to in the one that a provider told of an address of theirs.
create function keep_preferences(p_tenant text, p_values jsonb, p_turn text)
returns void
language plpgsql as $$
declare
    v_told text;
    v_from text;
    v_switch record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_switch in select substr(s.key, 8) as name, s.value from jsonb_each_text(p_values) s where s.key like 'switch.%' loop
        if v_switch.value = 'on' then
            perform put_value(p_tenant, 'preference_switches', v_switch.name, 'true');
        else
            perform delete_value(p_tenant, 'preference_switches', v_switch.name);
        end if;
    end loop;
    if p_values ->> 'language' = '' and not p_values ? 'language_from' then
        select i.told_language, i.channel into v_told, v_from from identities i
        where i.tenant_id = p_tenant and i.told_language <> '' order by i.created_at desc, i.id limit 1;
    end if;
    update tenants t
    set name = coalesce(p_values ->> 'name', t.name),
        language = case when p_values ->> 'language' = '' then coalesce(v_told, '')
                        else coalesce(p_values ->> 'language', t.language) end,
        language_from = coalesce(p_values ->> 'language_from',
                                 case when p_values ? 'language' then coalesce(v_from, '') else t.language_from end),
        timezone = coalesce(p_values ->> 'timezone', t.timezone),
        preferred_channel = coalesce(p_values ->> 'preferred_channel', t.preferred_channel),
        quiet_from = coalesce(p_values ->> 'quiet_from', t.quiet_from),
        quiet_until = coalesce(p_values ->> 'quiet_until', t.quiet_until),
        while_running = coalesce(p_values ->> 'while_running', t.while_running),
        muted = coalesce(string_to_array(p_values ->> 'muted', ','), t.muted)
    where t.tenant_id = p_tenant;
    insert into person_audit (tenant_id, what, other, turn_id)
    select p_tenant, 'preference', string_agg(k, ','), p_turn from jsonb_object_keys(p_values) k
    where k <> 'language_from';
end $$;

-- Stores preferences as keep_preferences does, once for a call; returns what read_person returns, before and after.
create function change_preferences(p_tenant text, p_values jsonb, p_turn text, p_call text)
returns table (before jsonb, after jsonb)
language plpgsql as $$
declare
    v_made jsonb;
    v_before jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select v.value into v_made from read_values(p_tenant, 'preference_calls', p_call) v;
    if v_made is null then
        select to_jsonb(p) - 'channels' into v_before from read_person(p_tenant) p;
        perform keep_preferences(p_tenant, p_values, p_turn);
        select jsonb_build_object('before', v_before, 'after', to_jsonb(p) - 'channels') into v_made
        from read_person(p_tenant) p;
        perform keep_call(p_tenant, 'preference_calls', p_call, v_made);
    end if;
    return query select v_made -> 'before', v_made -> 'after';
end $$;

-- Stores the language that a channel or the profile tells, '' for none: never over the person's own choice, nor over
-- what another source told; only the profile, which the person knows, comes before a channel. Where the provider tells
-- none (SMS, email, the terminal), p_language is that of the words: anything that is told comes before it, and English, which is
-- said anyway, is not worth noting until another was.
create function note_language(p_tenant text, p_from text, p_language text)
returns void
language plpgsql as $$
begin
    if coalesce(p_language, '') = '' then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    update tenants t set language = p_language, language_from = p_from
    where t.tenant_id = p_tenant and (t.language, t.language_from) is distinct from (p_language, p_from)
      and (t.language = '' and not (p_from in ('sms', 'email', 'terminal') and p_language = 'en')
           or t.language_from in (p_from, 'sms', 'email', 'terminal') or p_from = 'profile' and t.language_from <> '');
end $$;

-- Returns the language of the person at an address, '' for none and for a stranger.
create function language_at(p_channel text, p_account text, p_user_key text)
returns text
language plpgsql as $$
declare
    v_tenant text;
begin
    select f.tenant_id into v_tenant from find_identity(p_channel, p_account, p_user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    return coalesce((select t.language from tenants t where t.tenant_id = v_tenant), '');
end $$;

-- Stores the language that a provider tells of an address; false for an address of nobody.
create function note_sender_language(p_channel text, p_account text, p_user_key text, p_language text)
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
    if p_language <> '' then
        perform set_config('onevalet.tenant', v_tenant, true);
        update identities i set told_language = p_language
        where i.tenant_id = v_tenant and i.id = v_identity and i.told_language <> p_language;
    end if;
    perform note_language(v_tenant, p_channel, p_language);
    return true;
end $$;

-- Stores a provider's details about an address, and for its person those that they have not set themselves.
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
