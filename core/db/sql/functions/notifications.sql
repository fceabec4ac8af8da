-- Notifications: held, queued, moved elsewhere, and their outcomes.

-- Whether people get news there and cannot answer: push topics, addresses on channels of the operator's own that only send,
-- and email addresses that were only told to us. The account of those who wrote to the assistant's mailbox is its address.
create function is_one_way(p_channel text, p_account text)
returns boolean
language sql immutable as $$
    select p_channel = 'push' or p_account = 'one-way' or (p_channel = 'email' and p_account not like '%@%')
$$;

-- The recipient guard: an identity of this tenant, let in, that may be written to; and an address of that identity, if
-- the provider delivers to the user key itself.
create function may_notify(p_tenant text, p_identity text, p_channel text, p_peer text)
returns boolean
language sql stable as $$
    select exists (
        select 1 from identities i
        where i.tenant_id = p_tenant and i.id = p_identity and i.channel = p_channel
          and i.state = 'active' and i.admitted <> ''
          and (i.user_key = p_peer
               or not (p_channel in ('sms', 'telegram', 'email') or is_one_way(p_channel, i.account))))
$$;

-- Locks the conversations of these places, before anything that is told there.
create function lock_places(p_tenant text, p_places jsonb)
returns void
language sql as $$
    select 1 from conversations c
    where c.tenant_id = p_tenant and c.recipient_id is null and (c.channel, c.account, c.peer, c.thread) in (
        select p.channel, p.account, p.peer, coalesce(p.thread, '')
        from jsonb_to_recordset(p_places) as p (channel text, account text, peer text, thread text))
    order by c.id for no key update
$$;

-- Enqueues a notification to the first place that may be written to: [{identity_id, channel, account, peer, text,
-- actions, media}]. p_from: the state that it must be in, so that two workers enqueue it once. No row if another worker
-- took it; 'nowhere' if no place was left. Repeatable by the outbound id.
create function enqueue_notification(
    p_tenant text, p_id text, p_from text, p_places jsonb, p_outbound text, p_new_conversation text,
    p_now timestamptz, p_fall_back_at timestamptz)
returns table (state text, conversation_id text, channel text)
language plpgsql as $$
declare
    v_note notifications%rowtype;
    v_place jsonb;
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_places(p_tenant, p_places);
    -- The message that did not arrive before its news, as where its provider says so.
    perform 1 from outbound o join notifications n on n.tenant_id = o.tenant_id and n.outbound_id = o.id
    where n.tenant_id = p_tenant and n.id = p_id for no key update of o;
    select * into v_note from notifications n where n.tenant_id = p_tenant and n.id = p_id for update;
    if v_note.outbound_id = p_outbound then
        return query select v_note.state, c.id, c.channel from conversations c
        where c.tenant_id = p_tenant and c.id = v_note.conversation_id;
        return;
    end if;
    if v_note.id is null or v_note.state <> p_from then
        return;
    end if;
    if v_note.traceparent is not null then
        perform set_config('onevalet.trace', v_note.traceparent, true);
    end if;
    for v_place in select * from jsonb_array_elements(p_places) loop
        continue when not may_notify(p_tenant, v_place ->> 'identity_id', v_place ->> 'channel', v_place ->> 'peer');
        v_conversation := open_conversation(
            p_tenant, v_place ->> 'identity_id', v_place ->> 'channel', v_place ->> 'account', v_place ->> 'peer',
            coalesce(v_place ->> 'thread', ''), p_new_conversation);
        -- Another identity may have had this address before: the conversation must belong to this one.
        continue when not exists (
            select 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation
              and c.identity_id = v_place ->> 'identity_id');
        perform enqueue(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound, 'kind', 'notification', 'text', v_place ->> 'text', 'actions', v_place -> 'actions',
            'media', v_place -> 'media')));
        -- Nobody has to decide about the message that did not arrive, or may still be reported as not delivered.
        update outbound o set resolution = 'elsewhere'
        where o.tenant_id = p_tenant and o.id = v_note.outbound_id and o.resolution = '';
        update notifications n
        set state = 'queued', reason = '', conversation_id = v_conversation, outbound_id = p_outbound,
            tried = n.tried || (v_place ->> 'identity_id'), queued_at = coalesce(n.queued_at, p_now),
            fall_back_at = p_fall_back_at, sent_at = null
        where n.tenant_id = p_tenant and n.id = p_id;
        return query select 'queued', v_conversation, v_place ->> 'channel';
        return;
    end loop;
    update notifications n
    set state = case when n.state = 'sent' then 'sent' else 'nowhere' end, fall_back_at = null,
        reason = case when n.reason = '' then 'there is no place to reach this person' else n.reason end
    where n.tenant_id = p_tenant and n.id = p_id;
    return query select 'nowhere', '', '';
