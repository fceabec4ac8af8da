-- Long answers that wait for their person's choice.

-- Decides about a long answer whose rendering begins: 'ask' first, 'whole' for one that was asked for, empty for one that is
-- sent as it is. `other`: the channel where it could be read instead. Repeatable: what was asked once is asked again.
create function hold_answer(
    p_tenant text, p_outbound text, p_fence bigint, p_segments int, p_limit int, p_now timestamptz,
    p_until timestamptz, out way text, out other text)
language plpgsql as $$
begin
    perform lock_outbound(p_tenant, p_outbound, p_fence);
    if exists (select from held_answers h where h.tenant_id = p_tenant and h.outbound_id = left(p_outbound, -4)
               and p_outbound = h.outbound_id || '.all') then
        way := 'whole';
        return;
    end if;
    way := '';
    if not exists (select from held_answers h where h.tenant_id = p_tenant and h.outbound_id = p_outbound) then
        if p_segments <= least(p_limit, (select l.segments from answer_limits l where l.tenant_id = p_tenant)) then
            return;
        end if;
        insert into held_answers (tenant_id, outbound_id, segments, asked_at, until)
        values (p_tenant, p_outbound, p_segments, p_now, p_until);
    end if;
    way := 'ask';
    select e.channel into other from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join conversations e on e.tenant_id = o.tenant_id and e.id = other_conversation(p_tenant, c.channel)
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- Puts a held answer, shortened, into the outbox; its further portions are all of it.
create function send_short(p_tenant text, p_conversation text, p_turn text, p_question text)
returns void
language plpgsql as $$
declare
    v_rest jsonb := (select o.rest from outbound o where o.tenant_id = p_tenant and o.id = p_question);
    v_text text;
begin
    select string_agg(v.value ->> 'text', E'\n' order by (v.value ->> 'part')::int) into v_text
    from jsonb_array_elements(v_rest -> 0) v;
    perform enqueue(p_tenant, p_conversation, p_turn, jsonb_build_array(jsonb_build_object(
        'id', p_question || '.short', 'kind', 'reply', 'text', v_text)));
    perform insert_parts(p_tenant, p_question || '.short', v_rest -> 0);
    update outbound o set rest = v_rest - 0 where o.tenant_id = p_tenant and o.id = p_question || '.short';
end $$;

-- Sends a held answer as its person chose: the question must be the last that wants an answer in its conversation. Returns
-- the conversation into which it was queued; null where nothing is held. Repeatable by the turn. p_link_hash: for 'read', where
-- the turn itself tells the link.
create function choose_answer(
    p_tenant text, p_conversation text, p_turn text, p_way text, p_link_hash bytea, p_link_until timestamptz,
    out outbound_id text, out conversation_id text, out channel text)
language plpgsql as $$
#variable_conflict use_column
declare
    v_last outbound%rowtype;
    v_there text := p_conversation;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, false);
    if p_way = 'chat' then
        v_there := (select other_conversation(p_tenant, c.channel) from conversations c
                    where c.tenant_id = p_tenant and c.id = p_conversation);
    end if;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id in (p_conversation, v_there)
    order by c.id for no key update;
    select o.* into v_last from held_answers h join outbound o on o.tenant_id = h.tenant_id and o.id = h.outbound_id
    where h.tenant_id = p_tenant and h.chosen_by = p_turn;
    if v_last.id is null then
        select o.* into v_last from outbound o
        where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.seq is not null
          and (o.kind in ('reply', 'card') or o.wants_reply)
        order by o.seq desc limit 1
        for no key update; -- before its row of held answers, as messages are deleted
        update held_answers h set way = p_way, chosen_by = p_turn, link_hash = p_link_hash, link_until = p_link_until
        where h.tenant_id = p_tenant and h.outbound_id = v_last.id and h.way = '' and v_there is not null
          and v_last.rest <> '[]' and v_last.state <> 'failed';
        if not found then
            return;
        end if;
        if p_way = 'short' then
            perform send_short(p_tenant, p_conversation, p_turn, v_last.id);
        elsif p_way <> 'read' then
            perform enqueue(p_tenant, v_there, p_turn, jsonb_build_array(jsonb_build_object(
                'id', v_last.id || case p_way when 'send' then '.all' else '.chat' end, 'kind', 'reply',
                'text', v_last.text, 'media', v_last.media)));
        end if;
        update outbound o set rest = '[]' where o.tenant_id = p_tenant and o.id = v_last.id;
    end if;
    outbound_id := v_last.id;
    conversation_id := v_there;
    channel := (select c.channel from conversations c where c.tenant_id = p_tenant and c.id = v_there);
end $$;

-- Returns the question that the turn's person may answer now, for its link; null for none.
create function open_question(p_tenant text, p_conversation text, p_turn text)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return coalesce(
        (select h.outbound_id from held_answers h where h.tenant_id = p_tenant and h.chosen_by = p_turn),
        (select h.outbound_id from held_answers h
         where h.tenant_id = p_tenant and h.way = '' and h.outbound_id = (
             select o.id from outbound o
             where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.seq is not null
               and (o.kind in ('reply', 'card') or o.wants_reply)
             order by o.seq desc limit 1)));
