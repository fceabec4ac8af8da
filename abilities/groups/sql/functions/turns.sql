-- A turn in a group is the group's: row-level security keeps all that is any member's from it. What concerns a member's own
-- things goes on in their own chat, as their own turn, by their own words alone.

-- Returns what a turn in a group begins with: {tools, note, words}; null for any other turn. words: the last thirty that were
-- not for us, of a day: those of its topic or thread, with the message under which a thread stands.
create function group_turn(p_tenant text, p_thread text default '')
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        -- The group's own memory, lists and reminders, what is public, and the way to a member's chat.
        'tools', '["add_to_list", "show_list", "tick_off", "remove_from_list", "rename_list", "delete_list", "add_note", "list_notes",
                   "forget_note", "remember", "search_memory", "list_memories", "correct_memory", "get_weather", "web_search",
                   "read_page", "calculate", "current_time", "ask_in_own_chat", "remind_group", "list_tasks",
                   "stop_task"]'::jsonb,
        'note', 'This is a group: several people read what you say. Each message begins with the name of its writer, which '
            'is a name and nothing else. Memory, lists and reminders here are the group''s own: "remind us" is for '
            'remind_group, "remind me" for ask_in_own_chat. You know nothing of any member''s own '
            'things, and never act for a member here: for their mail, calendar, accounts, tasks or private matters, or for '
            'what needs consent, call ask_in_own_chat with the writer''s name, before anything else.',
        'words', (select string_agg(w.name || ': ' || w.words, chr(10) order by w.said_at, w.provider_id)
                  from (select o.* from group_words o
                        where o.tenant_id = p_tenant and o.said_at > clock_timestamp() - interval '1 day'
                          and (o.thread = coalesce(p_thread, '') or o.provider_id = p_thread)
                        order by o.said_at desc, o.provider_id desc limit 30) w))
    from group_chats g where g.tenant_id = p_tenant
$$;

-- Hands a member's own message of a turn in a group to their own assistant, in their own chat: the words as they wrote them,
-- with what they point at. {outcome, name, lane, conversation}: 'asked'; or 'unknown' (nobody of that name asks), 'gone' (they
-- are let in no longer), 'nowhere' (they have no chat of their own). p_new: ids {inbound, outbound, conversation}; p_told: the
-- text, by language, that comes before their turn, with {group} and {words}. A repeat asks once.
create function ask_in_own_chat(p_group text, p_turn text, p_name text, p_new jsonb, p_told jsonb)
returns jsonb
language plpgsql as $$
declare
    v_asked record;
    v_title text;
    v_home record;
    v_in record;
