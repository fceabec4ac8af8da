-- What tools store for a person: JSON values by key, in collections.

-- Stores a value under its key; repeating it changes nothing. A new key gets the collection's next number.
create function put_value(p_tenant text, p_collection text, p_key text, p_value jsonb)
returns bigint
language plpgsql as $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locks the collection: two concurrent new keys get two numbers.
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

-- Keeps what a call has changed, for a repeat of the call after a crash; of a collection only the newest 20.
create function keep_call(p_tenant text, p_collection text, p_call text, p_value jsonb)
returns void
language plpgsql as $$
declare
    v_number bigint := put_value(p_tenant, p_collection, p_call, p_value);
begin
    delete from stored_values v
    where v.tenant_id = p_tenant and v.collection = p_collection and v.number <= v_number - 20;
end $$;

-- Stores a value where p_was is still there, null for nothing. Returns whether it is stored, also in a repeat.
create function swap_value(p_tenant text, p_collection text, p_key text, p_value jsonb, p_was jsonb)
returns boolean
language plpgsql as $$
declare
    v_now jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locks the collection, as put_value does.
    insert into stored_collections as c (tenant_id, name) values (p_tenant, p_collection)
    on conflict (tenant_id, name) do update set last_number = c.last_number;
    select v.value into v_now from stored_values v
    where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key;
    if v_now = p_value then
        return true;
    elsif v_now is distinct from p_was then
        return false;
    end if;
    perform put_value(p_tenant, p_collection, p_key, p_value);
    return true;
end $$;

-- Returns the values of a collection by number; with p_key, at most that one.
create function read_values(p_tenant text, p_collection text, p_key text)
returns table (key text, number bigint, value jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Each way has a statement and so a plan of its own, which is kept.
    if p_key is null then
        return query select v.key, v.number, v.value from stored_values v
        where v.tenant_id = p_tenant and v.collection = p_collection order by v.number;
    else
        return query select v.key, v.number, v.value from stored_values v
        where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key;
    end if;
end $$;

-- Returns of the values in some collections what their newest versions say of themselves, as {collection: [[key,
-- description]]}, by number; the texts are read when they are used. A value without versions is left out.
create function described_values(p_tenant text, p_collections text[])
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select coalesce(jsonb_object_agg(d.collection, d.described), '{}')
            from (select v.collection, jsonb_agg(
                      jsonb_build_array(v.key, coalesce(v.value #>> '{versions,-1,description}', '')) order by v.number)
                      as described
                  from stored_values v
                  where v.tenant_id = p_tenant and v.collection = any (p_collections)
                    and jsonb_typeof(v.value #> '{versions,-1}') = 'object'
                  group by v.collection) d);
end $$;

create function delete_value(p_tenant text, p_collection text, p_key text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from stored_values v where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key;
end $$;
