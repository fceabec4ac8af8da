-- Files that people sent.

-- Deletes a row's bytes with it, whoever deletes the row and why.
create function delete_bytes()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    insert into file_deletions (key) values (old.key) on conflict do nothing;
    return null;
end $$;

create or replace trigger files_deleted after delete on files for each row execute function delete_bytes();

-- Begins to store a file, or returns the key of the bytes that are there already; null where its id is another
-- content's.
create function begin_file(p_tenant text, p_file jsonb, p_now timestamptz)
returns table (key text, state text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    insert into files as f (tenant_id, id, sha256, key, kind, content_type, name, size, pages, page_count, cut,
                            created_at, used_at)
    values (p_tenant, p_file ->> 'id', p_file ->> 'sha256', p_file ->> 'key', p_file ->> 'kind',
            p_file ->> 'content_type', p_file ->> 'name', (p_file ->> 'size')::bigint, p_file -> 'pages',
            (p_file ->> 'page_count')::int, (p_file ->> 'cut')::boolean, p_now, p_now)
    on conflict (tenant_id, id) do update set used_at = greatest(f.used_at, p_now), name = excluded.name
    where f.sha256 = excluded.sha256
    returning f.key, f.state;
end $$;

-- Says that the bytes are there, and which file of which message they are.
create function end_file(p_tenant text, p_id text, p_inbound text, p_number int)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update files f set state = 'kept' where f.tenant_id = p_tenant and f.id = p_id;
    insert into inbound_files (tenant_id, inbound_id, number, file_id) values (p_tenant, p_inbound, p_number, p_id)
    on conflict (tenant_id, inbound_id, number) do update set file_id = p_id, failure = null;
end $$;

-- Says why a file of a message cannot be used.
create function fail_file(p_tenant text, p_inbound text, p_number int, p_failure text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into inbound_files (tenant_id, inbound_id, number, failure)
    values (p_tenant, p_inbound, p_number, p_failure)
    on conflict (tenant_id, inbound_id, number) do update set failure = p_failure, file_id = null;
end $$;

-- Deletes a person's files, the longest unused first, until `p_room` bytes more fit into their quota.
create function make_room(p_tenant text, p_room bigint, p_quota bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from files f using (
        select o.id, sum(o.size) over (order by o.used_at desc, o.id) as upto
        from files o where o.tenant_id = p_tenant) ranked
    where f.tenant_id = p_tenant and f.id = ranked.id and ranked.upto > p_quota - p_room;
end $$;

-- Returns the bytes that all people's files take.
create function size_of_files()
returns table (bytes bigint)
language sql security definer set search_path = public, pg_temp as $$
    select coalesce(sum(f.size), 0)::bigint from files f
$$;

-- Deletes files that nobody has used since then, of all people, some at a time; returns how many.
create function expire_files(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_count int;
begin
    delete from files f using (
        select o.tenant_id, o.id from files o where o.used_at < p_before
        order by o.used_at limit p_limit for update skip locked) old
    where f.tenant_id = old.tenant_id and f.id = old.id;
    get diagnostics v_count = row_count;
    return v_count;
end $$;
