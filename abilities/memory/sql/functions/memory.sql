-- Memory: what is still to be remembered, and whose memories are looked after.

-- A turn in which something was said enqueues a memory job, in the transaction that ends it.
create or replace function enqueue_memory()
returns trigger
language plpgsql as $$
begin
    insert into memory_jobs (tenant_id, id, turn_id) values (new.tenant_id, new.id, new.id)
    on conflict (tenant_id, id)
    do update set attempts = 0, not_before = clock_timestamp(), owner = null, lease_until = null;
    return null;
end $$;

create or replace trigger enqueue_memory after update of state on turns for each row
    when (new.state in ('waiting', 'done', 'failed', 'interrupted') and old.state is distinct from new.state)
    execute function enqueue_memory();

-- Claims the named job or the one that waits longest. A dead worker's job is free when its lease has ended, later each
-- time: a job that kills or blocks workers must not do so all the time. Materialized: see claim_next_event.
create function claim_memory_job(p_id text, p_owner text, p_lease interval)
returns table (tenant_id text, id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_id text;
begin
    -- Asked again by an owner to whom the answer was lost.
    return query select j.tenant_id, j.id, j.attempts from memory_jobs j
    where j.owner = p_owner and j.lease_until > clock_timestamp();
    if found or is_halted() then
        return;
    end if;
    -- Each way has a statement and so a plan of its own, which is kept.
    if p_id is null then
        select m.tenant_id, m.id into v_tenant, v_id from memory_jobs m
        where m.not_before <= clock_timestamp() and (m.lease_until is null or m.lease_until < clock_timestamp())
        order by m.not_before limit 1 for update skip locked;
    else
        select m.tenant_id, m.id into v_tenant, v_id from memory_jobs m
        where m.id = p_id
          and m.not_before <= clock_timestamp() and (m.lease_until is null or m.lease_until < clock_timestamp())
        limit 1 for update skip locked;
    end if;
    return query update memory_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = j.attempts + 1,
        not_before = clock_timestamp() + make_interval(secs => least(5 * power(4, least(j.attempts, 10)), 3600))
    where j.tenant_id = v_tenant and j.id = v_id
    returning j.tenant_id, j.id, j.attempts;
end $$;

-- Deletes the jobs that are due, of everybody at once: where memory is off, nothing is remembered.
create function clear_memory_jobs()
returns void
language sql security definer set search_path = public, pg_temp as $$
    delete from memory_jobs j
    using (select m.tenant_id, m.id from memory_jobs m
           where m.not_before <= clock_timestamp() and (m.lease_until is null or m.lease_until < clock_timestamp())
           for update skip locked) due
    where j.tenant_id = due.tenant_id and j.id = due.id
$$;

-- Deletes what has expired, and returns some of the people with text still to be redacted: different ones each time, so
-- that everybody's turn comes.
create function tidy_memory(p_now timestamptz)
returns table (tenant_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from memory_sessions s where s.expires_at <= p_now;
    delete from memory_forgettings f where not f.confirmed and f.expires_at <= p_now;
    return query select owed.tenant_id
    from (select distinct f.tenant_id from memory_forgettings f where f.confirmed) owed
    order by random() limit 100;
end $$;

-- Returns some people with memories that this embedder has not embedded: different ones each time, so that a person
-- whose memories cannot be embedded holds up nobody.
create function memory_unembedded(p_embedder text, p_limit int)
returns table (tenant_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    select owed.tenant_id from (
        select distinct m.tenant_id from memories m
        where not exists (select from memory_vectors v where v.tenant_id = m.tenant_id and v.memory_id = m.id
                          and v.embedder = p_embedder)) owed
    order by random() limit p_limit;
end $$;

-- Creates a shared collection, or returns the one that this person owns under the name.
create function make_shared_collection(p_owner text, p_name text, p_id text)
returns table (shared_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_shared text;
begin
    select m.shared_id into v_shared from memory_members m where m.tenant_id = p_owner and m.name = p_name;
    if v_shared is null then
        v_shared := in_partition(p_id);
        insert into tenants (tenant_id, name, role) values (v_shared, p_name, 'guest');
        insert into memory_members (tenant_id, name, shared_id, role) values (p_owner, p_name, v_shared, 'owner');
    end if;
    return query select v_shared;
end $$;

-- Adds a person to a collection, or removes them; only its owner may. No row: the caller is not the owner, or the other
-- person has a collection of that name already.
create function change_member(p_owner text, p_name text, p_member text, p_in boolean)
returns table (shared_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_shared text;
begin
    select m.shared_id into v_shared from memory_members m
    where m.tenant_id = p_owner and m.name = p_name and m.role = 'owner';
    if v_shared is null or p_owner = p_member then
        return;
    end if;
    if not p_in then
        return query delete from memory_members m where m.tenant_id = p_member and m.shared_id = v_shared
        returning m.shared_id;
        return;
    end if;
    insert into memory_members (tenant_id, name, shared_id, role) values (p_member, p_name, v_shared, 'member')
    on conflict do nothing;
    return query select m.shared_id from memory_members m
    where m.tenant_id = p_member and m.name = p_name and m.shared_id = v_shared;
end $$;

-- Counts the jobs that failed too often, and that are stuck until an operator acts.
create function count_memory_set_aside(out jobs bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*) from memory_jobs j where j.not_before = 'infinity'
$$;

-- Takes a person who is deleted out of the memories that they own and share: another member becomes the owner; a memory
-- without one goes too.
create function leave_shared_memories(p_tenant text)
returns void
language plpgsql as $$
declare
    v_shared text;
begin
    for v_shared in select m.shared_id from memory_members m where m.tenant_id = p_tenant and m.role = 'owner' loop
        delete from memory_members m where m.tenant_id = p_tenant and m.shared_id = v_shared;
        update memory_members m set role = 'owner'
        where (m.tenant_id, m.name) = (select o.tenant_id, o.name from memory_members o
                                       where o.shared_id = v_shared order by o.tenant_id limit 1);
        if not found then
            delete from tenants t where t.tenant_id = v_shared;
        end if;
    end loop;
end $$;
