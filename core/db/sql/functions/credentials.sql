-- Sealed credentials and the data keys that seal them.

-- Returns a tenant's newest data key; no row before the first credential was stored.
create function read_data_key(p_tenant text, p_version int)
returns table (version int, secret_key_id text, wrapped bytea)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select d.version, d.secret_key_id, d.wrapped from data_keys d
    where d.tenant_id = p_tenant and (p_version is null or d.version = p_version)
    order by d.version desc limit 1;
end $$;

-- Returns a tenant's first data key, and adds it if there is none: of two concurrent calls both get the one that was
-- stored. No row for a tenant that does not exist.
create function add_data_key(p_tenant text, p_secret_key_id text, p_wrapped bytea)
returns table (version int, secret_key_id text, wrapped bytea)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into data_keys as d (tenant_id, version, secret_key_id, wrapped)
    select t.tenant_id, 1, p_secret_key_id, p_wrapped from tenants t where t.tenant_id = p_tenant
    on conflict do nothing;
    return query select * from read_data_key(p_tenant, null);
end $$;

-- Lists what is sealed under a data key, in words for an operator.
create function list_sealed(p_tenant text, p_version int)
returns table (name text)
language sql stable as $$
    select c.service || ' ' || c.account_name from credentials c
    where c.tenant_id = p_tenant and c.key_version = p_version
    -- What abilities have sealed comes from their sql/sealed.sql.
$$;

-- Deletes a data key that nothing opens any more, with the accounts and all else sealed under it, unless it was wrapped
-- again since it was read.
create function discard_data_key(p_tenant text, p_version int, p_secret_key_id text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from data_keys d
    where d.tenant_id = p_tenant and d.version = p_version and d.secret_key_id = p_secret_key_id for update;
    if not found then
        return;
    end if;
    -- Rows of abilities that are sealed under it are deleted by their sql/discard_data_key.sql.
    delete from data_keys d where d.tenant_id = p_tenant and d.version = p_version; -- its accounts go with it
end $$;

create function save_credentials(
    p_tenant text, p_service text, p_account text, p_key_version int, p_sealed bytea)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, false);
    insert into credentials as c (tenant_id, service, account_name, key_version, credentials_json)
    values (p_tenant, p_service, p_account, p_key_version, p_sealed)
    on conflict (tenant_id, service, account_name) do update
    set key_version = excluded.key_version, credentials_json = excluded.credentials_json,
        updated_at = clock_timestamp(), revoked_at = null, attend_at = null, refreshed_by = '',
        refreshing_until = null;
    perform wake_for_account(p_tenant); -- in this transaction: nothing waits for an account that is there
end $$;

-- Returns sealed credentials with the wrapped key that opens them, from one snapshot.
create function read_credentials(p_tenant text, p_service text, p_account text)
returns table (sealed bytea, version int, secret_key_id text, wrapped bytea)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select c.credentials_json, d.version, d.secret_key_id, d.wrapped
    from credentials c join data_keys d on d.tenant_id = c.tenant_id and d.version = c.key_version
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
end $$;

-- Notes that a service takes what is stored no longer, unless it was stored again since it was read. p_tell_in: when its
-- person is told, unless the turn that met it has done so by then.
create function revoke_account(
    p_tenant text, p_service text, p_account text, p_written_at timestamptz, p_tell_in interval default null)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update credentials c set revoked_at = clock_timestamp(), attend_at = clock_timestamp() + p_tell_in
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account
      and c.updated_at = p_written_at and c.revoked_at is null;
end $$;

create function delete_credentials(p_tenant text, p_service text, p_account text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from credentials c
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
    -- What tools have stored of what they read there: `stored_with` in core/tools/storage.py.
    delete from stored_values v
    where v.tenant_id = p_tenant and v.collection = left('account ' || p_service || ':' || p_account, 200);
end $$;

-- Makes one account of a service the preferred one; true if the account exists.
create function prefer_account(p_tenant text, p_service text, p_account text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Lock all in one order first: of two concurrent choices the later one counts.
    perform 1 from credentials c where c.tenant_id = p_tenant and c.service = p_service
    order by c.account_name for update;
    if not exists (select from credentials c
                   where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account) then
        return false;
    end if;
    update credentials c set preferred = false
    where c.tenant_id = p_tenant and c.service = p_service and c.preferred and c.account_name <> p_account;
    update credentials c set preferred = true
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account and not c.preferred;
    return true;
end $$;

-- Has an account be meant for some kinds of things, in place of any other; true if the account exists.
create function prefer_account_for(p_tenant text, p_service text, p_account text, p_kinds text[])
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Lock all in one order first: of two concurrent choices the later one counts.
    perform 1 from credentials c where c.tenant_id = p_tenant order by c.service, c.account_name for update;
    if not exists (select from credentials c
                   where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account) then
        return false;
    end if;
    update credentials c set preferred_for = array(select k from unnest(c.preferred_for) k where k <> all (p_kinds))
    where c.tenant_id = p_tenant and c.preferred_for && p_kinds;
    update credentials c
    set preferred_for = array(select distinct k from unnest(c.preferred_for || p_kinds) k order by k)
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
    return true;
end $$;

-- Returns the data keys that are wrapped under another secret key than this one, after a position in their order; ids
-- only.
create function find_data_keys(p_not_under text, p_after_tenant text, p_after_version int, p_limit int)
returns table (tenant_id text, version int)
language sql stable security definer set search_path = public, pg_temp as $$
    select d.tenant_id, d.version from data_keys d
    where d.secret_key_id <> p_not_under and (d.tenant_id, d.version) > (p_after_tenant, p_after_version)
    order by d.tenant_id, d.version limit p_limit
$$;
