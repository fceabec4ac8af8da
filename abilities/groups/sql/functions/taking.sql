-- Groups at the door: one round trip for whatever is said or happens in one.

-- Finds the tenant of a group; ids only.
create function find_group(p_channel text, p_account text, p_peer text)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select g.tenant_id from group_chats g where g.channel = p_channel and g.account = p_account and g.peer = p_peer
$$;

-- Takes what was said or happened in a group. p_event: {title, inside, says, addressed, word, name, tells, on, off, unknown};
-- inside null: it is not about our being there; the last three are texts by language. No row if we take no part in it. `outcome`: 'asked' (to take part), 'off', 'left',
-- 'renamed', 'heard' (words that were not for us), 'stranger', 'received'; or 'again'.
create function take_in_group(p_arrival jsonb, p_event jsonb, p_of_person int, p_of_all int)
returns table (outcome text, inbound_id text, duplicate boolean, lane_id text, conversation_id text, refused jsonb,
               interrupts boolean)
language plpgsql as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_group text;
    v_state text;
    v_title text;
    v_asker text;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    -- 1. The group, and whether we are in it.
    select f.tenant_id into v_group from find_group(v.channel, v.account, v.peer) f;
    perform set_config('onevalet.tenant', coalesce(v_group, ''), true);
    select g.state, g.title into v_state, v_title from group_chats g where g.tenant_id = v_group;
    if p_event ->> 'title' <> '' and v_title <> p_event ->> 'title' then
        perform name_group(v_group, p_event ->> 'title');
        outcome := 'renamed';
    end if;
    if not (p_event ->> 'inside')::boolean and v_group is not null then
        update group_chats g set state = 'left', owner_ok = false where g.tenant_id = v_group;
        delete from group_words w where w.tenant_id = v_group;
        outcome := 'left';
    end if;
    if not (p_event ->> 'says')::boolean then
        if outcome is not null then
            return next;
        end if;
        return;
    end if;
    -- 2. Who says it.
    v_asker := known_member(v);
    p_event := p_event || jsonb_build_object('name', coalesce(nullif(p_event ->> 'name', ''), member_name(v_asker), v.user_key));
    outcome := null;
    -- 3. What turns us on or off, and what is said.
    if v_asker is not null and p_event ->> 'word' = 'on' then
        outcome := 'again';
        if ignore_message(v.channel, v.account, v.keys, 'group') then
            outcome := 'asked';
            conversation_id := ask_for_group(v, p_event, v_asker);
        end if;
    elsif v_asker is not null and p_event ->> 'word' = 'off' and v_group is not null then
        outcome := 'again';
        if ignore_message(v.channel, v.account, v.keys, 'group') then
            outcome := 'off';
            conversation_id := leave_group(v_group, v, p_event -> 'off');
        end if;
    elsif v_state = 'on' and not (p_event ->> 'addressed')::boolean then
        outcome := 'heard';
        perform keep_words(v_group, v, p_event ->> 'name');
    elsif v_state = 'on' and v_asker is null then
        outcome := 'stranger';
        conversation_id := tell_unknown_member(v_group, v, p_event);
    elsif v_state = 'on' then
        outcome := 'received';
        select r.inbound_id, r.duplicate, r.lane_id, r.refused, r.interrupts
        into inbound_id, duplicate, lane_id, refused, interrupts
        from receive_messages(jsonb_build_array(from_member(p_arrival, p_event, v_asker)), p_of_person, p_of_all, true) r;
    end if;
    if outcome is not null then
        return next;
    end if;
end $$;

-- Returns the tenant of who wrote in a group; null for nobody who is let in, and for who said STOP.
create function known_member(p_arrival arrival)
returns text
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_arrival.channel, p_arrival.account, p_arrival.user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    return (select i.tenant_id from identities i
            where i.tenant_id = v_tenant and i.id = v_identity and i.admitted <> '' and i.state <> 'stopped'
              and not (p_arrival.listed_only and p_arrival.admit is null and i.admitted in ('open', 'allowlist')));
end $$;

