-- Profiles: facts about a person.

create function read_profile(p_tenant text)
returns table (number bigint, key text, value text, source text, since timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select f.number, f.key, f.value, f.source, f.since from profile_facts f
    where f.tenant_id = p_tenant and f.replaced_by is null and f.undone_at is null order by f.number;
end $$;

-- Stores a fact, replacing the one under its key. An inferred fact neither replaces a told one, nor one that was
-- undone. Returns its number, or null if nothing changed.
create function keep_fact(
    p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamptz)
returns bigint
language plpgsql as $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select f.number into v_number from profile_facts f where f.tenant_id = p_tenant and f.id = p_id;
    if found then
        return v_number;
    end if;
    if exists (select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null
               and f.undone_at is null
               and (lower(f.value) = lower(p_value) and (f.source = 'told' or p_source <> 'told')
                    or f.source = 'told' and p_source <> 'told'))
       or p_source <> 'told' and exists (
           select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.undone_at is not null
             and lower(f.value) = lower(p_value)) then
        return null;
    end if;
    select coalesce(max(f.number), 0) + 1 into v_number from profile_facts f where f.tenant_id = p_tenant;
    update profile_facts f set replaced_by = p_id
    where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null and f.undone_at is null;
    insert into profile_facts (tenant_id, id, number, key, value, source, turn_id, since)
    values (p_tenant, p_id, v_number, p_key, p_value, p_source, p_turn, p_now);
    return v_number;
end $$;

-- Undoes a fact and restores the one that it replaced. Returns the fact that was undone.
create function undo_fact(p_tenant text, p_number bigint, p_now timestamptz)
returns table (key text, value text, before text)
language plpgsql as $$
declare
    v_fact profile_facts%rowtype;
    v_before text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    update profile_facts f set undone_at = p_now
    where f.tenant_id = p_tenant and f.number = p_number and f.undone_at is null and f.replaced_by is null
    returning f.* into v_fact;
    if v_fact.id is null then
        return;
    end if;
    update profile_facts f set replaced_by = null
    where f.tenant_id = p_tenant and f.replaced_by = v_fact.id and f.undone_at is null
    returning f.value into v_before;
    return query select v_fact.key, v_fact.value, coalesce(v_before, '');
end $$;

-- Undoes a fact as above, once for a call: a repeat of it returns the same again.
create function undo_fact(p_tenant text, p_number bigint, p_now timestamptz, p_call text)
returns table (key text, value text, before text)
language plpgsql as $$
declare
    v_gone jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select v.value into v_gone from read_values(p_tenant, 'fact_calls', p_call) v;
    if v_gone is null then
        select to_jsonb(u) into v_gone from undo_fact(p_tenant, p_number, p_now) u;
        if v_gone is null then
            return;
        end if;
        perform keep_call(p_tenant, 'fact_calls', p_call, v_gone);
    end if;
    return query select v_gone ->> 'key', v_gone ->> 'value', v_gone ->> 'before';
end $$;

-- Lets a fact count again that was undone, in place of the older one; nothing where a newer one has its key by now.
create function restore_fact(p_tenant text, p_number bigint)
returns table (key text, value text)
language plpgsql as $$
declare
    v_fact profile_facts%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select f.* into v_fact from profile_facts f where f.tenant_id = p_tenant and f.number = p_number;
    if v_fact.id is null or exists (
            select from profile_facts f where f.tenant_id = p_tenant and f.key = v_fact.key and f.replaced_by is null
              and f.undone_at is null and f.number > p_number) then
        return;
    end if;
    update profile_facts f set replaced_by = v_fact.id
    where f.tenant_id = p_tenant and f.key = v_fact.key and f.replaced_by is null and f.undone_at is null
      and f.id <> v_fact.id;
    update profile_facts f set undone_at = null where f.tenant_id = p_tenant and f.id = v_fact.id;
    return query select v_fact.key, v_fact.value;
end $$;