begin
    perform set_config('onevalet.tenant', p_group, true);
    select g.title into v_title from group_chats g where g.tenant_id = p_group and g.state = 'on';
    select a.asker, a.name, i.id, substr(i.text, length(a.name) + 3) as words, i.points, i.media, i.origin, c.channel,
           c.thread
    into v_asked
    from group_askers a
    join inbound i on i.tenant_id = a.tenant_id and i.id = a.inbound_id
    join turns t on t.tenant_id = a.tenant_id and t.id = p_turn and t.conversation_id = i.conversation_id
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    where a.tenant_id = p_group and lower(a.name) = lower(btrim(p_name)) and (i.turn_id = p_turn or i.state = 'waiting')
    order by i.seq desc limit 1;
    if v_title is null or v_asked.asker is null then
        return jsonb_build_object('outcome', 'unknown');
    end if;
    perform lock_person(v_asked.asker, false);
    perform set_config('onevalet.tenant', v_asked.asker, true);
    select c.*, i.user_key into v_home from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id and i.admitted <> '' and i.state = 'active'
    where c.tenant_id = v_asked.asker and c.id = home_conversation(v_asked.asker, v_asked.channel);
    if v_home.id is null then
        return jsonb_build_object('outcome', case when exists (select from tenants t where t.tenant_id = v_asked.asker)
                                                  then 'nowhere' else 'gone' end, 'name', v_asked.name);
    end if;
    select * into v_in from receive_message(jsonb_build_object(
        'channel', v_home.channel, 'account', v_home.account, 'peer', v_home.peer, 'thread', v_home.thread,
        'user_key', v_home.user_key, 'keys', jsonb_build_array('group ' || v_asked.id), 'id', p_new ->> 'inbound',
        'text', v_asked.words, 'media', case when v_home.channel = v_asked.channel then v_asked.media else '[]' end,
        'origin', v_asked.origin, 'provider_id', '', 'reply_to', '', 'listed_only', false, 'new_conversation', p_new ->> 'conversation',
        'points', v_asked.points || jsonb_build_array(
            jsonb_build_object('text', v_title, 'whose', 'group', 'part', '', 'files', 0))));
    if v_in.inbound_id is null then
        return jsonb_build_object('outcome', 'gone', 'name', v_asked.name);
    end if;
    if not v_in.duplicate then
        insert into group_requests (tenant_id, inbound_id, group_id, thread)
        values (v_asked.asker, v_in.inbound_id, p_group, v_asked.thread) on conflict do nothing;
        perform enqueue(v_asked.asker, v_home.id, null, jsonb_build_array(jsonb_build_object(
            'id', p_new ->> 'outbound', 'kind', 'receipt', 'text', replace(replace(
                in_their_language(v_asked.asker, p_told), '{words}', literal(left(v_asked.words, 200))), '{group}', literal(v_title)))));
    end if;
    return jsonb_build_object('outcome', 'asked', 'name', v_asked.name, 'lane', v_in.lane_id, 'conversation', v_home.id);
end $$;

-- Says in a group what a member has approved, from their own chat: in the group from which their last request there came, if
-- it is named so, in the topic or thread of that request. {outcome, conversation}: 'said'; or 'none' (no such group), 'off'.
create function say_in_group(p_tenant text, p_turn text, p_title text, p_text text, p_outbound text)
returns jsonb
language plpgsql as $$
declare
    v_group text;
    v_thread text;
    v_title text;
    v_state text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select r.group_id, r.thread into v_group, v_thread from group_requests r
    join inbound i on i.tenant_id = r.tenant_id and i.id = r.inbound_id
    join turns t on t.tenant_id = r.tenant_id and t.id = p_turn and t.conversation_id = i.conversation_id
    where r.tenant_id = p_tenant and r.at > clock_timestamp() - interval '7 days'
    order by r.at desc, r.inbound_id desc limit 1;
    perform set_config('onevalet.tenant', coalesce(v_group, ''), true);
    select g.title, g.state into v_title, v_state from group_chats g where g.tenant_id = v_group;
    if v_title is null or lower(v_title) <> lower(btrim(p_title)) then
        return jsonb_build_object('outcome', 'none', 'title', v_title);
    elsif v_state <> 'on' then
        return jsonb_build_object('outcome', 'off', 'title', v_title);
    end if;
    return jsonb_build_object('outcome', 'said', 'title', v_title, 'conversation', say_there(
        v_group, jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text), v_thread));
end $$;

-- Returns the topic or thread of a turn in a group, empty outside of any; null for any other turn.
create function group_thread(p_tenant text, p_turn text)
returns text
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select c.thread from group_chats g
            join turns t on t.tenant_id = g.tenant_id and t.id = p_turn
            join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
            where g.tenant_id = p_tenant);
end $$;

-- Says a reminder of a group's own in it. {outcome, conversation}: 'said'; or 'off': we take part there no longer.
create function remind_there(p_group text, p_thread text, p_text text, p_outbound text)
returns jsonb
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_group, true);
    if not exists (select from group_chats g where g.tenant_id = p_group and g.state = 'on') then
        return jsonb_build_object('outcome', 'off');
    end if;
    return jsonb_build_object('outcome', 'said', 'conversation', say_there(
        p_group, jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text), p_thread));
end $$;

-- Deletes others' words that are older than a day.
create function prune_group_words()
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_gone int;
begin
    delete from group_words w where w.said_at <= clock_timestamp() - interval '1 day';
    get diagnostics v_gone = row_count;
    return v_gone;
end $$;
