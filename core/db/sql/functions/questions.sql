-- Questions with buttons: asked with a turn's end, answered once, and drawn when they are over.

-- Writes the question that a message shows, committed with the message and the turn that asks. The same asked before is
-- over.
create function write_question(p_tenant text, p_turn text, p_outbound text, p_question jsonb)
returns void
language plpgsql as $$
declare
    v_old text;
begin
    for v_old in
        select q.id from questions q
        where q.tenant_id = p_tenant and q.agent_id = p_question ->> 'agent' and q.name = p_question ->> 'name'
          and q.state = 'open' and q.id <> p_question ->> 'id'
    loop
        perform end_question(p_tenant, v_old, 'asked_again', '', '', '', clock_timestamp());
    end loop;
    insert into questions (tenant_id, id, turn_id, agent_id, name, choices, skip, token)
    values (p_tenant, p_question ->> 'id', p_turn, p_question ->> 'agent', p_question ->> 'name',
            p_question -> 'choices', (p_question ->> 'skip')::boolean, p_question ->> 'token')
    on conflict on constraint questions_pkey do nothing;
    insert into question_cards (tenant_id, outbound_id, question_id)
    values (p_tenant, p_outbound, p_question ->> 'id');
end $$;

-- Ends an open question, once, and has its messages drawn. True if this call ended it.
create function end_question(
    p_tenant text, p_question text, p_state text, p_answer text, p_identity text, p_channel text, p_now timestamptz)
returns boolean
language plpgsql as $$
begin
    update questions q
    set state = p_state, answer = p_answer, answered_by = p_identity, answered_channel = p_channel, answered_at = p_now
    where q.tenant_id = p_tenant and q.id = p_question and q.state = 'open';
    if not found then
        return false;
    end if;
    insert into redraws as r (tenant_id, outbound_id, outcome, outcome_at)
    select c.tenant_id, c.outbound_id, p_state, p_now
    from question_cards c where c.tenant_id = p_tenant and c.question_id = p_question
    on conflict on constraint redraws_pkey do update
    set outcome = excluded.outcome, outcome_at = excluded.outcome_at, state = 'due', attempts = 0,
        next_attempt_at = clock_timestamp();
    return true;
end $$;