end $$;

-- Stores a notification. One with the same content since p_same_since makes it a 'duplicate', with the id of the first.
-- Otherwise it is held until p_not_before, muted, or (p_state 'queued') enqueued at once. Repeatable by its id.
create function keep_notification(
    p_tenant text, p_note jsonb, p_state text, p_not_before timestamptz, p_same_since timestamptz, p_places jsonb,
    p_now timestamptz, p_fall_back_at timestamptz)
returns table (state text, id text, conversation_id text, channel text)
language plpgsql as $$
declare
    v_known text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_note ->> 'traceparent' is not null then
        perform set_config('onevalet.trace', p_note ->> 'traceparent', true);
    end if;
    -- Serialises two concurrent notifications with the same content.
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    if exists (select 1 from notifications n where n.tenant_id = p_tenant and n.id = p_note ->> 'id') then
        return query select n.state, n.id, coalesce(c.id, ''), coalesce(c.channel, '') from notifications n
        left join conversations c on c.tenant_id = n.tenant_id and c.id = n.conversation_id
        where n.tenant_id = p_tenant and n.id = p_note ->> 'id';
        return;
    end if;
    select n.id into v_known from notifications n
    where n.tenant_id = p_tenant and n.dedupe_key = p_note ->> 'dedupe_key' and n.at > p_same_since
      and n.state not in ('muted', 'nowhere')
    order by n.at limit 1;
    if v_known is not null then
        update notifications n set repeats = n.repeats + 1 where n.tenant_id = p_tenant and n.id = v_known;
        return query select 'duplicate', v_known, '', '';
        return;
    end if;
    insert into notifications (tenant_id, id, category, urgency, title, text, actions, media, dedupe_key, task_id,
                               run_id, wanted, state, at, not_before, outside)
    values (p_tenant, p_note ->> 'id', p_note ->> 'category', p_note ->> 'urgency', p_note ->> 'title',
            p_note ->> 'text', p_note -> 'actions', p_note -> 'media', p_note ->> 'dedupe_key', p_note ->> 'task_id',
            p_note ->> 'run_id', p_note ->> 'conversation_id',
            case when p_state = 'queued' then 'held' else p_state end, p_now, coalesce(p_not_before, p_now),
            coalesce((p_note ->> 'outside')::boolean, false));
    if p_state <> 'queued' then
        return query select p_state, p_note ->> 'id', '', '';
        return;
    end if;
    return query select o.state, p_note ->> 'id', o.conversation_id, o.channel
    from enqueue_notification(p_tenant, p_note ->> 'id', 'held', p_places, p_note ->> 'outbound',
                              p_note ->> 'new_conversation', p_now, p_fall_back_at) o;
end $$;

-- Makes one notification of several held ones, and enqueues it. No row if another worker took one of them first.
create function enqueue_digest(
    p_tenant text, p_ids text[], p_note jsonb, p_places jsonb, p_outbound text, p_new_conversation text,
    p_now timestamptz, p_fall_back_at timestamptz)
returns table (state text, id text, conversation_id text, channel text)
language plpgsql as $$
declare
    v_held int;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    perform lock_places(p_tenant, p_places);
    if not exists (select 1 from notifications n where n.tenant_id = p_tenant and n.id = p_note ->> 'id') then
        select count(*) into v_held from notifications n
        where n.tenant_id = p_tenant and n.id = any (p_ids) and n.state = 'held';
        if v_held <> cardinality(p_ids) then
            return;
        end if;
        update notifications n set state = 'digested', digest_id = p_note ->> 'id'
        where n.tenant_id = p_tenant and n.id = any (p_ids);
    end if;
    return query select * from keep_notification(
        p_tenant, p_note || jsonb_build_object('outbound', p_outbound, 'new_conversation', p_new_conversation), 'queued',
        null, p_now, p_places, p_now, p_fall_back_at);
