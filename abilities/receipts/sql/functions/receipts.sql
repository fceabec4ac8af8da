-- Receipts of effects, read from the journal and the consent behind each. Nothing is written while a tool runs: whoever
-- can read that it ran can read its receipt.

-- Returns whether a step had, or may have had, an effect. An error is a tool's promise that nothing happened, and an
-- agent that asks for its approval has only asked.
create function is_effect(p_step steps)
returns boolean
language sql immutable as $$
    select p_step.kind in ('tool', 'agent') and p_step.effect in ('once', 'idempotent')
       and case when p_step.state = 'started' then not p_step.result ? 'waits_for_account'
                else p_step.outcome in ('ok', 'unknown') end
       and coalesce(p_step.result ->> 'status', '') <> 'WAITING_FOR_APPROVAL'
$$;

-- Returns the number of a receipt, which says nothing of what was done: the same from its first reading on.
create function receipt_number(p_turn text, p_agent_path text, p_step int, p_call_index int)
returns text
language sql immutable as $$
    select regexp_replace(left(encode(sha256(convert_to(
        concat_ws(chr(31), p_turn, p_agent_path, p_step, p_call_index), 'UTF8')), 'hex'), 12), '(....)(....)(....)', '\1-\2-\3')
$$;

create function receipt_time(p_at timestamptz)
returns text
language sql immutable as $$
    select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- Returns the ids under which a step's consent was asked for: a tool's own, or those of an agent's run and of its first,
-- whose approval holds after a question.
create function consent_places(p_step steps)
returns text[]
language sql immutable as $$
    select case when p_step.kind = 'agent'
                then array[p_step.agent_path || '#' || p_step.call_index, p_step.agent_path || '#1']
                else array[case when p_step.agent_path = '' then '' else p_step.agent_path || '/' end
                           || p_step.step || '.' || p_step.call_index || '/' || p_step.name] end
$$;

-- Returns how a step ended: what started in a turn that is over will never be known.
create function receipt_outcome(p_step steps)
returns text
language sql stable as $$
    select case when p_step.state = 'done' and p_step.result ->> 'status' in ('WAITING_FOR_INPUT', 'PAUSED') then 'part'
                when p_step.state = 'done' then p_step.outcome
                when exists (select from turns t where t.tenant_id = p_step.tenant_id and t.id = p_step.turn_id
                             and t.state in ('running', 'waiting')) then 'open'
                else 'unknown' end
$$;

-- Returns the card that a person approved for a step: as it was shown, what was sealed with it, who decided where, and who
-- else agreed; null if nobody was asked.
create function receipt_card(p_step steps)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'approval', a.id, 'code', a.code, 'summary', a.summary, 'text', coalesce(k.shown, ''), 'shown', a.shown,
        'risk', a.risk, 'hash', a.hash,
        'sealed', case when '[forgotten]' in (a.sealed_head, a.sealed_tail) then '[forgotten]'
            else a.sealed_head || to_char(a.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || a.sealed_tail end,
        'sent_on', k.channel, 'sent_at', receipt_time(k.sent_at),
        'how', a.decided_how, 'decided_on', a.decided_channel, 'decided_at', receipt_time(a.decided_at),
        'decided_by', (select jsonb_build_object('channel', i.channel, 'address', i.user_key, 'name', i.name)
                       from identities i where i.tenant_id = a.tenant_id and i.id = a.decided_by),
        'also', also_agreed(a.tenant_id, a.id))
    from approvals a
    left join lateral (
        select c.channel, o.sent_at,
               case when o.closing <> '' and right(o.text, length(o.closing)) = o.closing
                    then rtrim(left(o.text, -length(o.closing)), E' \n') else o.text end as shown
        from approval_cards n
        join outbound o on o.tenant_id = n.tenant_id and o.id = n.outbound_id
        join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
        where n.tenant_id = a.tenant_id and n.approval_id = a.id and n.role = 'card'
        order by o.created_at, o.id limit 1) k on true
    where a.tenant_id = p_step.tenant_id and a.turn_id = p_step.turn_id and a.state = 'approved'
      and a.place = any (consent_places(p_step))
    order by array_position(consent_places(p_step), a.place), a.generation desc limit 1
$$;

