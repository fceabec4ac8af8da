-- People's credentials, sealed by the application: the database never sees a key or a secret in clear.

-- A tenant's data key, wrapped under the secret key of the operator's that secret_key_id names.
create table data_keys (
    tenant_id     text not null references tenants on delete cascade,
    version       int not null check (version > 0),
    secret_key_id text not null,
    wrapped       bytea not null,
    created_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, version)
);

-- credentials_json: the JSON object, sealed under the data key of key_version for exactly this row.
create table credentials (
    tenant_id        text not null,
    service          text not null check (length(service) between 1 and 200),
    account_name     text not null check (length(account_name) between 1 and 200),
    key_version      int not null,
    credentials_json bytea not null,
    preferred        boolean not null default false,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, service, account_name),
    foreign key (tenant_id, key_version) references data_keys on delete cascade
);
create unique index credentials_preferred on credentials (tenant_id, service) where preferred;

-- A tenant's newest data key; none until something was kept.
create function read_data_key(p_tenant text, p_version int)
returns table (version int, secret_key_id text, wrapped bytea)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select d.version, d.secret_key_id, d.wrapped from data_keys d
    where d.tenant_id = p_tenant and (p_version is null or d.version = p_version)
    order by d.version desc limit 1;
end $$;

-- Gives a tenant its first data key; where two come at once, both are given the one that stayed. Nothing for
-- a tenant that does not exist.
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

-- Puts a re-wrapped data key in place of the one that was read; changes nothing when somebody else did.
create function rewrap_data_key(
    p_tenant text, p_version int, p_from text, p_to text, p_wrapped bytea)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update data_keys d set secret_key_id = p_to, wrapped = p_wrapped
    where d.tenant_id = p_tenant and d.version = p_version and d.secret_key_id = p_from;
end $$;

create function save_credentials(
    p_tenant text, p_service text, p_account text, p_key_version int, p_sealed bytea)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into credentials as c (tenant_id, service, account_name, key_version, credentials_json)
    values (p_tenant, p_service, p_account, p_key_version, p_sealed)
    on conflict (tenant_id, service, account_name) do update
    set key_version = excluded.key_version, credentials_json = excluded.credentials_json,
        updated_at = clock_timestamp();
end $$;

-- The sealed credentials with the wrapped key that opens them, from one snapshot.
create function read_credentials(p_tenant text, p_service text, p_account text)
returns table (sealed bytea, version int, secret_key_id text, wrapped bytea)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select c.credentials_json, d.version, d.secret_key_id, d.wrapped
    from credentials c join data_keys d on d.tenant_id = c.tenant_id and d.version = c.key_version
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
end $$;

create function list_credentials(p_tenant text, p_service text)
returns table (service text, account_name text, preferred boolean, created_at timestamptz, updated_at timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select c.service, c.account_name, c.preferred, c.created_at, c.updated_at from credentials c
    where c.tenant_id = p_tenant and (p_service is null or c.service = p_service)
    order by c.service, c.account_name;
end $$;

create function delete_credentials(p_tenant text, p_service text, p_account text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from credentials c
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
end $$;

-- Makes one account of a service the preferred one; true when there is such an account.
create function prefer_account(p_tenant text, p_service text, p_account text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locked in one order first: of two choices at once the later one counts.
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

-- Whose data keys lie under another secret key than this one, after a place in their order; ids only.
create function find_data_keys(p_not_under text, p_after_tenant text, p_after_version int, p_limit int)
returns table (tenant_id text, version int)
language sql stable security definer set search_path = public, pg_temp as $$
    select d.tenant_id, d.version from data_keys d
    where d.secret_key_id <> p_not_under and (d.tenant_id, d.version) > (p_after_tenant, p_after_version)
    order by d.tenant_id, d.version limit p_limit
$$;

-- Who is there, for a command that may leave the tenant out where there is only one; ids and counts only.
create function find_tenants(p_limit int)
returns table (tenant_id text, identities bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select t.tenant_id, (select count(*) from identities i where i.tenant_id = t.tenant_id)
    from tenants t order by t.tenant_id limit p_limit
$$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['data_keys', 'credentials'] loop
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
          and p.proname in ('read_data_key', 'add_data_key', 'rewrap_data_key', 'save_credentials',
                            'read_credentials', 'list_credentials', 'delete_credentials', 'prefer_account',
                            'find_data_keys', 'find_tenants')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
