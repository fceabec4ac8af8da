-- What tools keep for a person: JSON values by key, in collections, one tenant's only.

-- last_number rises and never falls, so that the number a person was told never comes to mean something else.
create table stored_collections (
    tenant_id   text not null references tenants on delete cascade,
    name        text not null check (length(name) between 1 and 200),
    last_number bigint not null default 0,
    primary key (tenant_id, name)
);

create table stored_values (
    tenant_id   text not null,
    collection  text not null,
    key         text not null check (length(key) between 1 and 200),
    number      bigint not null,
    value       jsonb not null,
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, collection, key),
    unique (tenant_id, collection, number),
    foreign key (tenant_id, collection) references stored_collections on delete cascade
);

-- Keeps a value under its key; repeating it changes nothing. A new key gets the collection's next number.
create function put_value(p_tenant text, p_collection text, p_key text, p_value jsonb)
returns bigint
language plpgsql as $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locks the collection: two new keys at once get two numbers.
    insert into stored_collections as c (tenant_id, name) values (p_tenant, p_collection)
    on conflict (tenant_id, name) do update set last_number = c.last_number;
    update stored_values v set value = p_value
    where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key
    returning v.number into v_number;
    if found then
        return v_number;
    end if;
    update stored_collections c set last_number = c.last_number + 1
    where c.tenant_id = p_tenant and c.name = p_collection
    returning c.last_number into v_number;
    insert into stored_values (tenant_id, collection, key, number, value)
    values (p_tenant, p_collection, p_key, v_number, p_value);
    return v_number;
end $$;

-- The values of a collection in the order of their numbers; with p_key, at most that one.
create function read_values(p_tenant text, p_collection text, p_key text)
returns table (key text, number bigint, value jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select v.key, v.number, v.value from stored_values v
    where v.tenant_id = p_tenant and v.collection = p_collection and (p_key is null or v.key = p_key)
    order by v.number;
end $$;

create function delete_value(p_tenant text, p_collection text, p_key text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from stored_values v where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['stored_collections', 'stored_values'] loop
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
          and p.proname in ('put_value', 'read_values', 'delete_value')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