-- Returns the standing consent by which a step ran unasked; null if there was none.
create function receipt_consent(p_step steps)
returns jsonb
language sql stable as $$
    select jsonb_build_object('number', c.number, 'use', u.number, 'approval', c.approval_id, 'hash', c.hash,
                              'sealed', c.sealed, 'used_at', receipt_time(u.at))
    from consent_uses u join standing_consents c on c.tenant_id = u.tenant_id and c.id = u.consent_id
    where u.tenant_id = p_step.tenant_id and u.turn_id = p_step.turn_id and u.call_id = any (consent_places(p_step))
    order by array_position(consent_places(p_step), u.call_id) limit 1
$$;

-- Returns what the model asked for, as JSON in a text; the answer that asked for an agent is named by the agent's path.
create function receipt_asked(p_step steps)
returns text
language sql stable as $$
    select left(coalesce(m.result -> 'tool_calls' -> (asked.call_index - 1) ->> 'arguments', ''), 4000)
    from (select case when p_step.kind = 'tool' then p_step.agent_path else coalesce(p[1], '') end as agent_path,
                 case when p_step.kind = 'tool' then p_step.step else p[2]::int end as step,
                 case when p_step.kind = 'tool' then p_step.call_index else p[3]::int end as call_index
          from (select regexp_match(p_step.agent_path, '^(?:(.*)/)?([0-9]+)\.([0-9]+)/[^/]+$')) f (p)) asked
    join steps m on m.tenant_id = p_step.tenant_id and m.turn_id = p_step.turn_id and m.agent_path = asked.agent_path
     and m.step = asked.step and m.call_index = 0
$$;

-- Returns the messages to others that a step queued, with the provider's own id and last word for each part.
create function receipt_sent(p_step steps)
returns jsonb
language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'message', o.id, 'channel', c.channel, 'to', c.peer, 'part', e.part, 'provider_id', e.provider_id,
        'state', coalesce(e.state, o.state), 'status', e.status) order by o.id, e.part), '[]')
    from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    left join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id
    where o.tenant_id = p_step.tenant_id and o.turn_id = p_step.turn_id and o.kind = 'outreach'
      and o.created_at between p_step.started_at and coalesce(p_step.finished_at, 'infinity')
$$;

-- Returns the whole receipt of a step. `answer`: the word of the tool or service, which for a service is its receipt.
create function receipt_of(p_step steps)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'number', receipt_number(p_step.turn_id, p_step.agent_path, p_step.step, p_step.call_index),
        'at', receipt_time(p_step.started_at), 'ended_at', receipt_time(p_step.finished_at), 'turn', p_step.turn_id,
        'asked_on', coalesce(c.channel, 'task'), 'kind', p_step.kind, 'tool', p_step.name, 'effect', p_step.effect,
        'outcome', receipt_outcome(p_step), 'arguments_hash', p_step.args_hash, 'key', p_step.idempotency_key,
        'asked', coalesce(receipt_asked(p_step), ''), 'card', receipt_card(p_step), 'consent', receipt_consent(p_step),
        'sent', receipt_sent(p_step),
        'answer', jsonb_build_object(
            'text', left(coalesce(p_step.result ->> 'text', ''), 4000),
            'hash', encode(sha256(convert_to(coalesce(p_step.result ->> 'text', ''), 'UTF8')), 'hex'),
            'outputs', case when length((p_step.result -> 'outputs')::text) <= 4000 then p_step.result -> 'outputs' end,
            'things', coalesce(p_step.result -> 'entities', '[]')))
    from turns t left join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    where t.tenant_id = p_step.tenant_id and t.id = p_step.turn_id
$$;

-- Returns the steps of a period that had an effect, without those whose receipts are kept.
create function unkept_effects(p_tenant text, p_from timestamptz, p_until timestamptz)
returns setof steps
language sql stable as $$
    select s.* from steps s
    where s.tenant_id = p_tenant and s.effect <> 'read' and s.started_at >= p_from and s.started_at < p_until and is_effect(s)
      and not exists (select from receipts r
                      where r.tenant_id = s.tenant_id and r.turn_id = s.turn_id and r.agent_path = s.agent_path
                        and r.step = s.step and r.call_index = s.call_index)
$$;

-- Lists a person's receipts of a period in order, after the one that began at p_at with this number. p_newest: backwards.
create function read_receipts(
    p_tenant text, p_from timestamptz, p_until timestamptz, p_at timestamptz, p_number text, p_newest boolean, p_limit int)