end $$;

-- Claims held answers about which nobody has decided in time; ids only. Each comes again after a pause that grows, unless
-- its wait is over by then.
create function claim_lapsed_answers(p_now timestamptz, p_limit int)
returns table (tenant_id text, outbound_id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select h.tenant_id, h.outbound_id, h.until as due_at from held_answers h
        where not is_halted() and h.way = '' and h.until <= p_now and h.next_attempt_at <= clock_timestamp()
        order by h.until limit p_limit for update skip locked),
    claimed as (
        update held_answers h
        set attempts = h.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(h.attempts)
        from due where h.tenant_id = due.tenant_id and h.outbound_id = due.outbound_id
        returning h.tenant_id, h.outbound_id, due.due_at)
    select c.tenant_id, c.outbound_id from claimed c order by c.due_at, c.outbound_id
$$;

-- Sends an answer about which nobody has decided in time, shortened, and after it what p_text says, if anything.
-- Returns its conversation; null where it was decided. A question that still waits to be sent gets p_again; one that never
-- was sent, or was answered with MORE, is over.
create function lapse_answer(
    p_tenant text, p_outbound text, p_now timestamptz, p_again timestamptz, p_text text, p_link_hash bytea,
    p_link_until timestamptz)
returns text
language plpgsql as $$
declare
    v_question outbound%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, false);
    perform 1 from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.tenant_id = p_tenant and o.id = p_outbound for no key update of c;
    -- The message before its row of held answers, as messages are deleted.
    select o.* into v_question from outbound o where o.tenant_id = p_tenant and o.id = p_outbound for no key update;
    if v_question.state in ('ready', 'sending', 'checking') then
        update held_answers h set until = p_again, attempts = 0, next_attempt_at = clock_timestamp()
        where h.tenant_id = p_tenant and h.outbound_id = p_outbound and h.way = '' and h.until <= p_now;
        return null;
    end if;
    update held_answers h
    set way = case when v_question.state = 'failed' or v_question.rest = '[]' then 'over' else 'lapsed' end,
        link_hash = p_link_hash, link_until = p_link_until
    where h.tenant_id = p_tenant and h.outbound_id = p_outbound and h.way = '' and h.until <= p_now;
    if not found or v_question.state = 'failed' or v_question.rest = '[]' then
        return null;
    end if;
    perform send_short(p_tenant, v_question.conversation_id, null, p_outbound);
    update outbound o set rest = '[]' where o.tenant_id = p_tenant and o.id = p_outbound;
    if p_text <> '' then
        perform enqueue(p_tenant, v_question.conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound || '.link', 'kind', 'notification', 'text', p_text)));
    end if;
    return v_question.conversation_id;
end $$;

-- Finds whose answer a link leads to; ids only.
create function find_answer_link(p_link_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select h.tenant_id from held_answers h where h.link_hash = p_link_hash
$$;

-- Keeps from how many segments on a person wants to be asked; null for the operator's limit.
create function keep_answer_limit(p_tenant text, p_segments int)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from answer_limits l where l.tenant_id = p_tenant and p_segments is null;
    insert into answer_limits as l (tenant_id, segments) select p_tenant, p_segments where p_segments is not null
    on conflict (tenant_id) do update set segments = excluded.segments;
end $$;

-- Lists the last held answers, the last first, for the operator; ids only.
create function list_held_answers(p_limit int)
returns table (tenant_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select h.tenant_id, h.outbound_id from held_answers h order by h.asked_at desc limit p_limit
$$;

-- Counts a call that quiet hours spared a person, by its work.
create function count_spared(p_tenant text, p_work text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into spared_calls as s (tenant_id, day, work, calls)
    select t.tenant_id, day_of_person(p_tenant, clock_timestamp()), p_work, 1 from tenants t where t.tenant_id = p_tenant
    on conflict (tenant_id, day, work) do update set calls = s.calls + 1;
end $$;

-- Sums the calls that a person was spared since a day, by work, with the price of that work's calls in the same days; null
-- where none is known.
create function spared_of(p_tenant text, p_since date)
returns table (work text, calls bigint, price numeric)
language sql stable as $$
    select s.work, sum(s.calls)::bigint,
           (select nullif(sum(u.cost), 0) / nullif(sum(u.calls), 0) from usage_days u
            where u.tenant_id = p_tenant and u.kind = 'background' and u.name = s.work and u.day >= p_since)
    from spared_calls s where s.tenant_id = p_tenant and s.day >= p_since group by s.work
$$;

-- Lists the people whom quiet hours spared calls since a day, the most first, for the operator; ids only.
create function list_spared(p_since date, p_limit int)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.tenant_id from spared_calls s where s.day >= p_since
    group by s.tenant_id order by sum(s.calls) desc limit p_limit
$$;
