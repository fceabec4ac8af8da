-- Halts: begun and lifted by words of an owner, in the transaction that stores the message, or by the command line.

-- Carries out HALT ALL, or LIFT with a code, of an owner, and enqueues the answer; anybody else's is answered by its turn.
-- Called once a message, since a repeat of it is a duplicate.
create function take_halt_word(
    p_tenant text, p_conversation text, p_inbound text, p_outbound text, p_channel text, p_command jsonb)
returns void
language plpgsql as $$
declare
    v_word text := p_command ->> 'name';
    v_how text := 'word by ' || p_channel;
    v_outcome text;
begin
    if not exists (select from tenants t where t.tenant_id = p_tenant and t.role = 'owner') then
        v_outcome := 'refused';
    elsif v_word = 'halt_all' then
        perform begin_halt(v_how);
        v_outcome := 'halted';
    else
        v_outcome := try_code(regexp_replace(p_command ->> 'argument', '\D', '', 'g'), v_how);
    end if;
    insert into halt_words (tenant_id, id, channel, word, outcome)
    values (p_tenant, p_inbound, p_channel, v_word, v_outcome);
    if v_outcome in ('refused', 'not_halted') then
        if is_halted() then
            perform tell_of_halt(p_tenant, p_conversation);
        end if;
        return;
    end if;
    update inbound i set state = 'done', reason = 'halt: ' || v_outcome
    where i.tenant_id = p_tenant and i.id = p_inbound;
    perform say_of_halt(p_tenant, p_conversation, p_outbound, v_outcome);
end $$;

-- Halts all work; returns the code that lifts the halt, which is the same until then. Repeatable.
create function begin_halt(p_how text)
returns text
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('halts', 0));
    -- The first digits of a random UUID (version 4) are random, from a strong source.
    insert into halts (how, code)
    select p_how, lpad((('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint % 1000000)::text, 6, '0')
    where not is_halted();
    return (select h.code from halts h where h.lifted_at is null);
end $$;

-- Lifts the halt, if there is one.
create function end_halt(p_how text)
returns boolean
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('halts', 0));
    update halts h set lifted_at = clock_timestamp(), lifted_how = p_how where h.lifted_at is null;
    return found;
end $$;

-- Lifts the halt by its code: 'lifted', 'wrong', 'limited' after five wrong codes within an hour, or 'not_halted'.
create function try_code(p_code text, p_how text)
returns text
language plpgsql as $$
begin
    if not is_halted() then
        return 'not_halted';
    end if;
    if next_guess('lift', 5, interval '1 hour', clock_timestamp()) is not null then
        return 'limited';
    end if;
    if not exists (select from halts h where h.lifted_at is null and h.code = p_code) then
        perform add_guess('lift', clock_timestamp());
        return 'wrong';
    end if;
    perform end_halt(p_how);
    return 'lifted';
end $$;

-- Tells a person that all work is halted, once a halt and conversation.
create function tell_of_halt(p_tenant text, p_conversation text)
returns void
language plpgsql as $$
begin
    perform say_of_halt(p_tenant, p_conversation, concat_ws('_', 'out_halt', h.id, p_conversation), 'told')
    from halts h where h.lifted_at is null;
end $$;

-- Enqueues a sentence about a halt, which goes out during it. The sentences are those of abilities/halts/sentences.py,
-- and are translated when they are sent.
create function say_of_halt(p_tenant text, p_conversation text, p_outbound text, p_what text)
returns void
language plpgsql as $$
declare
    v_sentence text := case p_what
        when 'halted' then 'All work is stopped, for everybody: no answer, task or message goes out, and incoming messages are kept. To let it go on, send LIFT {code}.'
        when 'lifted' then 'Work goes on. Everything that waited is done now.'
        when 'wrong' then 'That is not the code: all work stays stopped.'
        when 'limited' then 'Too many wrong codes: all work stays stopped. Try again in an hour, or lift it on the server: onevalet lift.'
        when 'told' then 'My operator has stopped me for now. I keep your messages, and answer them when I may go on.'
        end;
    v_values jsonb := '{}';
begin
    if p_what = 'halted' then
        select jsonb_build_object('code', h.code) into v_values from halts h where h.lifted_at is null;
    end if;
    perform enqueue(p_tenant, p_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'receipt', 'regardless', true,
        'sentences', jsonb_build_array(jsonb_build_object('key', v_sentence, 'values', v_values)))));
end $$;
