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
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
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
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
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
                   and says_any(words_of(i), p_phrases))
           or exists (select from history h where h.tenant_id = p_tenant and h.turn_id = t.id
                      and value_says(h.message, p_phrases))
           or exists (select from steps s where s.tenant_id = p_tenant and s.turn_id = t.id
                      and value_says(s.result, p_phrases))
           or exists (select from outbound o where o.tenant_id = p_tenant and o.turn_id = t.id
                      and says_any(o.text, p_phrases)));
end $$;

-- Keeps what was heard in a recording, so that it is transcribed once; one empty page where there are no words in it.
create function keep_transcript(p_tenant text, p_id text, p_pages jsonb)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update files f set pages = p_pages, page_count = jsonb_array_length(p_pages),
        size = f.size + (select coalesce(sum(length(p)), 0) from jsonb_array_elements_text(p_pages) p)
    where f.tenant_id = p_tenant and f.id = p_id and f.kind = 'audio' and f.page_count = 0;
end $$;

-- Keeps what a person said in the voice notes of a message: their words, as if they had typed them.
create function hear_message(p_tenant text, p_inbound text, p_words text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update inbound i set heard = p_words
    where i.tenant_id = p_tenant and i.id = p_inbound and i.heard <> p_words;
end $$;

-- Returns what a message says, typed and spoken.
create function words_of(p_inbound inbound)
returns text
language sql immutable as $$
    select concat_ws(E'\n', nullif(p_inbound.text, ''), nullif(p_inbound.heard, ''))
$$;

-- Returns the recordings of a message that could not be transcribed, by their number in it.
create function unheard_files(p_tenant text, p_inbound text)
returns table (number int, file_id text)
language sql stable as $$
    select n.number, n.file_id from inbound_files n
    join files f on f.tenant_id = n.tenant_id and f.id = n.file_id
    where n.tenant_id = p_tenant and n.inbound_id = p_inbound and f.kind = 'audio' and f.state = 'kept'
      and f.page_count = 0
$$;

-- Makes of a message that asks for another try one that holds the recordings which could not be transcribed, of the
-- messages right before it. Returns how many files it has then; 0, and nothing is changed, where there are none.
create function listen_again(p_tenant text, p_inbound text)
returns int
language plpgsql as $$
declare
    v_in inbound%rowtype;
    v_after bigint;
    v_media jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_in from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and i.state = 'taken';
    select coalesce(max(i.seq), 0) into v_after from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_in.conversation_id and i.seq < v_in.seq
      and i.state = 'done' and not exists (select from unheard_files(p_tenant, i.id));
    with each as (
        select distinct on (u.file_id) u.file_id, i.media -> (u.number - 1) as media, i.seq, u.number
        from inbound i, unheard_files(p_tenant, i.id) u
        where i.tenant_id = p_tenant and i.conversation_id = v_in.conversation_id
          and i.seq > v_after and i.seq < v_in.seq
        order by u.file_id, i.seq, u.number),
    unheard as (
        select e.file_id, e.media, row_number() over (order by e.seq, e.number) as place from each e
        order by e.seq, e.number limit 10),
    taken as (
        insert into inbound_files (tenant_id, inbound_id, number, file_id)
        select p_tenant, p_inbound, u.place, u.file_id from unheard u
        on conflict do nothing)
    select jsonb_agg(u.media order by u.place) into v_media from unheard u;
    if v_media is null then
        return 0;
    end if;
    update inbound i set text = '', command = null, media = v_media, points = '[]'
    where i.tenant_id = p_tenant and i.id = p_inbound;
    return jsonb_array_length(v_media);
end $$;
