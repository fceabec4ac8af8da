-- Remembering: what a job is done with, and how the statements that it found are stored.

-- Returns the words that were said in some turns, in order, but for turns that were about forgetting.
create function said_in_turns(p_tenant text, p_turns text[])
returns table (turn_id text, conversation_id text, "position" bigint, message jsonb, created_at timestamptz)
language sql stable as $$
    select h.turn_id, h.conversation_id, h.position, h.message, h.created_at
    from unnest(p_turns) with ordinality t (id, place) join history h on h.tenant_id = p_tenant and h.turn_id = t.id
    where not exists (select from memory_forgettings f
                      where f.tenant_id = p_tenant and t.id in (f.turn_id, f.confirmed_in))
    order by t.place, h.position
$$;

-- Returns what a claimed job is done with: the messages that were handed over, or what was said in its turn, the memories
-- that tools stored in that turn because the person asked for it, and the keys of what is stored of its words already.
create function read_memory_job(p_tenant text, p_id text)
returns table (turn_id text, collection text, messages jsonb, infer boolean, said jsonb, kept text[], known text[])
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select j.turn_id, j.collection, j.messages, j.infer,
           (select coalesce(jsonb_agg(to_jsonb(s)), '[]') from said_in_turns(p_tenant, array[j.turn_id]) s), f.kept, f.known
    from memory_jobs j, lateral (
        select array_agg(m.text) filter (where m.source_key not like 'history:%'),
               array_agg(m.source_key) filter (where m.source_key like 'history:%')
        from memories m where m.tenant_id = p_tenant and m.turn_id = j.turn_id) f (kept, known)
    where j.tenant_id = p_tenant and j.id = p_id;
end $$;

-- Locks a person's memory until the transaction ends; returns its newest number. Numbers then rise in the order of
-- commits: an index that has read up to a number has missed nothing before it.
create function lock_memory(p_tenant text)
returns bigint
language sql as $$
    insert into memory_versions as v (tenant_id) values (p_tenant)
    on conflict (tenant_id) do update set version = v.version returning version
$$;

-- Stores statements in order, and ends the job that found them, if any; all of it or nothing. Nothing is stored for a job
-- that another worker has by now. A statement that says the same as a memory (`repeats`, or `same_words` if it is found
-- by its words) only repeats it; another may end some (`replaces`). Returns which of the statements are memories now, and
-- whether forgotten words are still to be redacted.
create function keep_memories(p_tenant text, p_statements jsonb, p_embedder text, p_job text, p_owner text)
returns table (added text[], forgets boolean)
language plpgsql as $$
declare
    v record;
    v_number bigint;
    v_same text;
    v_turn text;
    v_ours boolean := true;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_job is not null then
        select j.turn_id into v_turn from memory_jobs j
        where j.tenant_id = p_tenant and j.id = p_job and j.owner = p_owner for update;
        v_ours := found;
    end if;
    if v_ours and p_statements <> '[]' then
        v_number := lock_memory(p_tenant);
        for v in select * from jsonb_to_recordset(p_statements) as s (
            id text, collection text, text text, speaker text, kind text, source_key text, turn_id text,
            said_at timestamptz, slot text, knowledge jsonb, extractor text, held boolean, vector text, replaces text[],
            repeats text, same_words boolean) loop
            continue when exists (select from memories m where m.tenant_id = p_tenant and m.source_key = v.source_key);
            v_same := coalesce(v.repeats, (
                select m.id from memories m
                where v.same_words and m.tenant_id = p_tenant and m.collection = v.collection and m.kind = v.kind
                  and m.valid_to is null and not m.held and words_alone(m.text) = words_alone(v.text)
                  -- Found by an index: see 0004_look_ups.sql.
                  and hashtextextended(words_alone(m.text), 0) = hashtextextended(words_alone(v.text), 0) limit 1));
            if v_same is not null then
                update memories m set repeated = m.repeated + 1, said_at = v.said_at
                where m.tenant_id = p_tenant and m.id = v_same and m.said_at < v.said_at;
                continue;
            end if;
            v_number := v_number + 1;
            insert into memories (tenant_id, id, number, collection, text, speaker, kind, source_key, turn_id, said_at,
                                  slot, knowledge, extractor, held, valid_from)
            values (p_tenant, v.id, v_number, v.collection, v.text, v.speaker, v.kind, v.source_key, v.turn_id, v.said_at,
                    v.slot, v.knowledge, v.extractor, v.held, v.said_at);
            if v.vector is not null then
                insert into memory_vectors (tenant_id, memory_id, embedder, embedding)
                values (p_tenant, v.id, p_embedder, v.vector::vector);
            end if;
            update memories m set valid_to = v.said_at, superseded_by = v.id
            where m.tenant_id = p_tenant and m.id = any (v.replaces) and m.valid_to is null and m.id <> v.id;
        end loop;
        update memory_versions n set version = v_number where n.tenant_id = p_tenant and n.version <> v_number;
    end if;
    if v_ours and p_job is not null then
        if v_turn is not null then
            perform enqueue_talk(p_tenant, v_turn);
        end if;
        delete from memory_jobs j where j.tenant_id = p_tenant and j.id = p_job;
    end if;
    return query
    select array(select m.id from jsonb_to_recordset(p_statements) as s (id text)
                 join memories m on m.tenant_id = p_tenant and m.id = s.id order by m.number),
           p_job is not null and exists (select from memory_forgettings f where f.tenant_id = p_tenant and f.confirmed);
end $$;

-- Returns the words of a text without case and punctuation.
create function words_alone(p_text text)
returns text
language sql immutable as $$
    select btrim(regexp_replace(lower(p_text), '\W+', ' ', 'g'))
$$;

-- Stores what another extractor found in memories, in order, and their effects: a reading may end memories, or have its
-- own memory end in favour of the one that it repeats. p_indexed: every index is rebuilt. p_owner: of a talk, if any,
-- which ends with it if p_ends; nothing is stored, and false returned, if another worker has the talk. A memory that was
-- forgotten since it was read stays so.
create function reread_memories(p_tenant text, p_readings jsonb, p_indexed boolean, p_owner text, p_ends boolean)
returns boolean
language plpgsql as $$
declare
    v record;
    v_said_at timestamptz;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_owner <> '' then
        perform 1 from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner for no key update;
        if not found then
            return false;
        end if;
    end if;
    if p_readings <> '[]' then
        perform lock_memory(p_tenant);
    end if;
    for v in select * from jsonb_to_recordset(p_readings) as r (
        id text, knowledge jsonb, extractor text, held boolean, replaces text[], repeats text, happens_at timestamptz) loop
        update memories m set knowledge = v.knowledge, extractor = v.extractor,
            held = v.held and (m.held or not p_indexed), happens_at = coalesce(v.happens_at, m.happens_at)
        where m.tenant_id = p_tenant and m.id = v.id returning m.said_at into v_said_at;
        continue when not found;
        update memories m set valid_to = v_said_at, superseded_by = v.id
        where m.tenant_id = p_tenant and m.id = any (v.replaces) and m.valid_to is null and m.id <> v.id;
        update memories m set valid_to = coalesce(m.valid_to, v_said_at), superseded_by = v.repeats
        where m.tenant_id = p_tenant and m.id = v.id and m.id <> v.repeats;
    end loop;
    if p_indexed and p_readings <> '[]' then
        update memory_versions n set epoch = n.epoch + 1 where n.tenant_id = p_tenant;
    end if;
    if p_ends then
        perform end_talk(p_tenant, p_owner);
    end if;
    return true;
end $$;