-- Returns an answer as it is shown: the label that stands for a value, or the value itself.
create function answer_shown(p_choices jsonb, p_value jsonb)
returns text
language sql immutable as $$
    select coalesce((select c ->> 'label' from jsonb_array_elements(p_choices) c where c -> 'value' = p_value limit 1),
                    p_value #>> '{}', '')
$$;

create function find_question(p_token text)
returns table (tenant_id text, question_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select q.tenant_id, q.id from questions q where q.token = p_token
$$;

-- Receives a press on a question's button. Authority is the sender's identity and the stored row: a token proves nothing.
-- p_choice: the place of a choice, from 0; -1 leaves the question out. `outcome` is the key of the reply, `answer` what was
-- answered, `language` the presser's.
create function receive_choice(p_arrival jsonb, p_choice int, p_token text, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, outcome text, answer text, language text, lanes_to_wake text[])
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_question text;
    v_identity text;
    v_in record;
    v_taken record;
    v_again boolean := was_received(v.channel, v.account, v.user_key, v.keys, v.id);
begin
    select f.tenant_id, f.question_id into v_tenant, v_question from find_question(p_token) f;
    v_identity := find_presser(v, v_tenant);
    duplicate := false;
    answer := '';
    lanes_to_wake := '{}';
    select t.language into language from tenants t where t.tenant_id = current_setting('onevalet.tenant');
    if v_identity is null then
        perform ignore_message(v.channel, v.account, v.keys, 'unsupported');
        inbound_id := (v.keys)[1];
        outcome := case when v_tenant is null then 'unknown' else 'not_yours' end;
        return next;
        return;
    end if;
    select r.* into v_in from receive_message(p_arrival) r;
    inbound_id := coalesce(v_in.inbound_id, (v.keys)[1]);
    if v_in.inbound_id is null or v_in.duplicate then
        duplicate := true;
        select s.outcome, s.answer into outcome, answer from why_answered(v_tenant, v_question) s;
    elsif v_again then
        select d.outcome, d.lanes_to_wake into outcome, lanes_to_wake from decided_before(v_tenant, v.id) d;
        select q.answer into answer from questions q where q.tenant_id = v_tenant and q.id = v_question;
    else
        select t.* into v_taken from take_choice(v_tenant, v_question, p_choice, v_identity, v.channel, p_now) t;
        outcome := v_taken.outcome;
        answer := v_taken.answer;
        lanes_to_wake := case when v_taken.lane_id is null then '{}' else array[v_taken.lane_id] end;
        update inbound i set state = 'done', reason = 'press: ' || v_taken.outcome, outcome = v_taken.outcome,
            turn_id = (select q.turn_id from questions q where q.tenant_id = v_tenant and q.id = v_question)
        where i.tenant_id = v_tenant and i.id = v.id;
    end if;
    perform mark_channel(v.channel, v.account, true);
    return next;
end $$;

-- Returns the key of the sentence that says why a question takes no answer, and the answer that it has.
create function why_answered(p_tenant text, p_question text, out outcome text, out answer text)
language sql stable as $$
    select case q.state when 'chosen' then 'already_answered' when 'skipped' then 'already_skipped'
                        when 'open' then 'unknown' else 'closed' end, q.answer
    from questions q where q.tenant_id = p_tenant and q.id = p_question
$$;

-- Applies one press to one question: the first answer counts. The turn that asks may resume once nothing is left to
-- answer.
create function take_choice(
    p_tenant text, p_question text, p_choice int, p_identity text, p_channel text, p_now timestamptz,
    out outcome text, out answer text, out lane_id text)
language plpgsql as $$
declare
    v_question questions%rowtype;
    v_entry pool_entries%rowtype;
    v_value jsonb := 'null';
    v_asked jsonb;
begin
    perform lock_turn(p_tenant, (select q.turn_id from questions q where q.tenant_id = p_tenant and q.id = p_question));
    select * into v_question from questions q where q.tenant_id = p_tenant and q.id = p_question for update;
    select w.outcome, w.answer into outcome, answer from why_answered(p_tenant, p_question) w;
    if v_question.state <> 'open' then
        return;
    end if;
    select * into v_entry from pool_entries e
    where e.tenant_id = p_tenant and e.agent_id = v_question.agent_id for update;
    if v_entry.status = 'PAUSED' then
        outcome := 'paused';
        return;
    end if;
    if v_entry.status is distinct from 'WAITING_FOR_INPUT' or v_entry.expires_at <= p_now then
        outcome := 'closed';
        return;
    end if;
    if p_choice >= jsonb_array_length(v_question.choices) or p_choice < -1 or (p_choice = -1 and not v_question.skip) then
        return;
    end if;
    if p_choice >= 0 then
        v_value := v_question.choices -> p_choice -> 'value';
    end if;
    outcome := case when p_choice >= 0 then 'chosen' else 'skipped' end;
    answer := case when p_choice >= 0 then v_question.choices -> p_choice ->> 'label' else '' end;
    perform end_question(p_tenant, p_question, outcome, answer, p_identity, p_channel, p_now);
    select coalesce(jsonb_agg(a.name order by a.place), '[]') into v_asked
    from jsonb_array_elements(v_entry.context -> 'asked') with ordinality as a (name, place)
    where a.name <> to_jsonb(v_question.name);
    update pool_entries e
    set collected_fields = e.collected_fields || jsonb_build_object(v_question.name, v_value),
        -- What is left to ask stays as it was asked; without a question the turn resumes.
        context = e.context || jsonb_build_object('asked', v_asked, 'question', case
            when v_asked <> '[]' and e.context ->> 'question' is not null
            then (select string_agg(a ->> 'text', E'\n') from jsonb_array_elements(e.context -> 'asks') a
                  where v_asked ? (a ->> 'name')) end),
        revision = e.revision + 1, updated_at = clock_timestamp()
    where e.tenant_id = p_tenant and e.agent_id = v_question.agent_id
    returning case when e.context ->> 'question' is null then wake_turn(p_tenant, e.turn_id) end into lane_id;
end $$;

-- What was answered in words, and what is asked no more, is shown on the cards as well.
create function settle_questions()
returns trigger
language plpgsql as $$
declare
    v_question questions%rowtype;
begin
    if tg_op = 'DELETE' and not exists (select from tenants t where t.tenant_id = old.tenant_id) then
        return old;
    end if;
    for v_question in
        select * from questions q
        where q.tenant_id = old.tenant_id and q.agent_id = old.agent_id and q.state = 'open'
    loop
        if tg_op = 'UPDATE' and new.collected_fields ? v_question.name then
            perform end_question(
                old.tenant_id, v_question.id,
                case when new.collected_fields -> v_question.name = 'null' then 'skipped' else 'chosen' end,
                answer_shown(v_question.choices, new.collected_fields -> v_question.name), '', '', clock_timestamp());
        elsif tg_op = 'DELETE' or new.status in ('CANCELLED', 'COMPLETED') then
            perform end_question(old.tenant_id, v_question.id, 'closed', '', '', '', clock_timestamp());
        end if;
    end loop;
    return case tg_op when 'DELETE' then old else new end;
end $$;
create or replace trigger questions_settled after update or delete on pool_entries
    for each row execute function settle_questions();
