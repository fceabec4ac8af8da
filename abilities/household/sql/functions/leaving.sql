-- How somebody's part in a household changes and ends: by their own word, its owner's, a deletion or a merge.

-- Leaves. {outcome}: 'left' with {household}, 'none', or 'last' for the only adult, without whom it would end.
create function leave_household(p_tenant text, p_key text, p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_home text := lock_household(p_tenant);
    v_answer jsonb := household_deed(p_tenant, p_key);
begin
    if v_answer is not null then
        return v_answer;
    elsif v_home is null then
        return jsonb_build_object('outcome', 'none');
    elsif (household_member(p_tenant) ->> 'role') <> 'child' and adults_of(v_home) = 1 then
        return jsonb_build_object('outcome', 'last');
    end if;
    v_answer := household_names(p_tenant, v_home) - 'who' || jsonb_build_object('outcome', 'left');
    perform part_from_household(p_tenant, v_home, p_tenant, p_key, 'left');
    return keep_household_deed(p_tenant, p_key, v_answer, p_now);
end $$;

-- Counts the adults of a household, its owner among them.
create function adults_of(p_home text)
returns int
language plpgsql as $$
declare
    v_id text;
    v_count int := 0;
begin
    for v_id in select f.tenant_id from find_household_members(p_home) f loop
        v_count := v_count + ((household_member(v_id) ->> 'role') <> 'child')::int;
    end loop;
    return v_count;
end $$;

-- Ends a person's membership of a locked household by somebody's deed, and tells the others. Without an owner, the adult
-- who came first is it; without an adult, the household ends with all that it shares.
create function part_from_household(p_tenant text, p_home text, p_by text, p_key text, p_kind text)
returns void
language plpgsql as $$
declare
    v_about jsonb := household_names(p_tenant, p_home);
    v_zone text := hours_zone_of(p_tenant);
begin
    update household_limits l set zone = v_zone where l.tenant_id = p_tenant and l.state <> 'over';
    perform set_config('onevalet.tenant', p_home, true);
    delete from household_invitations i where i.tenant_id = p_home and i.invited_by = p_tenant;
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from household_members m where m.tenant_id = p_tenant and m.household_id = p_home;
    if adults_of(p_home) = 0 then
        perform tell_household(p_home, array[p_by], p_key, 'ended', v_about);
        perform drop_household(p_home);
        return;
    end if;
    perform tell_household(p_home, array[p_by], p_key, p_kind, v_about);
    perform settle_owner(p_home, p_key);
end $$;

-- Makes the adult who came first the owner of a household that has none.
create function settle_owner(p_home text, p_key text)
returns void
language plpgsql as $$
declare
    v_id text;
    v_heir text;
begin
    for v_id in select f.tenant_id from find_household_members(p_home) f loop
        case household_member(v_id) ->> 'role'
            when 'owner' then return;
            when 'adult' then v_heir := coalesce(v_heir, v_id);
            else null;
        end case;
    end loop;
    if v_heir is not null then
        perform set_config('onevalet.tenant', v_heir, true);
        update household_members m set role = 'owner' where m.tenant_id = v_heir;
        perform tell_household(p_home, '{}', p_key, 'owner',
                               household_names(v_heir, p_home) || jsonb_build_object('role', 'owner'));
    end if;
end $$;

-- Deletes a household with all that it shares; its members stay who they are.
create function drop_household(p_home text)
returns void
language plpgsql as $$
declare
    v_id text;
begin
    for v_id in select f.tenant_id from find_household_members(p_home) f loop
        perform end_limits(v_id);
        delete from household_members m where m.tenant_id = v_id and m.household_id = p_home;
    end loop;
    perform set_config('onevalet.tenant', p_home, true);
    delete from tenants t where t.tenant_id = p_home;
end $$;

-- Changes somebody's part by the owner's word. p_role: a child becomes an adult, an adult the owner, and nobody a child,
-- as that takes their consent; '' puts them out. {outcome}: 'changed' or 'removed', or why not: 'none', 'not_owner',
-- 'unknown', 'same', 'refused'.
create function change_household_member(p_tenant text, p_key text, p_member text, p_role text, p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_home text;
    v_answer jsonb;
    v_role text;
begin
    -- Both before the household, and in one order: they may be linked or parted in this moment.
    perform lock_person(least(p_tenant, p_member), false);
    perform lock_person(greatest(p_tenant, p_member), false);
    v_home := lock_household(p_tenant);
    v_answer := household_deed(p_tenant, p_key);
    if v_answer is not null then
        return v_answer;
    elsif v_home is null then
        return jsonb_build_object('outcome', 'none');
    elsif household_member(p_tenant) ->> 'role' <> 'owner' then
        return jsonb_build_object('outcome', 'not_owner');
    elsif household_of(p_member) is distinct from v_home then
        return jsonb_build_object('outcome', 'unknown');
    end if;
    v_role := household_member(p_member) ->> 'role';
    v_answer := household_names(p_member, v_home) || jsonb_build_object('role', p_role);
    if v_role = p_role then
        return v_answer || jsonb_build_object('outcome', 'same');
    elsif p_member = p_tenant or p_role not in ('', case v_role when 'child' then 'adult' else 'owner' end) then
        return v_answer || jsonb_build_object('outcome', 'refused');
    end if;
    perform end_limits(p_member);
    if p_role = '' then
        perform tell_member(p_member, p_key, 'put_out', v_answer);
        perform part_from_household(p_member, v_home, p_tenant, p_key, 'removed');
        return keep_household_deed(p_tenant, p_key, v_answer || jsonb_build_object('outcome', 'removed'), p_now);
    end if;
    if p_role = 'owner' then
        perform set_config('onevalet.tenant', p_tenant, true);
        update household_members m set role = 'adult' where m.tenant_id = p_tenant;
    end if;
    perform set_config('onevalet.tenant', p_member, true);
    update household_members m set role = p_role where m.tenant_id = p_member;
    perform tell_household(v_home, array[p_tenant], p_key, p_role, v_answer);
    return keep_household_deed(p_tenant, p_key, v_answer || jsonb_build_object('outcome', 'changed'), p_now);
end $$;

-- Ends a household by its owner's word, once they agree. {outcome}: 'ask', 'ended', 'none', 'not_owner'.
create function end_household(p_tenant text, p_key text, p_agreed boolean, p_now timestamptz)
returns jsonb
language plpgsql as $$
declare
    v_home text := lock_household(p_tenant);
    v_answer jsonb := household_deed(p_tenant, p_key);
begin
    if v_answer is not null then
        return v_answer;
    elsif v_home is null then
        return jsonb_build_object('outcome', 'none');
    elsif household_member(p_tenant) ->> 'role' <> 'owner' then
        return jsonb_build_object('outcome', 'not_owner');
    end if;
    v_answer := household_names(p_tenant, v_home);
    if not p_agreed then
        return v_answer || jsonb_build_object('outcome', 'ask');
    end if;
    perform tell_household(v_home, array[p_tenant], p_key, 'ended', v_answer);
    perform drop_household(v_home);
    return keep_household_deed(p_tenant, p_key, v_answer || jsonb_build_object('outcome', 'ended'), p_now);
end $$;

-- Takes a person who is deleted out of their household, and forgets what anybody did to them, or to whom they once were.
create function end_membership(p_tenant text)
returns void
language plpgsql as $$
declare
    v_home text := lock_household(p_tenant);
    v_ids text[];
begin
    select array_agg(distinct x.id) into v_ids from (
        select p_tenant as id
        union all select a.other from person_audit a where a.tenant_id = p_tenant and a.what = 'merged') x
    where x.id = p_tenant or not exists (select from tenants t where t.tenant_id = x.id);
    -- In one order, as two who are deleted together may be in the deeds of each other.
    perform 1 from household_deeds d
    where d.tenant_id = p_tenant or d.answer -> 'who' ->> 'id' = any (v_ids)
    order by d.tenant_id, d.key for update;
    delete from household_deeds d where d.tenant_id = p_tenant or d.answer -> 'who' ->> 'id' = any (v_ids);
    if v_home is not null then
        perform part_from_household(p_tenant, v_home, p_tenant, md5(p_tenant), 'left');
    end if;
    delete from guesses g where g.scope = household_guesses(p_tenant);
end $$;

-- Prepares the merge of two people who may both be in a household: nobody is in two. The one who stays keeps theirs, and
-- the other leaves; in the same one they have the lower role of both, and the link's record lets nothing go back. Returns
-- the name of the household that would be left without an adult: then nothing is merged. Null for none.
create function merge_members(p_kept text, p_gone text)
returns text
language plpgsql as $$
declare
    v_kept text := household_of(p_kept);
    v_gone text := household_of(p_gone);
    v_home text;
    v_role text;
    v_lower boolean;
begin
    -- Nobody joins meanwhile, as both people are locked; their households may put them out until these are too.
    for v_home in select distinct h from unnest(array[v_kept, v_gone]) h where h is not null order by h loop
        perform set_config('onevalet.tenant', v_home, true);
        perform lock_person(v_home, true);
    end loop;
    perform forget_limits(p_kept);
    perform forget_limits(p_gone);
    -- The calendars of both are one person's from now on: nobody said that these may be seen.
    v_gone := household_of(p_gone);
    update household_members m set calendar = '' where m.tenant_id = p_gone;
    v_kept := household_of(p_kept);
    update household_members m set calendar = '' where m.tenant_id = p_kept;
    if v_kept is null or v_gone is null then
        perform set_config('onevalet.tenant', p_gone, true);
        return null;
    elsif v_kept <> v_gone then
        if adults_of(v_gone) = ((household_member(p_gone) ->> 'role') <> 'child')::int then
            return household_names(p_gone, v_gone) ->> 'household';
        end if;
        perform tell_member(p_kept, md5(p_gone), 'merged', household_names(p_gone, v_gone));
        perform part_from_household(p_gone, v_gone, p_gone, md5(p_gone), 'left');
        perform set_config('onevalet.tenant', p_gone, true);
        return null;
    end if;
    v_role := household_member(p_gone) ->> 'role';
    delete from household_members m where m.tenant_id = p_gone;
    perform set_config('onevalet.tenant', p_kept, true);
    update household_members m set role = v_role
    where m.tenant_id = p_kept and m.role <> v_role and (v_role = 'child' or m.role = 'owner' and v_role = 'adult');
    v_lower := found;
    if adults_of(v_kept) = 0 then
        return household_names(p_kept, v_kept) ->> 'household';
    end if;
    perform set_config('onevalet.tenant', p_kept, true);
    update linked_rows r set copied = true from links l
    where r.tenant_id = p_kept and l.tenant_id = p_kept and l.other_id = p_gone and r.link_id = l.id
      and r.of = 'household_members';
    if v_lower then
        perform tell_household(v_kept, '{}', md5(p_gone), v_role,
                               household_names(p_kept, v_kept) || jsonb_build_object('role', v_role));
    end if;
    perform settle_owner(v_kept, md5(p_gone));
    perform set_config('onevalet.tenant', p_gone, true);
    return null;
end $$;
