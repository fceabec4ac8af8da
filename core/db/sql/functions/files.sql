-- Files that people sent.

-- Deletes a row's bytes with the last row that names them, whoever deletes it and why. Bytes that a worker may be about
-- to store are deleted once it cannot be any more: after an hour.
create function delete_bytes()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if exists (select from files f where f.key = old.key) then
        -- Of two who delete theirs at the same time, the second one sees that it was the last.
        perform pg_advisory_xact_lock(hashtextextended('file' || chr(31) || old.key, 0));
        if exists (select from files f where f.key = old.key) then
            return null;
        end if;
    end if;
    insert into file_deletions (key, deleted_at)
    values (old.key, clock_timestamp() + case when old.state = 'storing' then interval '1 hour' else '0' end)
    on conflict do nothing;
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

-- Says that the bytes of a file are there that a tool has made, or that is sent again.
create function keep_made(p_tenant text, p_id text, p_name text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update files f set state = 'kept', name = p_name, used_at = greatest(f.used_at, p_now)
    where f.tenant_id = p_tenant and f.id = p_id;
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

-- Deletes rows of files that nobody stored to the end, of all people: whoever began is dead, and nobody resumed it.
create function drop_unfinished_files(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_count int;
begin
    delete from files f using (
        select o.tenant_id, o.id from files o where o.state = 'storing' and o.used_at < p_before
        order by o.created_at limit p_limit for update skip locked) old
    where f.tenant_id = old.tenant_id and f.id = old.id;
    get diagnostics v_count = row_count;
    return v_count;
end $$;

-- Deletes the pictures of turns in which one of the phrases was said: what only a picture shows, no row says, but who
-- saw it told. A turn has the pictures that came with it, and those that it looked at again by their ids.
create function forget_pictures(p_tenant text, p_phrases text[])
returns void
language plpgsql as $$
begin
    delete from files f using turns t
    where f.tenant_id = p_tenant and f.kind = 'picture' and t.tenant_id = p_tenant
      and (exists (select from inbound i
                   join inbound_files n on n.tenant_id = i.tenant_id and n.inbound_id = i.id and n.file_id = f.id
                   where i.tenant_id = p_tenant and i.turn_id = t.id)
           or exists (select from steps s where s.tenant_id = p_tenant and s.turn_id = t.id
                      and position(f.id in s.result::text) > 0))
      and (exists (select from inbound i where i.tenant_id = p_tenant and i.turn_id = t.id
                   and says_any(i.text, p_phrases))
           or exists (select from history h where h.tenant_id = p_tenant and h.turn_id = t.id
                      and value_says(h.message, p_phrases))
           or exists (select from steps s where s.tenant_id = p_tenant and s.turn_id = t.id
                      and value_says(s.result, p_phrases))
           or exists (select from outbound o where o.tenant_id = p_tenant and o.turn_id = t.id
                      and says_any(o.text, p_phrases)));
end $$;
