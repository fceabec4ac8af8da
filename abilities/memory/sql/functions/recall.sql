-- Recall: what it reads first, and its searches. All are exact. Ten thousand memories cost milliseconds: a wide row is
-- read once and never carried through a sort.

-- Returns what a recall reads first: how far a person's memory has come, and up to which number an index may hold it
-- (`settled`), the shared collections that they may see, and the newest statements that no model has read yet, but for
-- those of the turn's own conversation.
create function read_memory(p_tenant text, p_turn text)
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return jsonb_build_object(
        'version', (select to_jsonb(v) from memory_versions v where v.tenant_id = p_tenant),
        'settled', (select m.number from memories m
                    where m.tenant_id = p_tenant and not m.held and m.number < (
                        select coalesce(min(u.number), 9223372036854775807) from memories u
                        where u.tenant_id = p_tenant and u.extractor = 'rules, until read')
                    order by m.number desc limit 1),
        'shared', (select coalesce(jsonb_object_agg(s.name, s.home_id), '{}') from shared_homes(p_tenant) s),
        'unread', (select coalesce(jsonb_agg(to_jsonb(u) order by u.number desc), '[]') from (
            select m.id, m.number, m.collection, m.text, m.speaker, m.kind, m.said_at, m.valid_from, m.slot, m.turn_id
            from memories m
            where m.tenant_id = p_tenant and m.extractor = 'rules, until read' and m.valid_to is null and not exists (
                select from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
                join history h on h.tenant_id = c.tenant_id and h.conversation_id = c.id and h.session = c.session
                where t.tenant_id = p_tenant and t.id = p_turn and h.turn_id = m.turn_id)
            order by m.number desc limit 20) u));
end $$;

-- Returns the memories nearest to a vector with their likeness. Vectors are compared and sorted alone; then memories are
-- read from the nearest on, until there are enough. The vector is read into a variable: a generic plan would read its
-- text again for each row, which takes far longer than the comparison.
create function find_by_vector(
    p_tenant text, p_within text[], p_closed boolean, p_vector text, p_embedder text, p_limit int)
returns table (id text, likeness double precision)
language plpgsql stable as $$
declare
    v_vector vector := p_vector;
