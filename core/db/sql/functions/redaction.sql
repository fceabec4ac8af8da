-- Redaction: what must be forgotten goes from all that was said and done.

-- Returns the form in which texts are compared: lower case, with each character written in one way only.
create function comparable(p_text text)
returns text
language sql immutable as $$
    select lower(normalize(p_text, NFKC))
$$;

-- Returns whether two neighbouring characters belong to one word. In scripts without spaces between words, and in
-- Korean, which adds particles to a word, no character belongs to its neighbour: there any place may end a word.
create function in_one_word(p_first text, p_second text)
returns boolean
language sql immutable as $$
    select p_first ~ '\w' and p_second ~ '\w'
       and p_first || p_second !~ '[\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u30FF\u3130-\u318F]'
       and p_first || p_second !~ '[\u3400-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF]'
$$;

-- Returns whether a comparable text contains a comparable phrase that neither begins nor ends within a word.
create function says_words(p_text text, p_phrase text)
returns boolean
language plpgsql immutable as $$
declare
    v_begin int := 0;
    v_next int;
    v_end int;
begin
    loop
        v_next := position(p_phrase in substr(p_text, v_begin + 1));
        if v_next = 0 or p_phrase = '' then
            return false;
        end if;
        v_begin := v_begin + v_next;
        v_end := v_begin + length(p_phrase) - 1;
        if not in_one_word(substr(p_text, v_begin - 1, case when v_begin > 1 then 1 else 0 end), left(p_phrase, 1))
                and not in_one_word(right(p_phrase, 1), substr(p_text, v_end + 1, 1)) then
            return true;
        end if;
    end loop;
end $$;

