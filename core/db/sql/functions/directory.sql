-- The directory: whose an address is, over all people; and partitions, over which people can be divided.

-- Follows an identity that is made, changed, moved to another person or deleted. An address that is somebody's is
-- refused here, as a unique key would; two who claim one at once wait for each other.
create or replace function note_address()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if tg_op <> 'INSERT' then
        delete from directory d
        where d.channel = old.channel and d.account = old.account and d.user_key = old.user_key;
    end if;
    if tg_op <> 'DELETE' then
        insert into directory (channel, account, user_key, person, identity_id)
        values (new.channel, new.account, new.user_key, new.tenant_id, new.id);
    end if;
    return null;
end $$;

create or replace trigger identities_directory
    after insert or delete or update of tenant_id, id, channel, account, user_key on identities
    for each row execute function note_address();

-- Looks an address up across tenants, so it returns ids only. The result stays valid until the caller commits.
create function find_identity(p_channel text, p_account text, p_user_key text)
returns table (tenant_id text, identity_id text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_identity text;
begin
    loop
        select d.person, d.identity_id into v_tenant, v_identity from directory d
        where d.channel = p_channel and d.account = p_account and d.user_key = p_user_key;
        exit when v_tenant is null;
        -- Assigned where the lock is free, which costs a tenth of the call that waits.
        if not pg_try_advisory_xact_lock_shared(hashtextextended('person' || chr(31) || v_tenant, 0)) then
            perform lock_person(v_tenant, false);
        end if;
        exit when exists (select from directory d where d.channel = p_channel and d.account = p_account
                          and d.user_key = p_user_key and d.person = v_tenant and d.identity_id = v_identity);
    end loop;
    if v_tenant is not null then
        return query select v_tenant, v_identity;
    end if;
end $$;

-- Returns the partition that an id or a token names: two digits and a point in front, nothing for 0.
create function partition_of(p_name text)
returns int
language sql immutable as $$
    select case when p_name ~ '^[0-9]{2}[.]' then left(p_name, 2)::int else 0 end
$$;

-- Returns the id of a new person as it is in this partition.
create function in_partition(p_id text)
returns text
language sql stable as $$
    select coalesce((select to_char(o.number, 'FM00') || '.' from own_partition o
                     where o.number > 0 and o.number <> partition_of(p_id)), '') || p_id
$$;

-- Makes this database the partition of a number, for whoever owns it: before there is anybody in it.
create function set_partition(p_number int)
returns void
language plpgsql as $$
begin
    if exists (select from tenants) then
        raise exception 'there are people already, whose ids name another partition';
    end if;
    insert into own_partition as o (number) values (p_number)
    on conflict (one) do update set number = excluded.number;
end $$;

-- Nobody is stored where their id does not lead.
create or replace function check_partition()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if partition_of(new.tenant_id) <> coalesce((select o.number from own_partition o), 0) then
        raise exception 'this person is of another partition' using errcode = 'check_violation';
    end if;
    return new;
end $$;

create or replace trigger tenants_partition before insert on tenants
    for each row execute function check_partition();
