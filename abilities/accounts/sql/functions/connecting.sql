-- Links by which people connect accounts, and the refresh of tokens by one process at a time.

-- Stores a new link; false where the person was given too many since p_since. Links that nobody can use any more go.
create function keep_connect_link(p_tenant text, p_link jsonb, p_now timestamptz, p_since timestamptz, p_limit int)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select from connect_links l
               where l.tenant_id = p_tenant and l.token_hash = decode(p_link ->> 'token_hash', 'hex')) then
        return true;
    end if;
    delete from connect_links l where l.tenant_id = p_tenant and l.made_at < p_since;
    if (select count(*) from connect_links l where l.tenant_id = p_tenant) >= p_limit then
        return false;
    end if;
    insert into connect_links
        (tenant_id, token_hash, conversation_id, service, account_name, abilities, made_at, expires_at)
    values (p_tenant, decode(p_link ->> 'token_hash', 'hex'), p_link ->> 'conversation_id', p_link ->> 'service',
            p_link ->> 'account_name', array(select jsonb_array_elements_text(p_link -> 'abilities')), p_now,
            (p_link ->> 'expires_at')::timestamptz);
    return true;
end $$;

-- Finds whose a link is, by its own hash or by that of the state under which a server answers; ids only.
create function find_connect_link(p_token_hash bytea, p_state_hash bytea)
returns table (tenant_id text, token_hash bytea)
language sql stable security definer set search_path = public, pg_temp as $$
    select l.tenant_id, l.token_hash from connect_links l
    where l.token_hash = p_token_hash or l.state_hash = p_state_hash
$$;

-- Binds a link to the browser that goes on with it, and to the one answer that it waits for now: `begun`, or `taken`
-- by another browser, or `over`.
create function begin_connect(
    p_tenant text, p_token_hash bytea, p_browser_hash bytea, p_state_hash bytea, p_key_version int, p_sealed bytea,
    p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_link connect_links%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_link from connect_links l
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash for update;
    if v_link.token_hash is null or v_link.done_at is not null or v_link.expires_at <= p_now then
        return 'over';
    elsif v_link.browser_hash <> p_browser_hash then
        return 'taken';
    end if;
    update connect_links l
    set browser_hash = p_browser_hash, state_hash = p_state_hash, key_version = p_key_version, sealed = p_sealed
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash;
    return 'begun';
end $$;

-- Ends a link: stores the account, and queues what the chat is told. False where it was over already.
create function finish_connect(
    p_tenant text, p_token_hash bytea, p_account jsonb, p_message jsonb, p_now timestamptz)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from connect_links l
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash;
    perform lock_person(p_tenant, false);
    -- Before the lanes that wake.
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    update connect_links l set done_at = p_now, state_hash = null, sealed = null
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash and l.done_at is null and l.expires_at > p_now
    returning l.conversation_id into v_conversation;
    if not found then -- a repeat, whose first answer was lost, is told what it was
        return exists (select from connect_links l where l.tenant_id = p_tenant and l.token_hash = p_token_hash
                       and l.done_at = p_now);
    end if;
    perform save_credentials(p_tenant, p_account ->> 'service', p_account ->> 'name',
                             (p_account ->> 'key_version')::int, decode(p_account ->> 'sealed', 'hex'));
    update credentials c set attend_at = clock_timestamp() + (p_account ->> 'attend_in')::interval
    where c.tenant_id = p_tenant and c.service = p_account ->> 'service' and c.account_name = p_account ->> 'name';
    if exists (select from conversations c where c.tenant_id = p_tenant and c.id = v_conversation) then
        perform enqueue(p_tenant, v_conversation, null, p_message);
    end if;
    return true;
end $$;

-- Leaves the refresh of an account's tokens to one process: `ours`, `busy` where it is another's, `changed` where the
-- account is not as it was read.
create function begin_refresh(
    p_tenant text, p_service text, p_account text, p_written_at timestamptz, p_by text, p_lease interval)
returns text
language plpgsql as $$
declare
    v_row credentials%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_row from credentials c
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account for update;
    if v_row.tenant_id is null or v_row.updated_at <> p_written_at or v_row.revoked_at is not null then
        return 'changed';
    elsif v_row.refreshed_by <> p_by and v_row.refreshing_until > clock_timestamp() then
        return 'busy';
    end if;
    update credentials c set refreshed_by = p_by, refreshing_until = clock_timestamp() + p_lease
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
    return 'ours';
end $$;

-- Ends a refresh: with what is stored from now on, with a grant that is revoked, or with neither, to be tried again.
-- Nothing changes where the account is not as it was read. p_attend_in: when the account is next looked after.
create function end_refresh(
    p_tenant text, p_service text, p_account text, p_written_at timestamptz, p_key_version int, p_sealed bytea,
    p_revoked boolean, p_attend_in interval default null)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update credentials c
    set key_version = coalesce(p_key_version, c.key_version), credentials_json = coalesce(p_sealed, c.credentials_json),
        updated_at = case when p_sealed is null then c.updated_at else clock_timestamp() end,
        revoked_at = case when p_revoked then clock_timestamp() end,
        attend_at = coalesce(clock_timestamp() + p_attend_in, c.attend_at), refreshed_by = '', refreshing_until = null
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account
      and c.updated_at = p_written_at;
end $$;

-- Finds people with accounts that are due to be looked after; ids only.
create function find_due_accounts(p_limit int)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select d.tenant_id from (
        select c.tenant_id, min(c.attend_at) as at from credentials c where c.attend_at <= clock_timestamp()
        group by c.tenant_id) d
    order by d.at limit p_limit
$$;

-- Claims a person's accounts that are due to be looked after: another worker does it where this one dies.
create function claim_due_accounts(p_tenant text, p_lease interval)
returns table (service text, account_name text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query with f as materialized (
        select c.service, c.account_name from credentials c
        where c.tenant_id = p_tenant and c.attend_at <= clock_timestamp()
        order by c.service, c.account_name for update skip locked),
    claimed as (
        update credentials c set attend_at = clock_timestamp() + p_lease from f
        where c.tenant_id = p_tenant and c.service = f.service and c.account_name = f.account_name
        returning c.service, c.account_name)
    select o.service, o.account_name from claimed o order by o.service, o.account_name;
end $$;

-- Notes that a turn, or a notice, asks a person to connect an account again: they are not told by anything else. False
-- as in `note_account_prompt`.
create function note_renewal(p_tenant text, p_service text, p_account text, p_turn text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update credentials c set attend_at = null
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account
      and c.revoked_at is not null;
    return note_account_prompt(p_tenant, renewal_topic(p_service, p_account), p_turn);
end $$;

-- Finds the accounts that have to be connected again, for `doctor`; ids and services only.
create function find_revoked_accounts()
returns table (tenant_id text, service text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.tenant_id, c.service from credentials c where c.revoked_at is not null
    order by c.revoked_at, c.tenant_id, c.service
$$;

-- Returns whether new mail in an account is heard of.
create function hears_of_mail(p_tenant text, p_service text, p_account text)
returns boolean
language sql stable as $$
    select exists (
        select where false
        -- Whether it is watched comes from their sql/watched.sql.
    )
$$;