-- Returns the name of a person as a group reads it; null for nobody, and for a person without a name.
create function member_name(p_tenant text)
returns text
language sql stable as $$
    select nullif(btrim(left(regexp_replace(coalesce(nullif(t.name, ''), i.name), '[[:cntrl:]:<>[:space:]]+', ' ', 'g'), 40)), '')
    from tenants t
    left join lateral (select p.name from identities p where p.tenant_id = t.tenant_id and p.name <> ''
                       order by p.created_at, p.id limit 1) i on true
    where t.tenant_id = p_tenant
$$;

-- Returns a member's message as the group's own: it begins with its writer's name, and decides nothing.
create function from_member(p_arrival jsonb, p_event jsonb, p_asker text)
returns jsonb
language sql stable as $$
    select p_arrival || jsonb_build_object(
        'user_key', p_arrival ->> 'peer', 'text', (p_event ->> 'name') || ': ' || (p_arrival ->> 'text'),
        'name', '', 'timezone', '', 'language', '', 'admit', null, 'listed_only', false, 'goes_on', null,
        'command', case when p_arrival -> 'command' ->> 'name' in ('new', 'stop') then p_arrival -> 'command' end,
        'brings', jsonb_build_object('asker', jsonb_build_object('id', p_asker, 'name', p_event ->> 'name')))
$$;

-- Notes that a member wants us in a group, which is a tenant from then on. Returns its conversation.
create function ask_for_group(p_arrival arrival, p_event jsonb, p_asker text)
returns text
language plpgsql as $$
declare
    v_person tenants%rowtype;
    v_group text;
    v_identity text;
    v_on boolean;
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_asker, true);
    select * into v_person from tenants t where t.tenant_id = p_asker;
    select a.tenant_id, a.identity_id into v_group, v_identity
    from admit_identity(p_arrival.channel, p_arrival.account, p_arrival.peer, '', v_person.timezone,
                        p_arrival.new_tenant, p_arrival.new_identity, 'operator', 'guest') a;
    v_conversation := open_conversation(v_group, v_identity, p_arrival.channel, p_arrival.account, p_arrival.peer,
                                        p_arrival.thread, p_arrival.new_conversation);
    update tenants t set language = v_person.language, language_from = ''
    where t.tenant_id = v_group and t.language = '' and not exists (select from group_chats g where g.tenant_id = v_group);
    v_on := exists (select from group_chats g where g.tenant_id = v_group and g.state = 'on');
    insert into group_chats as g (tenant_id, channel, account, peer, thread, title, state, asked_by, asked_key)
    values (v_group, p_arrival.channel, p_arrival.account, p_arrival.peer, p_arrival.thread, p_event ->> 'title', 'asked',
            p_asker, p_arrival.user_key)
    on conflict (tenant_id) do update
    set state = 'asked', asked_by = excluded.asked_by, asked_key = excluded.asked_key, asked_at = clock_timestamp(),
        thread = excluded.thread, attempts = 0, next_attempt_at = clock_timestamp()
    where g.state <> 'on';
    perform name_group(v_group, p_event ->> 'title');
    if v_on then
        perform enqueue(v_group, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_arrival.outbound, 'kind', 'reply', 'text', in_their_language(v_group, p_event -> 'on'))));
    end if;
    return v_conversation;
end $$;

-- Keeps a group's name, which the console shows; the model never sees it as a name of whom it talks to.
create function name_group(p_group text, p_title text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    update group_chats g set title = p_title where g.tenant_id = p_group and p_title <> '';
    update identities i set name = p_title where i.tenant_id = p_group and p_title <> '';
end $$;

-- Turns us off in a group, and says so where that was asked. Returns the conversation.
create function leave_group(p_group text, p_arrival arrival, p_texts jsonb)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    update group_chats g set state = 'off', owner_ok = false where g.tenant_id = p_group;
    delete from group_words w where w.tenant_id = p_group;
    return answer_there(p_group, p_arrival, p_texts);
end $$;

-- Says a sentence of ours, given in every language, in a group, in a topic or thread of it. Returns the conversation; null
-- if it has none.
create function tell_group(p_group text, p_texts jsonb, p_outbound text, p_thread text default '')
returns text
language sql as $$
    select say_there(p_group, jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text',
                                                 in_their_language(p_group, p_texts)), p_thread)
