-- Reactions to our messages. One to a card comes in as a press (decisions.sql); what is left is received here.

-- Finds the message that a person reacts to in their own chat: by the provider's id of a part, or by its words as their
-- phone quotes them, of which p_cut says that the end is missing. Cards come first, then what was sent last. `tokens` and
-- `codes`, in the same order, are those of all cards that fit; `hows` says how they were decided. `at_end`: the part is the
-- card's last. `missed`: quotes of an hour in this chat that fitted nothing, with which somebody may guess codes.
create function reacted_message(p_arrival jsonb, p_message text, p_quote text, p_cut boolean)
returns table (outbound_id text, provider_id text, thread text, at_end boolean, tokens text[], codes text[], hows text[],
               missed bigint)
language plpgsql stable as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_refs text[];
begin
    select f.tenant_id into v_tenant from find_identity(v.channel, v.account, v.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    if p_message <> '' then
        v_refs := array(select e.ref from outbound_parts e
                        where e.tenant_id = v_tenant and e.provider_id = p_message and e.provider_id <> '');
    elsif p_quote <> '' then
        v_refs := array(
            select l.ref from (
                select e.ref, btrim(regexp_replace(e.text, '\s+', ' ', 'g')) as words from conversations c
                join outbound o on o.tenant_id = c.tenant_id and o.conversation_id = c.id
                join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id and e.provider_id <> ''
                where c.tenant_id = v_tenant and c.channel = v.channel and c.account = v.account and c.peer = v.peer
                  and c.recipient_id is null and o.created_at > clock_timestamp() - interval '30 days'
                order by o.created_at desc limit 200) l
            where l.words = p_quote or (p_cut and starts_with(l.words, p_quote)));
    end if;
    return query
    with met as (
        select o.id, e.provider_id, c.thread, o.created_at, a.token, a.code, a.decided_how,
               e.part = (select max(n.part) from outbound_parts n
                         where n.tenant_id = e.tenant_id and n.outbound_id = e.outbound_id) as is_last
        from outbound_parts e
        join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
        join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
        left join approval_cards k on k.tenant_id = o.tenant_id and k.outbound_id = o.id and k.role = 'card'
        left join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
        where e.tenant_id = v_tenant and e.ref = any (v_refs) and c.channel = v.channel and c.account = v.account
          and c.peer = v.peer and c.recipient_id is null)
    select m.id, m.provider_id, m.thread, m.is_last,
           array(select n.token from met n where n.token is not null group by n.token order by n.token),
           array(select min(n.code) from met n where n.token is not null group by n.token order by n.token),
           array(select min(n.decided_how) from met n where n.token is not null group by n.token order by n.token),
           case when p_quote = '' then 0 else (
               select count(*) from inbound i
               join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
               where c.tenant_id = v_tenant and c.channel = v.channel and c.account = v.account and c.peer = v.peer
                 and i.reason = 'reaction: unknown' and i.received_at > clock_timestamp() - interval '1 hour') end
    from met m order by m.token is null, m.created_at desc limit 1;
end $$;

-- Receives a reaction that is no press: p_message is the outbound message that it is on, null if that is not known.
-- p_change: `why` it decides nothing, the `tokens` of the cards that fit it, and what abilities keep of it (`added`,
-- `removed`, `at`). Of a stranger, nothing but its keys is stored.
create function receive_reaction(p_arrival jsonb, p_message text, p_change jsonb, p_now timestamptz)
returns table (inbound_id text, duplicate boolean, conversation_id text)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_tenant text;
    v_conversation text;
    v_about jsonb;
begin
    select r.inbound_id, r.duplicate, r.tenant_id into inbound_id, duplicate, v_tenant from receive_message(p_arrival) r;
    if inbound_id is null then
        inbound_id := (v.keys)[1];
        duplicate := not ignore_message(v.channel, v.account, v.keys, 'reaction');
        return next;
        return;
    end if;
    update inbound i set state = 'done', reason = 'reaction: ' || (p_change ->> 'why')
    where i.tenant_id = v_tenant and i.id = v.id and i.state = 'waiting' returning i.conversation_id into v_conversation;
    if v_conversation is not null then
        -- Abilities keep it by their sql/reacted.sql.
        select jsonb_agg(about_approval(v_tenant, a.id, 'needs_code') order by a.created_at, a.id) into v_about
        from approvals a where a.tenant_id = v_tenant and a.state = 'pending'
          and a.token in (select jsonb_array_elements_text(p_change -> 'tokens'));
        if p_change ->> 'why' = 'several' and v_about is not null then
            conversation_id := v_conversation;
            perform enqueue(v_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
                'id', v.outbound, 'kind', 'receipt',
                'sentences', jsonb_build_array(jsonb_build_object('key', 'several', 'values', '{}'::jsonb)) || v_about)));
        end if;
        perform mark_channel(v.channel, v.account, true);
    end if;
    return next;
end $$;