end $$;

-- Finds people whose held notifications are due, without p_without: people that failed lately are left out of the
-- limited result, so that many of them do not starve the rest. During a halt none is due: quiet hours are asked after it.
create function find_held(p_now timestamptz, p_limit int, p_without text[])
returns table (tenant_id text, held bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select n.tenant_id, count(*) from notifications n
    where n.state = 'held' and n.not_before <= p_now and n.tenant_id <> all (p_without) and not is_halted()
    group by n.tenant_id order by min(n.not_before) limit p_limit
$$;

-- Finds notifications to be moved elsewhere: failed; tried in vain for p_stuck (the database's time) with no call under
-- way; or the person has neither written nor decided anything since it arrived. Without the notifications of p_without,
-- and without those that cannot be withdrawn since a part of them has been sent.
create function find_undelivered(p_now timestamptz, p_stuck interval, p_limit int, p_without text[])
returns table (tenant_id text, notification_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    (select n.tenant_id, n.id from notifications n
     where n.state = 'failed' and n.id <> all (p_without) and not is_halted() limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     join outbound o on o.tenant_id = n.tenant_id and o.id = n.outbound_id
     where n.state = 'queued' and o.state = 'ready' and o.attempts > 0 and o.owner is null
       and since_halt(o.created_at) < clock_timestamp() - p_stuck and n.id <> all (p_without) and not is_halted()
       and not exists (select 1 from outbound_parts e where e.tenant_id = o.tenant_id and e.outbound_id = o.id
                       and e.state in ('sent', 'ambiguous', 'checking', 'sending'))
       -- There is another place that has not been tried; otherwise this one keeps being tried.
       and exists (select 1 from identities i where i.tenant_id = n.tenant_id and i.state = 'active'
                   and i.admitted <> '' and i.id <> all (n.tried))
     limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     where n.state = 'sent' and n.fall_back_at <= p_now and n.id <> all (p_without) and not is_halted()
       and not exists (select 1 from conversations c where c.tenant_id = n.tenant_id and c.last_inbound_at > n.sent_at)
       and not exists (select 1 from approvals a where a.tenant_id = n.tenant_id and a.decided_at > n.queued_at
                       and a.decided_by <> '')
     limit p_limit)
$$;

-- Withdraws a message that is not being sent, so that it can go elsewhere: its state becomes failed.
create function withdraw_notification(p_tenant text, p_id text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update outbound o set state = 'failed', reason = 'it went elsewhere'
    from notifications n
    where n.tenant_id = p_tenant and n.id = p_id and n.state = 'queued'
      and o.tenant_id = n.tenant_id and o.id = n.outbound_id and o.state = 'ready' and o.owner is null
      and not exists (select 1 from outbound_parts e where e.tenant_id = o.tenant_id and e.outbound_id = o.id
                      and e.state in ('sent', 'ambiguous', 'checking', 'sending'));
    return found;
end $$;

-- Materialized: see claim_next_event.
create function prune_notifications(p_before timestamptz, p_limit int)
returns table (pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.id from notifications o
            where o.at < p_before and o.state not in ('held', 'queued', 'failed')
            order by o.at limit p_limit for update skip locked),
    gone as (
        delete from notifications n using old o
        where n.tenant_id = o.tenant_id and n.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

-- Returns the conversation that remembers news: the one that they are sent to, or where its channel only sends, the one
-- in which the person wrote last.
create function told_in(p_tenant text, p_conversation text)
returns text
language sql stable as $$
    select h.id from conversations c
    left join lateral (
        select o.id from conversations o
        where o.tenant_id = c.tenant_id
          and case when is_one_way(c.channel, c.account)
                    then not is_one_way(o.channel, o.account) and o.thread = '' and o.last_inbound_at is not null
                   else o.id = c.id end
        order by o.last_inbound_at desc nulls last limit 1) h on true
    where c.tenant_id = p_tenant and c.id = p_conversation
$$;

-- Locks the conversation that will remember news, before the message that brings them is locked for its sender.
create function lock_told(p_tenant text, p_outbound text)
returns void
language plpgsql as $$
declare
    v_conversation text;
begin
    select told_in(o.tenant_id, o.conversation_id) into v_conversation from outbound o
    where o.tenant_id = p_tenant and o.id = p_outbound and o.kind = 'notification';
    if v_conversation is not null then
        perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    end if;
end $$;

-- A name as the model reads it outside of data: letters, digits and what joins them, and not many.
create function quote_name(p_name text)
returns text
language sql immutable as $$
    select left(regexp_replace(p_name, '[^[:alnum:] .''-]', '', 'g'), 40)
$$;

-- Applies the outcome of a notification's message. Once sent it is part of the history: of its conversation or, if that
-- cannot be answered (push, email), of the one that the person wrote in last. A notification that was given up with an
-- unknown outcome moves on to the next place like a failed one: a reminder that may arrive twice does less harm than
-- one that does not arrive. It is in the history all the same, since the person may have read it.
create or replace function note_notification()
returns trigger
language plpgsql as $$
declare
    v_note notifications%rowtype;
    v_conversation text;
    v_seq bigint;
begin
    update notifications n
    set state = case when new.state = 'sent' then 'sent' else 'failed' end, reason = new.reason,
        sent_at = case when new.state = 'sent' then clock_timestamp() end,
        fall_back_at = n.fall_back_at + (clock_timestamp() - new.created_at)
    where n.tenant_id = new.tenant_id and n.outbound_id = new.id and n.state = 'queued'
    returning * into v_note;
    if v_note.id is null or new.state = 'failed' then
        return null;
    end if;
    -- The provider may tell that it did not arrive before we know that it was taken.
    update notifications n set state = 'failed', reason = 'undelivered ' || e.error_code
    from outbound_parts e
    where e.tenant_id = new.tenant_id and e.outbound_id = new.id and e.status in ('undelivered', 'failed')
      and n.tenant_id = new.tenant_id and n.id = v_note.id and n.state = 'sent';
    v_conversation := told_in(new.tenant_id, new.conversation_id);
    update conversations c set history_seq = c.history_seq + 2
    where c.tenant_id = new.tenant_id and c.id = v_conversation returning c.history_seq into v_seq;
    insert into history (tenant_id, conversation_id, position, session, message)
    select c.tenant_id, c.id, v_seq - 2 + m.position, c.session, m.value
    from conversations c, jsonb_array_elements(jsonb_build_array(
        jsonb_build_object('role', 'user', 'internal', true, 'text',
            '[Not from the person: they were just sent a notification of the kind ' || v_note.category
            || case when v_note.title <> '' then ', ' || case when v_note.outside then quote_name(v_note.title)
                                                             else v_note.title end else '' end
            || case when v_note.outside and v_note.notice = 'answered'
                    then '. It has words of others, which are left out here: read_answers reads what people answered'
                    when v_note.outside then '. It has words of others, which are left out here: tools read them again'
                    else '' end || '.]'),
        jsonb_build_object('role', 'assistant', 'text', case when v_note.outside then '(A notification.)'
                                                             else v_note.text end))) with ordinality as m (value, position)
    where c.tenant_id = new.tenant_id and c.id = v_conversation;
    return null;
end $$;

create or replace trigger outbound_notification after update of state on outbound
    for each row when (new.kind = 'notification' and old.state is distinct from new.state
                       and new.state in ('sent', 'ambiguous', 'failed'))
    execute function note_notification();

-- A provider's late callback that it did not arrive.
create or replace function note_notification_undelivered()
returns trigger
language plpgsql as $$
begin
    update notifications n set state = 'failed', reason = 'undelivered ' || new.error_code
    where n.tenant_id = new.tenant_id and n.outbound_id = new.outbound_id and n.state = 'sent';
    return null;
end $$;

create or replace trigger outbound_part_undelivered after update of status on outbound_parts
    for each row when (old.status is distinct from new.status and new.status in ('undelivered', 'failed'))
    execute function note_notification_undelivered();

-- When a person changes their quiet hours, held notifications are scheduled again.
create or replace function reconsider_held()
returns trigger
language plpgsql as $$
begin
    update notifications n set not_before = '-infinity' where n.tenant_id = new.tenant_id and n.state = 'held';
    return null;
end $$;

create or replace trigger tenants_reconsider after update of quiet_from, quiet_until, timezone, muted on tenants
    for each row when ((old.quiet_from, old.quiet_until, old.timezone, old.muted)
          is distinct from (new.quiet_from, new.quiet_until, new.timezone, new.muted))
    execute function reconsider_held();

-- Promise 8: a person who can no longer be reached in one place is told so on another channel, never on the same one.
-- A person who unlinked the place knows.
create or replace function tell_elsewhere()
returns trigger
language plpgsql as $$
begin
    if not exists (select 1 from identities i where i.tenant_id = new.tenant_id and i.id <> new.id
                   and i.state = 'active' and i.admitted <> '' and i.channel not in ('terminal', 'mcp', new.channel)) then
        return null;
    end if;
    insert into notifications (tenant_id, id, category, urgency, notice, notice_channel, text, dedupe_key, state, at,
                               not_before, tried)
    values (new.tenant_id, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'reach', 'normal',
            new.state, new.channel, '', 'reach:' || new.id || ':' || new.state, 'held', clock_timestamp(), '-infinity',
            array(select i.id from identities i where i.tenant_id = new.tenant_id and i.channel = new.channel));
    return null;
end $$;

create or replace trigger identities_unreachable after update of state on identities for each row
    when (old.state = 'active' and new.state in ('stopped', 'blocked') and new.admitted <> ''
          and new.state_reason <> 'unlinked')
    execute function tell_elsewhere();

-- What was not said yet about a place that can be reached again holds no more.
create or replace function drop_reach()
returns trigger
language plpgsql as $$
begin
    update notifications n set state = 'muted', reason = 'it can be reached again'
    where n.tenant_id = new.tenant_id and n.state = 'held' and n.category = 'reach'
      and n.dedupe_key like 'reach:' || new.id || ':%';
    return null;
end $$;

create or replace trigger identities_reachable after update of state on identities for each row
    when (old.state in ('stopped', 'blocked') and new.state = 'active') execute function drop_reach();

-- A task's card that was sent is announced by push and email too: that it waits, and in which chat. It cannot be
-- decided there. Once it is decided there is nothing to announce.
create or replace function tell_of_card()
returns trigger
language plpgsql as $$
begin
    if new.state <> 'pending' then
        update notifications n set state = 'muted', reason = new.state
        where n.tenant_id = new.tenant_id and n.dedupe_key = 'card:' || new.id and n.state = 'held';
        return null;
    end if;
    insert into notifications (tenant_id, id, category, urgency, notice, notice_channel, text, dedupe_key, state, at,
                               not_before, aside)
    select new.tenant_id, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'approval', 'normal',
           'approval', c.channel, literal(new.summary), 'card:' || new.id, 'held', clock_timestamp(), '-infinity', true
    from conversations c
    where c.tenant_id = new.tenant_id and c.id = new.conversation_id
      and exists (select 1 from identities i where i.tenant_id = new.tenant_id and is_one_way(i.channel, i.account)
                  and i.state = 'active');
    return null;
end $$;

create or replace trigger approvals_told after update of expires_at, state on approvals for each row
    when (new.source = 'trigger' and (old.expires_at is null and new.expires_at is not null
                                      or old.state = 'pending' and new.state <> 'pending'))
    execute function tell_of_card();

create function find_held_cards(p_limit int)
returns table (tenant_id text, outbound_id text, approval_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select o.tenant_id, o.id, k.approval_id from outbound o
    join approval_cards k on k.tenant_id = o.tenant_id and k.outbound_id = o.id
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending'
    where o.state = 'held' and not is_halted() limit p_limit
$$;

-- Returns (tenant, outbound) of answers that have been retried for so long, of people with another place: they are told
-- there, once in six hours per conversation. Notifications move elsewhere by themselves.
create function find_delayed(p_after interval, p_limit int)
returns table (tenant_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select o.tenant_id, o.id from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.state in ('ready', 'sending', 'checking') and o.kind <> 'notification' and not o.regardless
      and o.delay_told_at is null
      and not is_halted()
      and exists (select 1 from deliveries d where d.tenant_id = o.tenant_id and d.outbound_id = o.id
                  and since_halt(d.started_at) < clock_timestamp() - p_after)
      and not exists (select 1 from outbound e where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id
                      and e.delay_told_at > clock_timestamp() - interval '6 hours')
      and exists (select 1 from identities i where i.tenant_id = o.tenant_id and i.state = 'active'
                  and i.admitted <> '' and i.id <> c.identity_id)
    order by o.created_at limit p_limit
$$;