-- Returns whether a text contains one of the phrases in whole words, whatever their case. In a string of JSON a letter
-- after a backslash may stand for a line break, which ends a word.
create function says_any(p_text text, p_phrases text[])
returns boolean
language sql immutable as $$
    select exists (
        select from unnest(p_phrases) phrase, comparable(p_text) whole, comparable(phrase) sought
        where position(sought in whole) > 0 and (says_words(whole, sought) or
            position('\' in whole) > 0 and says_words(regexp_replace(whole, '\\[nrtbf]', '  ', 'g'), sought)))
$$;

create function redact_text(p_text text, p_phrases text[])
returns text
language sql immutable as $$
    select case when says_any(p_text, p_phrases) then '[forgotten]' else p_text end
$$;

-- Replaces every string that contains one of the phrases. Names, which programs read, stay, and a tool's arguments stay
-- readable by programs.
create function redact_value(p_value jsonb, p_phrases text[])
returns jsonb
language plpgsql immutable as $$
begin
    return case jsonb_typeof(p_value)
        when 'string' then case when says_any(p_value #>> '{}', p_phrases) then '"[forgotten]"' else p_value end
        when 'array' then (select coalesce(jsonb_agg(redact_value(item, p_phrases) order by place), '[]')
                           from jsonb_array_elements(p_value) with ordinality x (item, place))
        when 'object' then (select coalesce(jsonb_object_agg(name, case
                                when name in ('role', 'tool_call_id', 'type', 'kind') then item
                                when name = 'id' and p_value ? 'arguments' then item
                                when name = 'arguments' and jsonb_typeof(item) = 'string'
                                    and says_any(item #>> '{}', p_phrases) then '"{}"'
                                else redact_value(item, p_phrases) end), '{}')
                            from jsonb_each(p_value) x (name, item))
        else p_value
    end;
end $$;

-- Returns whether there is anything to redact in a value. Most values do not even contain the letters, however they are
-- escaped: those are not read string by string.
create function value_says(p_value jsonb, p_phrases text[])
returns boolean
language plpgsql immutable as $$
declare
    v_letters text := comparable(replace(p_value::text, '\', ''));
begin
    return exists (select from unnest(p_phrases) phrase
                   where position(comparable(replace(phrase, '\', '')) in v_letters) > 0)
       and redact_value(p_value, p_phrases) <> p_value;
end $$;

-- Redacts phrases outside talk: in questions, notes and notifications. An approval that is still open stays as it was
-- sealed until it is decided; so do messages that are being sent, and what an ability still works on. The application
-- may not change the audit; hence this runs with the owner's rights, for this one person's rows. Returns how many of the
-- places that become final in time still contain the phrases.
create function redact_elsewhere(p_tenant text, p_phrases text[])
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    update approvals a
    set summary = redact_text(a.summary, p_phrases), arguments = redact_value(a.arguments, p_phrases),
        shown = redact_value(a.shown, p_phrases), form = redact_value(a.form, p_phrases),
        proposed = redact_value(a.proposed, p_phrases), reason = redact_text(a.reason, p_phrases),
        sealed_head = redact_text(a.sealed_head, p_phrases), sealed_tail = redact_text(a.sealed_tail, p_phrases)
    from turns t
    where a.tenant_id = p_tenant and t.tenant_id = a.tenant_id and t.id = a.turn_id and a.state <> 'pending'
      and t.state not in ('running', 'waiting') and value_says(approval_words(to_jsonb(a)), p_phrases);
    update approval_audit d set detail = redact_value(d.detail, p_phrases)
    where d.tenant_id = p_tenant and value_says(d.detail, p_phrases)
      and not exists (select from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
                      where a.tenant_id = p_tenant and a.id = d.approval_id
                        and (a.state = 'pending' or t.state in ('running', 'waiting')));
    delete from profile_facts f where f.tenant_id = p_tenant and says_any(f.value, p_phrases);
    delete from undo_records u
    where u.tenant_id = p_tenant and value_says(jsonb_build_array(u.title, u.arguments), p_phrases);
    update notifications n set title = redact_text(n.title, p_phrases), text = redact_text(n.text, p_phrases),
        actions = redact_value(n.actions, p_phrases), media = redact_value(n.media, p_phrases)
    where n.tenant_id = p_tenant and n.state not in ('held', 'queued')
      and value_says(jsonb_build_array(n.title, n.text, n.actions, n.media), p_phrases);
    -- Their own tables are redacted by their sql/redact.sql.
    return (select count(*)::int from (
        select exists (select from approvals a where a.tenant_id = p_tenant
                       and value_says(approval_words(to_jsonb(a)), p_phrases))
        union all
        select exists (select from approval_audit d where d.tenant_id = p_tenant and value_says(d.detail, p_phrases))
        union all
        select exists (select from notifications n where n.tenant_id = p_tenant
                       and value_says(jsonb_build_array(n.title, n.text, n.actions), p_phrases))
        -- Whether abilities still hold any comes from their sql/unredacted.sql.
    ) place (holds) where place.holds);
end $$;

-- Returns the columns of an approval that hold words of a person, so that its ids and times are compared with nothing.
create function approval_words(p_approval jsonb)
returns jsonb
language sql immutable as $$
    select jsonb_agg(p_approval -> name) from unnest(
        '{summary,arguments,shown,form,proposed,reason,sealed_head,sealed_tail}'::text[]) column_ (name)
$$;

-- Redacts phrases in all that was said and done with a person, except messages that are being sent; true if none is
-- left.
create function redact(p_tenant text, p_phrases text[])
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, false);  -- a deletion takes the same rows in another order
    -- So may a second redaction: its updates read each table as they are planned, in no order of ours.
    perform pg_advisory_xact_lock(hashtextextended('redact' || chr(31) || p_tenant, 0));
    perform forget_pictures(p_tenant, p_phrases);  -- while it can still be told which ones
    delete from prompts p where p.tenant_id = p_tenant;  -- compressed: nobody can look for a phrase in them
    update inbound i set text = redact_text(i.text, p_phrases), heard = redact_text(i.heard, p_phrases),
        subject = redact_text(i.subject, p_phrases), points = redact_value(i.points, p_phrases),
        media = redact_value(i.media, p_phrases), command = redact_value(i.command, p_phrases)
    where i.tenant_id = p_tenant and i.state in ('done', 'ignored')
      and value_says(jsonb_build_array(i.text, i.heard, i.subject, i.media, i.command, i.points), p_phrases);
    update history h set message = redact_value(h.message, p_phrases)
    where h.tenant_id = p_tenant and value_says(h.message, p_phrases);
    update steps s set result = redact_value(s.result, p_phrases)
    from turns t
    where s.tenant_id = p_tenant and t.tenant_id = s.tenant_id and t.id = s.turn_id
      and t.state not in ('running', 'waiting') and value_says(s.result, p_phrases);
    update turns t set reason = redact_text(t.reason, p_phrases), stop_message = redact_text(t.stop_message, p_phrases)
    where t.tenant_id = p_tenant and t.state not in ('running', 'waiting')
      and (says_any(t.reason, p_phrases) or says_any(t.stop_message, p_phrases));
    update pool_entries e
    set collected_fields = redact_value(e.collected_fields, p_phrases), context = redact_value(e.context, p_phrases),
        reason = redact_text(e.reason, p_phrases)
    where e.tenant_id = p_tenant and e.status in ('CANCELLED', 'COMPLETED')
      and value_says(jsonb_build_array(e.collected_fields, e.context, e.reason), p_phrases);
    update questions q set choices = redact_value(q.choices, p_phrases), answer = redact_text(q.answer, p_phrases)
    where q.tenant_id = p_tenant and q.state <> 'open'
      and value_says(jsonb_build_array(q.choices, q.answer), p_phrases);
    update outbound o set text = redact_text(o.text, p_phrases), sentences = redact_value(o.sentences, p_phrases),
        actions = redact_value(o.actions, p_phrases), media = redact_value(o.media, p_phrases)
    where o.tenant_id = p_tenant and o.state in ('sent', 'ambiguous', 'failed')
      and value_says(jsonb_build_array(o.text, o.sentences, o.actions, o.media), p_phrases);
    update outbound_parts q set text = '[forgotten]', data = redact_value(q.data, p_phrases)
    from outbound o
    where q.tenant_id = p_tenant and o.tenant_id = q.tenant_id and o.id = q.outbound_id
      and o.state in ('sent', 'ambiguous', 'failed') and value_says(jsonb_build_array(q.text, q.data), p_phrases);
    -- A file is forgotten whole: its bytes cannot be redacted (functions/files.sql deletes them).
    delete from files f
    where f.tenant_id = p_tenant and value_says(jsonb_build_array(f.name, f.caption, f.pages), p_phrases);
    return redact_elsewhere(p_tenant, p_phrases) = 0
       and not exists (select from inbound i where i.tenant_id = p_tenant
                       and (says_any(words_of(i), p_phrases) or value_says(i.points, p_phrases)))
       and not exists (select from steps s where s.tenant_id = p_tenant and value_says(s.result, p_phrases))
       and not exists (select from pool_entries e where e.tenant_id = p_tenant
                       and value_says(jsonb_build_array(e.collected_fields, e.context, e.reason), p_phrases))
       and not exists (select from questions q where q.tenant_id = p_tenant
                       and value_says(jsonb_build_array(q.choices, q.answer), p_phrases))
       and not exists (select from outbound o where o.tenant_id = p_tenant
                       and value_says(jsonb_build_array(o.text, o.sentences), p_phrases));
end $$;