begin
    return query
    select v.id, v.likeness from (
        select n.memory_id as id, -(n.embedding <#> v_vector) as likeness from memory_vectors n
        where n.tenant_id = p_tenant and n.embedder = p_embedder order by 2 desc, 1 offset 0) v
    join lateral (select from memories m
                  where m.tenant_id = p_tenant and m.id = v.id and not m.held and (p_closed or m.valid_to is null)
                    and m.collection like any (p_within) offset 0) m on true
    order by v.likeness desc, v.id limit p_limit;
end $$;

-- Returns the memories that hold any of the words, with the rank and the number of words that they hold.
--
-- A word weighs more the fewer of this person's memories hold it, times its own weight in p_shares. p_counts_as: the word
-- that it means the same as, or itself; any of them counts by its weight. A word without one is not counted. p_parts: a
-- word of a language without spaces, which is looked for anywhere in the text. Every memory is tested once for all words,
-- and only those that match for each word.
create function find_by_words(
    p_tenant text, p_within text[], p_closed boolean, p_words text[], p_shares float8[], p_counts_as text[],
    p_parts text[], p_limit int)
returns table (id text, rank double precision, held double precision)
language plpgsql stable as $$
begin
    return query
    with asked as materialized (
        select distinct on (term) q, part, s as share, c as counts_as, coalesce(part, q::text) as term
        from unnest(p_words, p_shares, p_counts_as, p_parts) x (w, s, c, part),
            lateral (select case when part is not null then null when w like '% %' then phraseto_tsquery('simple', w)
                                 else plainto_tsquery('english', w) end) y (q)
        where part is not null or numnode(q) > 0 order by term, s desc),
    mine as materialized (
        select m.id, m.words, m.text from memories m
        where m.tenant_id = p_tenant and not m.held and (p_closed or m.valid_to is null)
          and m.collection like any (p_within)
          and (m.words @@ (select string_agg(a.q::text, ' | ')::tsquery from asked a)
               or exists (select from asked a where strpos(m.text, a.part) > 0))),
    met as materialized (
        select x.id, a.term, a.share, a.counts_as, length(x.words) as size
        from mine x join asked a on x.words @@ a.q or strpos(x.text, a.part) > 0),
    counted as materialized (
        select c.id, sum(c.share) as held from (
            select t.id, max(t.share) as share from met t where t.counts_as <> '' group by t.id, t.counts_as) c
        group by c.id),
    everything as materialized (
        select count(*)::float8 as n from memories m
        where m.tenant_id = p_tenant and not m.held and (p_closed or m.valid_to is null)
          and m.collection like any (p_within)),
    rare as materialized (
        select t.term, ln(1 + (select n from everything) / count(*)) as weight from met t group by t.term)
    select t.id, sum(r.weight * t.share) / (1 + 0.03 * min(t.size)), coalesce(max(h.held), 0)
    from met t join rare r on r.term = t.term left join counted h on h.id = t.id
    group by t.id order by 2 desc, t.id limit p_limit;
end $$;

-- Returns the hits of both searches over a person's memories and the memories themselves, also those of p_ids, and what
-- they said of p_slots that holds, in p_collection or (null) anywhere; then, if the assistant's words are among them, the person's statements
-- that hold no longer, and what took their places. `found_by`: text, vector, slot, '' (p_ids), ended or after.
create function recall_memories(
    p_tenant text, p_within text[], p_closed boolean, p_words text[], p_shares float8[], p_counts_as text[],
    p_parts text[], p_vector text, p_embedder text, p_limit int, p_ids text[], p_collection text, p_slots text[])
returns table (
    found_by text, score double precision, counted double precision, id text, number bigint, collection text, text text,
    speaker text, kind text, said_at timestamptz, valid_from timestamptz, valid_to timestamptz, superseded_by text,
    slot text, turn_id text, knowledge jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    with hits as materialized (
        select 'text' as way, w.id, w.rank as score, w.held as counted
        from find_by_words(p_tenant, p_within, p_closed, p_words, p_shares, p_counts_as, p_parts, p_limit) w
        where cardinality(p_words) > 0
        union all
        select 'vector', v.id, v.likeness, 0
        from find_by_vector(p_tenant, p_within, p_closed, p_vector, p_embedder, p_limit) v
        where p_vector is not null
        union all
        select 'slot', m.id, m.number, 0 from memories m
        where cardinality(p_slots) > 0 and m.tenant_id = p_tenant and m.slot = any (p_slots)
          and m.collection = coalesce(p_collection, m.collection) and m.kind = 'told' and m.valid_to is null and not m.held
        union all
        select '', given.id, 0, 0 from unnest(p_ids) given (id)),
    found as materialized (
        select h.way, h.score, h.counted, m.* from hits h join memories m on m.tenant_id = p_tenant and m.id = h.id),
    ended as materialized (
        select m.* from memories m
        where exists (select from found f where f.speaker = 'assistant' and f.valid_to is null)
          and m.tenant_id = p_tenant and m.kind = 'told' and m.valid_to is not null and not m.held
        order by m.number desc limit 200),
    whole as (
        select f.way, f.score, f.counted, f.id, f.number, f.collection, f.text, f.speaker, f.kind, f.said_at,
               f.valid_from, f.valid_to, f.superseded_by, f.slot, f.turn_id, f.knowledge from found f
        union all
        select 'ended', e.number, 0, e.id, e.number, e.collection, e.text, e.speaker, e.kind, e.said_at,
               e.valid_from, e.valid_to, e.superseded_by, e.slot, e.turn_id, e.knowledge from ended e
        union all
        select 'after', 0, 0, m.id, m.number, m.collection, m.text, m.speaker, m.kind, m.said_at,
               m.valid_from, m.valid_to, m.superseded_by, m.slot, m.turn_id, m.knowledge
        from memories m where m.tenant_id = p_tenant and m.id in (select e.superseded_by from ended e))
    select * from whole w order by w.way, w.score desc, w.id;
end $$;
