-- The limits of children: a tier that they are given when they join, and lose by an adult's word only.

-- Gives a child the tier of a household's children, unless theirs is none that p_limits.instead_of names: it may be
-- stricter. Who comes back as a child has it still.
create function limit_child(p_tenant text, p_key text, p_limits jsonb)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update household_limits l set state = 'given' where l.tenant_id = p_tenant and l.state = 'lift';
    insert into household_limits (tenant_id, key, given, before)
    select p_tenant, p_key, p_limits ->> 'tier', coalesce(had.before, t.tier)
    from tenants t
    left join lateral (select l.before from household_limits l
                       where l.tenant_id = p_tenant and l.state <> 'over' and l.given = t.tier
                       order by l.key limit 1) had on true
    where t.tenant_id = p_tenant and may_limit(p_tenant, p_limits)
      and (had.before is not null or t.tier <> p_limits ->> 'tier');
    if found then
        update tenants t set tier = p_limits ->> 'tier' where t.tenant_id = p_tenant;
    end if;
end $$;

-- Returns whether a person has the tier of children, or one that it may replace.
create function may_limit(p_tenant text, p_limits jsonb)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return p_limits ->> 'tier' <> '' and (
        select t.tier = p_limits ->> 'tier' or p_limits -> 'instead_of' ? coalesce(nullif(t.tier, ''), t.role)
        from tenants t where t.tenant_id = p_tenant);
end $$;

-- Ends a child's limits. Its tier is changed by lift_limits, in a transaction of its own: here the household is locked,
-- and whoever deletes or links a person locks the person first.
create function end_limits(p_tenant text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update household_limits l set state = 'lift', attempts = 0, next_attempt_at = clock_timestamp()
    where l.tenant_id = p_tenant and l.state = 'given';
end $$;

-- Gives a person the tier back that they had before they were a child, unless the operator gave them another since.
create function lift_limits(p_tenant text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, true);
    if not exists (select from household_limits l where l.tenant_id = p_tenant and l.state = 'given') then
        update tenants t set tier = l.before from (
            select * from household_limits o where o.tenant_id = p_tenant and o.state = 'lift' order by o.key limit 1) l
        where t.tenant_id = p_tenant and t.tier = l.given;
    end if;
    update household_limits l set state = 'over' where l.tenant_id = p_tenant and l.state = 'lift';
end $$;

-- Claims the limits of children that are to be lifted; ids only. They come again after a pause that grows.
create function claim_limits_to_lift(p_limit int)
returns table (tenant_id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select d.tenant_id, d.key, d.next_attempt_at as due_at from household_limits d
        where not is_halted() and d.state = 'lift' and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update household_limits l
        set attempts = l.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(l.attempts)
        from due where l.tenant_id = due.tenant_id and l.key = due.key
        returning l.tenant_id, due.due_at)
    select c.tenant_id from claimed c group by c.tenant_id order by min(c.due_at)
$$;

-- Before people become one or part: limits in place of which the operator gave another tier are none any more.
create function forget_limits(p_tenant text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from household_limits l using tenants t
    where l.tenant_id = p_tenant and t.tenant_id = p_tenant and l.state <> 'over' and t.tier <> l.given;
end $$;

-- After it: neither a link nor its undoing changes whether a child has limits.
create function settle_limits(p_tenant text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tenants t set tier = l.tier from (
        select case o.state when 'over' then o.before else o.given end as tier, o.given, o.state
        from household_limits o where o.tenant_id = p_tenant order by o.state = 'over', o.key limit 1) l
    where t.tenant_id = p_tenant and (l.state <> 'over' or t.tier = l.given) and t.tier <> l.tier;
end $$;

-- Takes the limits of a child along to the new person that one of its places becomes.
create function take_limits_along(p_tenant text, p_new_tenant text)
returns void
language plpgsql as $$
declare
    v_limits household_limits%rowtype;
    v_zone text := hours_zone_of(p_tenant);
begin
    select * into v_limits from household_limits l where l.tenant_id = p_tenant and l.state <> 'over' order by l.key limit 1;
    perform set_config('onevalet.tenant', p_new_tenant, true);
    insert into household_limits (tenant_id, key, given, before, zone)
    select p_new_tenant, v_limits.key, v_limits.given, v_limits.before, v_zone from tenants t
    where t.tenant_id = p_new_tenant and t.tier = v_limits.given;
end $$;

-- Returns the zone of the hours of a person's tier, if it is not their own: a child's are by the clock of the owner of
-- the household, so that the child's own zone, which its reminders need, moves no limit.
create function hours_zone_of(p_tenant text)
returns text
language plpgsql as $$
declare
    v_zone text;
    v_owner text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.zone into v_zone from household_limits l where l.tenant_id = p_tenant and l.state <> 'over'
    order by l.key limit 1;
    if v_zone is null then
        return null;
    end if;
    select f.tenant_id into v_owner from household_members m, find_household_owner(m.household_id) f
    where m.tenant_id = p_tenant;
    if v_owner is not null then
        perform set_config('onevalet.tenant', v_owner, true);
        select t.timezone into v_zone from tenants t where t.tenant_id = v_owner;
        perform set_config('onevalet.tenant', p_tenant, true);
    end if;
    return coalesce(nullif(v_zone, ''), 'UTC');
end $$;

-- Finds who owns a household; ids only.
create function find_household_owner(p_household text)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select m.tenant_id from household_members m where m.household_id = p_household and m.role = 'owner'
$$;
