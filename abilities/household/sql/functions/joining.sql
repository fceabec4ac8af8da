-- How somebody makes a household, and comes into one: by an invitation that they agree to.

-- Makes a household of which the person is the owner. {outcome, household}: 'made', or 'member' of one already.
create function make_household(p_tenant text, p_key text, p_id text, p_name text, p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_home text := in_partition(p_id);
    v_done jsonb;
begin
    perform lock_person(p_tenant, false);
    v_done := household_deed(p_tenant, p_key);
    if v_done is not null then
        return v_done;
    end if;
    insert into household_members (tenant_id, household_id, role, joined_at) values (p_tenant, v_home, 'owner', p_now)
    on conflict do nothing;
    if not found then
        return jsonb_build_object('outcome', 'member');
    end if;
    perform set_config('onevalet.tenant', v_home, true);
    insert into tenants (tenant_id, name, role) values (v_home, p_name, 'guest');
    return keep_household_deed(
        p_tenant, p_key, jsonb_build_object('outcome', 'made', 'household', p_name), p_now);
end $$;

-- Stores an invitation, at most p_limit a day for a household; one call has one. 'kept', or why not: 'none' for nobody's
-- member, 'child', 'limited'.
create function invite_to_household(
    p_tenant text, p_key text, p_code_hash bytea, p_role text, p_now timestamptz, p_expires timestamptz, p_limit int)
returns text
language plpgsql as $$
declare
    v_home text := lock_household(p_tenant);
begin
    if v_home is null then
        return 'none';
    elsif exists (select from household_members m where m.tenant_id = p_tenant and m.role = 'child') then
        return 'child';
    end if;
    perform set_config('onevalet.tenant', v_home, true);
    delete from household_invitations i
    where i.tenant_id = v_home and (i.key = p_key or i.made_at <= p_now - interval '2 days');
    if (select count(*) from household_invitations i
        where i.tenant_id = v_home and i.made_at > p_now - interval '1 day') >= p_limit then
        return 'limited';
    end if;
    insert into household_invitations (tenant_id, code_hash, invited_by, role, key, made_at, expires_at)
    values (v_home, p_code_hash, p_tenant, p_role, p_key, p_now, p_expires);
    return 'kept';
end $$;

-- Returns why an invitation is not good; null if it is. Who gave it must still be an adult of the household.
create function fault_of_invitation(p_home text, p_code_hash bytea, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_code household_invitations%rowtype;
begin
    perform set_config('onevalet.tenant', coalesce(p_home, ''), true);
    select * into v_code from household_invitations i
    where i.tenant_id = p_home and i.code_hash = p_code_hash for update;
    if v_code.code_hash is null then
        return 'wrong';
    elsif v_code.used_at is not null then
        return 'used';
    end if;
    perform set_config('onevalet.tenant', v_code.invited_by, true);
    if v_code.expires_at <= p_now or not exists (
        select from household_members m
        where m.tenant_id = v_code.invited_by and m.household_id = p_home and m.role <> 'child') then
        return 'expired';
    end if;
    return null;
end $$;

-- Joins by an invitation. {outcome}: 'ask' with {household, who, people, role} until the person agrees in a later turn than
-- the one that asked; then 'joined'. Or why not: 'wrong', 'used', 'expired', 'limited', 'inside' this household already,
-- 'member' of another one, 'full'. Wrong codes count against the person. `limited`: as a child they get the tier of
-- p_limits, {guesses, within, people, tier, instead_of}.
create function join_household(
    p_tenant text, p_key text, p_code_hash bytea, p_agreed boolean, p_now timestamptz, p_limits jsonb)
returns jsonb
language plpgsql as $$
declare
    v_scope text := household_guesses(p_tenant);
    v_code household_invitations%rowtype;
    v_home text;
    v_mine text;
    v_people jsonb := '[]';
    v_id text;
    v_answer jsonb;
begin
    -- 1. Answer a repeat; require a good code, and a person who may come in.
    perform lock_person(p_tenant, false);
    v_answer := household_deed(p_tenant, p_key);
    if v_answer is not null then
        return v_answer;
    end if;
    if next_guess(v_scope, (p_limits ->> 'guesses')::int, (p_limits ->> 'within')::interval, p_now) is not null then
        return jsonb_build_object('outcome', 'limited');
    end if;
    select f.tenant_id into v_home from find_household_invitation(p_code_hash) f;
    if v_home is not null then
        perform set_config('onevalet.tenant', v_home, true);
        perform lock_person(v_home, true);
    end if;
    v_answer := jsonb_build_object('outcome', fault_of_invitation(v_home, p_code_hash, p_now));
    if v_answer ->> 'outcome' is not null then
        perform add_guess(v_scope, p_now);
        return v_answer;
    end if;
    v_mine := household_of(p_tenant);
    if v_mine is not null then
        return jsonb_build_object('outcome', case v_mine when v_home then 'inside' else 'member' end);
    end if;
    for v_id in select f.tenant_id from find_household_members(v_home) f loop
        v_people := v_people || household_member(v_id);
    end loop;
    if jsonb_array_length(v_people) >= (p_limits ->> 'people')::int then
        return jsonb_build_object('outcome', 'full');
    end if;
    -- 2. Ask first, and this person last.
    perform set_config('onevalet.tenant', v_home, true);
    select * into v_code from household_invitations i where i.tenant_id = v_home and i.code_hash = p_code_hash;
    v_answer := household_names(v_code.invited_by, v_home)
        || jsonb_build_object('role', v_code.role, 'limited', v_code.role = 'child' and may_limit(p_tenant, p_limits));
    perform set_config('onevalet.tenant', v_home, true);
    if not (p_agreed and v_code.asked = p_tenant and v_code.asked_by <> p_key) then
        update household_invitations i set asked = p_tenant, asked_by = p_key
        where i.tenant_id = v_home and i.code_hash = p_code_hash and i.asked <> p_tenant;
        return v_answer || jsonb_build_object('outcome', 'ask', 'people', v_people);
    end if;
    -- 3. Let them in, a child with its limits, and tell the others.
    update household_invitations i set used_at = p_now where i.tenant_id = v_home and i.code_hash = p_code_hash;
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into household_members (tenant_id, household_id, role, joined_at)
    values (p_tenant, v_home, v_code.role, p_now);
    if v_code.role = 'child' then
        perform limit_child(p_tenant, p_key, p_limits);
    end if;
    perform tell_household(v_home, array[p_tenant], p_key, 'joined',
                           household_names(p_tenant, v_home) || jsonb_build_object('role', v_code.role));
    return keep_household_deed(p_tenant, p_key, v_answer - 'who' || jsonb_build_object('outcome', 'joined'), p_now);
end $$;

-- Returns the scope under which a person's wrong codes are counted.
create function household_guesses(p_tenant text)
returns text
language sql immutable as $$
    select 'household' || chr(31) || p_tenant
$$;