returns table (at timestamptz, number text, told jsonb)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    with known as (
        select r.at, r.number, r.told, null::steps as step from receipts r
        where r.tenant_id = p_tenant and r.at >= p_from and r.at < p_until
        union all
        select s.started_at, receipt_number(s.turn_id, s.agent_path, s.step, s.call_index), null, s
        from unkept_effects(p_tenant, p_from, p_until) s),
    chosen as (
        select * from known k
        where p_at is null or case when p_newest then (k.at, k.number) < (p_at, p_number)
                                   else (k.at, k.number) > (p_at, p_number) end
        order by case when p_newest then k.at end desc, case when p_newest then k.number end desc,
                 case when not p_newest then k.at end, case when not p_newest then k.number end
        limit p_limit)
    select c.at, c.number, coalesce(c.told, receipt_of(c.step)) from chosen c
    order by case when p_newest then c.at end desc, case when p_newest then c.number end desc,
             case when not p_newest then c.at end, case when not p_newest then c.number end;
end $$;

-- Counts a person's receipts of a period: all, those without a card, those of which nobody knows how they ended, and those
-- that are under way.
create function count_receipts(p_tenant text, p_from timestamptz, p_until timestamptz)
returns table (receipts bigint, without_card bigint, unknown bigint, under_way bigint)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select count(*), count(*) filter (where not k.has_card), count(*) filter (where k.outcome = 'unknown'),
           count(*) filter (where k.outcome = 'open') from (
        select r.told -> 'card' <> 'null' as has_card, r.told ->> 'outcome' as outcome from receipts r
        where r.tenant_id = p_tenant and r.at >= p_from and r.at < p_until
        union all
        select exists (select from approvals a
                       where a.tenant_id = p_tenant and a.turn_id = s.turn_id and a.state = 'approved'
                         and a.place = any (consent_places(s))), receipt_outcome(s)
        from unkept_effects(p_tenant, p_from, p_until) s) k;
end $$;

-- Keeps the receipts of a turn of which the journal, or all, is about to be deleted. Repeatable.
create function keep_receipts(p_tenant text, p_turn text)
returns void
language sql as $$
    insert into receipts (tenant_id, turn_id, agent_path, step, call_index, number, at, told)
    select s.tenant_id, s.turn_id, s.agent_path, s.step, s.call_index,
           receipt_number(s.turn_id, s.agent_path, s.step, s.call_index), s.started_at, receipt_of(s)
    from steps s
    where s.tenant_id = p_tenant and s.turn_id = p_turn and is_effect(s)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do nothing
$$;

-- Redacts phrases in some fields of an object, and in what was sealed with it: there only in a person's words, as a year
-- that must be forgotten is in every expiry. What is null stays so.
create function redact_fields(p_value jsonb, p_fields text[], p_phrases text[])
returns jsonb
language sql immutable as $$
    select case when jsonb_typeof(p_value) is distinct from 'object' then p_value
        else p_value || (select coalesce(jsonb_object_agg(name, redact_value(p_value -> name, p_phrases)), '{}')
                         from unnest(p_fields) name where p_value ? name)
            || case when p_value ->> 'sealed' like '{%' and exists (
                        select from jsonb_path_query(
                            (p_value ->> 'sealed')::jsonb
                            - '{approver,expiry,expires_at,max_uses,tenant,tool,version}'::text[],
                            '$.** ? (@.type() != "object" && @.type() != "array")') said
                        where says_any(said #>> '{}', p_phrases))
                    then '{"sealed": "[forgotten]"}' else '{}'::jsonb end end
$$;

-- Redacts phrases in the words of a receipt. Its number, times, ids and hashes stay: it is read and checked by them.
create function redact_receipt(p_told jsonb, p_phrases text[])
returns jsonb
language sql immutable as $$
    select redact_fields(p_told, '{asked}', p_phrases) || jsonb_build_object(
        'card', redact_fields(
            case when jsonb_typeof(p_told -> 'card') = 'object' then p_told -> 'card' || jsonb_build_object(
                'decided_by', redact_fields(p_told -> 'card' -> 'decided_by', '{address,name}', p_phrases)) else 'null' end,
            '{summary,text,shown}', p_phrases),
        'consent', redact_fields(p_told -> 'consent', '{}', p_phrases),
        'sent', (select coalesce(jsonb_agg(redact_fields(part, '{to}', p_phrases) order by place), '[]')
                 from jsonb_array_elements(p_told -> 'sent') with ordinality x (part, place)),
        'answer', redact_fields(p_told -> 'answer', '{text,outputs,things}', p_phrases))
$$;
