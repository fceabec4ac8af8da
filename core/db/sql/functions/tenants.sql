-- A person's data as a whole: links to an archive of it, and its deletion.

-- Stores a new link; false where its person was given too many since p_since. Older ones go.
create function keep_export_link(
    p_tenant text, p_token_hash bytea, p_now timestamptz, p_expires_at timestamptz, p_since timestamptz, p_limit int)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select from export_links l where l.tenant_id = p_tenant and l.token_hash = p_token_hash) then
        return true;
    end if;
    delete from export_links l where l.tenant_id = p_tenant and l.made_at < p_since;
    if (select count(*) from export_links l where l.tenant_id = p_tenant) >= p_limit then
        return false;
    end if;
    insert into export_links (tenant_id, token_hash, made_at, expires_at)
    values (p_tenant, p_token_hash, p_now, p_expires_at);
    perform note_export(p_tenant, 'export_link');
    return true;
end $$;

-- Records that a person's data was exported, or that a link to it was made.
create function note_export(p_tenant text, p_what text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into person_audit (tenant_id, what) values (p_tenant, p_what);
end $$;

-- Finds whose a link is; ids only.
create function find_export_link(p_token_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select l.tenant_id from export_links l where l.token_hash = p_token_hash
$$;

-- Uses a link up; false where it is not good. Not repeatable: a lost answer costs the person a new link.
create function use_export_link(p_tenant text, p_token_hash bytea, p_now timestamptz)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update export_links l set used_at = p_now
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash and l.used_at is null and l.expires_at > p_now;
    if not found then
        return false;
    end if;
    perform note_export(p_tenant, 'exported');
    return true;
end $$;

-- Notes that a person is to be deleted. An earlier wish stands, and the earlier time counts.
create function ask_deletion(p_person text, p_by text, p_now timestamptz, p_due_at timestamptz)
returns void
language sql as $$
    insert into deletions as d (person, asked_by, asked_at, due_at) values (p_person, p_by, p_now, p_due_at)
    on conflict (person) do update set due_at = least(d.due_at, excluded.due_at), finished_at = null
$$;

-- Returns a person whose deletion is due and whom no other worker deletes, for the time of the lease.
create function claim_deletion(p_person text, p_now timestamptz, p_lease interval)
returns table (person text)
language sql as $$
    update deletions d set claimed_until = p_now + p_lease
    where d.person = (
        select o.person from deletions o
        where o.finished_at is null and o.due_at <= p_now and coalesce(o.claimed_until, p_now) <= p_now
          and not is_halted()
          and (p_person is null or o.person = p_person)
        order by o.due_at limit 1 for update skip locked)
    returning d.person
$$;

create function end_deletion(p_person text, p_now timestamptz)
returns void
language sql as $$
    update deletions d set finished_at = p_now where d.person = p_person
$$;

-- Returns the keys of a message as they are kept once its person was deleted.
create function deleted_keys(p_channel text, p_account text, p_keys text[])
returns text[]
language sql stable as $$
    select array(select encode(sha256(
        s.secret || convert_to(p_channel || chr(31) || p_account || chr(31) || k, 'UTF8')), 'hex') from unnest(p_keys) k)
    from deletion_secret s
$$;

-- Returns whether a message was one of somebody who was deleted since.
create function is_of_deleted(p_channel text, p_account text, p_keys text[])
returns boolean
language sql stable as $$
    select exists (
        select from ignored_messages g where g.channel = p_channel and g.account = p_account and g.reason = 'deleted'
          and g.key = any (deleted_keys(p_channel, p_account, p_keys)))
$$;

-- Deletes a person with all rows, for good and in one transaction; false where there are none any more. Turns and
-- deliveries that run find their leases gone. What stays: the keys of their messages as hashes, so that a provider that
-- sends one again does not bring them back, and their STOP.
create function delete_tenant(p_tenant text, p_tables text[])
returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_table text;
begin
    if not exists (select from deletions d where d.person = p_tenant and d.finished_at is null) then
        raise exception 'nobody asked for this deletion';
    end if;
    perform lock_person(p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant order by c.id for no key update;
    perform 1 from lanes l where l.tenant_id = p_tenant order by l.id for no key update;
    perform 1 from turns t where t.tenant_id = p_tenant order by t.id for no key update;
    perform 1 from outbound o where o.tenant_id = p_tenant order by o.id for no key update;
    if not exists (select from tenants t where t.tenant_id = p_tenant) then
        return false;
    end if;
    insert into deletion_secret (secret)
    values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'))
    on conflict do nothing;
    insert into ignored_messages (channel, account, key, reason, received_at)
    select k.channel, k.account, (deleted_keys(k.channel, k.account, array[k.key]))[1], 'deleted', k.received_at
    from inbox_keys k where k.tenant_id = p_tenant
    on conflict do nothing;
    -- What strangers leave, and wrong codes, stand under the address itself.
    delete from pairings p using identities i
    where i.tenant_id = p_tenant and (p.channel, p.account, p.user_key) = (i.channel, i.account, i.user_key);
    delete from guesses g using identities i
    where i.tenant_id = p_tenant
      and concat(chr(31), i.channel, chr(31), i.account, chr(31), i.user_key)
          = right(g.scope, length(i.channel || i.account || i.user_key) + 3);
    -- What they share with others is handed on by their sql/delete_tenant.sql.
    -- Children before parents, each table at once: a cascade would look for the children of each row.
    foreach v_table in array p_tables loop
        execute format('delete from %I where tenant_id = $1', v_table) using p_tenant;
    end loop;
    return true;
end $$;
