-- Finding messages by their words.

-- Makes words of a text or of a question: letters of languages that are written without spaces stand alone, so that a word
-- of them is found as a phrase.
create function spaced_text(p_text text)
returns text
language sql immutable parallel safe as $$
    select regexp_replace(
        p_text, '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])', ' \1 ', 'g')
$$;

-- The person as a word of their messages.
create function person_word(p_tenant text)
returns tsvector
language sql immutable parallel safe as $$
    select array_to_tsvector(array['person ' || p_tenant])
$$;

create function message_words_of(p_tenant text, p_text text)
returns tsvector
language sql stable parallel safe as $$
    select person_word(p_tenant) || to_tsvector('simple', x.text) || to_tsvector('english', x.text)
    from (select spaced_text(left(p_text, 20000)) as text) x
$$;

-- Returns the query that a question means: all of its words, as written or by their English stems. Where some are in quotes,
-- as written only: stems leave out small words, and two words would stand together that do not. Letters that are written
-- without spaces are a phrase.
create function words_query(p_question text)
returns tsquery
language sql stable parallel safe as $$
    select case when x.quoted then websearch_to_tsquery('simple', x.text)
                else websearch_to_tsquery('simple', x.text) || websearch_to_tsquery('english', x.text) end
    from (select w.quoted, spaced_text(case when w.quoted then w.text
                 else regexp_replace(
                     w.text, '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)',
                     '"\1"', 'g') end) as text
          from (select strpos(p_question, '"') > 0 as quoted, left(p_question, 400) as text) w) x
$$;

create function keep_message_words(
    p_tenant text, p_message text, p_conversation text, p_inward boolean, p_at timestamptz, p_text text)
returns void
language plpgsql as $$
begin
    if btrim(p_text) = '' then
        delete from message_words w where w.tenant_id = p_tenant and w.message_id = p_message;
        return;
    end if;
    insert into message_words as w (tenant_id, message_id, conversation_id, inward, at, words)
    values (p_tenant, p_message, p_conversation, p_inward, p_at, message_words_of(p_tenant, p_text))
    on conflict (tenant_id, message_id) do update set words = excluded.words where w.words <> excluded.words;
end $$;

create function keep_inbound_words()
returns trigger
language plpgsql as $$
begin
    perform keep_message_words(
        new.tenant_id, new.id, new.conversation_id, true, new.received_at, concat_ws(' ', new.text, new.heard));
    return null;
end $$;

-- When its turn ends, and when what it says is changed, as forgetting does.
create or replace trigger inbound_words after update of state, text, heard on inbound for each row
when (new.state = 'done' and (old.state <> 'done' or old.text <> new.text or old.heard <> new.heard))
execute function keep_inbound_words();

create function keep_outbound_words()
returns trigger
language plpgsql as $$
begin
    perform keep_message_words(new.tenant_id, new.id, new.conversation_id, false, new.created_at, new.text);
    return null;
end $$;

create or replace trigger outbound_words after update of state, text on outbound for each row
when (new.state = 'sent' and new.kind <> 'receipt' and (old.state <> 'sent' or old.text <> new.text))
execute function keep_outbound_words();

-- The person is among the words, and changes when two people become one.
create function change_person_word()
returns trigger
language plpgsql as $$
begin
    new.words := person_word(new.tenant_id) || ts_delete(new.words, 'person ' || old.tenant_id);
    return new;
end $$;

create or replace trigger message_words_person before update of tenant_id on message_words for each row
when (old.tenant_id <> new.tenant_id) execute function change_person_word();

-- Finds messages of a person, or of everybody where none is named: the newest first, from a place on. Common words are
-- among the newest messages, which are read; where those are too few, the rest is looked up by the index on words. Neither
-- way alone will do: an index has all the places of a common word, and a rare word is in none of very many messages. Plans
-- are made for each question.
create function search_words(p_tenant text, p_query tsquery, p_before timestamptz, p_before_id text, p_limit int)
returns table (tenant_id text, message_id text, conversation_id text, inward boolean, at timestamptz)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    v_at timestamptz;
    v_id text;
    v_found int;
begin
    select w.at, w.message_id into v_at, v_id from message_words w
    where (p_tenant is null or w.tenant_id = p_tenant)
      and (p_before is null or (w.at, w.message_id) < (p_before, p_before_id))
    order by w.at desc, w.message_id desc offset 3999 limit 1;
    return query
    select n.tenant_id, n.message_id, n.conversation_id, n.inward, n.at
    from (select w.* from message_words w
          where (p_tenant is null or w.tenant_id = p_tenant)
            and (p_before is null or (w.at, w.message_id) < (p_before, p_before_id))
          order by w.at desc, w.message_id desc limit 4000) n
    where n.words @@ p_query order by n.at desc, n.message_id desc limit p_limit;
    get diagnostics v_found = row_count;
    if v_at is null or v_found >= p_limit then
        return;
    end if;
    return query
    with hits as materialized (
        select w.tenant_id, w.message_id, w.conversation_id, w.inward, w.at from message_words w
        where (p_tenant is null or w.tenant_id = p_tenant) and w.words @@ p_query
          and (w.at, w.message_id) < (v_at, v_id))
    select h.* from hits h order by h.at desc, h.message_id desc limit p_limit - v_found;
end $$;

-- Finds messages of the person who is set; ids and times only. Row-level security would keep the index on words from being
-- used, because its operator may tell of rows that are not seen.
create function find_messages(p_question text, p_before timestamptz, p_before_id text, p_limit int)
returns table (message_id text, conversation_id text, inward boolean, at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    v_tenant text := nullif(current_setting('onevalet.tenant', true), '');
    v_query tsquery := words_query(p_question);
begin
    if v_tenant is null or numnode(v_query) = 0 then
        return;
    end if;
    v_query := v_query && quote_literal('person ' || v_tenant)::tsquery;
    return query
    select f.message_id, f.conversation_id, f.inward, f.at
    from search_words(v_tenant, v_query, p_before, p_before_id, p_limit) f;
end $$;

-- The same over everybody, for operators.
create function console_messages(p_question text, p_before timestamptz, p_before_id text, p_limit int)
returns table (tenant_id text, message_id text, conversation_id text, inward boolean, at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    v_query tsquery := words_query(p_question);
begin
    if numnode(v_query) > 0 then
        return query select * from search_words(null, v_query, p_before, p_before_id, p_limit);
    end if;
end $$;