$$;

-- Says such a sentence where a message came, which need not be for a turn. Returns the conversation.
create function answer_there(p_group text, p_arrival arrival, p_texts jsonb)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    perform open_conversation(p_group, i.id, p_arrival.channel, p_arrival.account, p_arrival.peer, p_arrival.thread,
                              p_arrival.new_conversation)
    from identities i where i.tenant_id = p_group and i.channel = p_arrival.channel
      and i.account = p_arrival.account and i.user_key = p_arrival.peer;
    return tell_group(p_group, p_texts, p_arrival.outbound, p_arrival.thread);
end $$;

-- Returns the text for a tenant, of texts by language.
create function in_their_language(p_tenant text, p_texts jsonb)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return coalesce((select p_texts ->> t.language from tenants t where t.tenant_id = p_tenant), p_texts ->> 'en');
end $$;

-- Queues a message for a group, in a topic or thread in which it has talked to us. Returns the conversation; null if it has
-- none.
create function say_there(p_group text, p_message jsonb, p_thread text default '')
returns text
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_group, true);
    select c.id into v_conversation from conversations c join group_chats g on g.tenant_id = c.tenant_id
    where c.tenant_id = p_group and c.peer = g.peer
    order by (c.thread = p_thread) desc, (c.thread = '') desc, c.last_inbound_at desc nulls last, c.created_at, c.id limit 1;
    if v_conversation is not null then
        perform enqueue(p_group, v_conversation, null, jsonb_build_array(p_message));
    end if;
    return v_conversation;
end $$;

-- Keeps the last thirty words of each topic or thread that were not to us, of all three hundred. Losing them with a crash
-- costs only context.
create function keep_words(p_group text, p_arrival arrival, p_name text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    perform set_config('synchronous_commit', 'off', true);
    insert into group_words (tenant_id, provider_id, thread, name, words)
    values (p_group, p_arrival.provider_id, p_arrival.thread, p_name, left(p_arrival.text, 1000)) on conflict do nothing;
    delete from group_words w where w.tenant_id = p_group and w.provider_id in (
        select n.provider_id
        from (select o.provider_id,
                     row_number() over (partition by o.thread order by o.said_at desc, o.provider_id desc) as in_thread,
                     row_number() over (order by o.said_at desc, o.provider_id desc) as in_all
              from group_words o where o.tenant_id = p_group) n
        where n.in_thread > 30 or n.in_all > 300);
end $$;

-- Records the message of somebody unknown without its text, and tells them once how to become known. Returns the
-- conversation in which that is said; null if nothing is.
create function tell_unknown_member(p_group text, p_arrival arrival, p_event jsonb)
returns text
language plpgsql as $$
begin
    perform ignore_message(p_arrival.channel, p_arrival.account, p_arrival.keys, 'unknown');
    if not (p_event ->> 'tells')::boolean or not ignore_message(
        p_arrival.channel, p_arrival.account,
        array['told in ' || p_arrival.peer || ' ' || p_arrival.user_key], 'unknown') then
        return null;
    end if;
    return answer_there(p_group, p_arrival, p_event -> 'unknown');
end $$;

-- The provider moved a group to another address, or made another kind of group of it.
create function move_group(p_channel text, p_account text, p_old text, p_new text)
returns void
language plpgsql as $$
declare
    v_group text;
begin
    select f.tenant_id into v_group from find_group(p_channel, p_account, p_old) f;
    if v_group is null or exists (select from find_group(p_channel, p_account, p_new)) then
        return;
    end if;
    perform set_config('onevalet.tenant', v_group, true);
    update group_chats g set peer = p_new where g.tenant_id = v_group;
    update identities i set user_key = p_new
    where i.tenant_id = v_group and i.channel = p_channel and i.account = p_account and i.user_key = p_old;
end $$;
