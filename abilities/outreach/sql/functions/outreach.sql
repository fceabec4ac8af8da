-- Messages to other people on a person's behalf, and what they answer. An address is a channel, an account of ours and a
-- user key, as an identity's.

-- Queues a message, with ids for what may have to be made; returns its conversation. p_to: {channel, account, peer,
-- user_key, name}; p_ids: {recipient, conversation, outbound}. Repeatable by the outbound id.
create function send_outreach(p_tenant text, p_turn text, p_to jsonb, p_ids jsonb, p_text text, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_recipient text;
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id into v_conversation from outbound o
    where o.tenant_id = p_tenant and o.id = p_ids ->> 'outbound';
    if v_conversation is not null then
        return v_conversation;
    end if;
    -- One at a time, so that two calls make one recipient.
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select r.id into v_recipient from recipients r
    where r.tenant_id = p_tenant and r.channel = p_to ->> 'channel' and r.account = p_to ->> 'account'
      and r.user_key = p_to ->> 'user_key'
    order by r.written_at desc limit 1;
    if v_recipient is null then
        v_recipient := p_ids ->> 'recipient';
        insert into recipients (tenant_id, id, channel, account, user_key, written_at)
        values (p_tenant, v_recipient, p_to ->> 'channel', p_to ->> 'account', p_to ->> 'user_key', p_now);
    end if;
    update recipients r set name = p_to ->> 'name', written_at = p_now, open = true, answers = 0
    where r.tenant_id = p_tenant and r.id = v_recipient;
    insert into conversations (tenant_id, id, recipient_id, channel, account, peer)
    values (p_tenant, p_ids ->> 'conversation', v_recipient, p_to ->> 'channel', p_to ->> 'account', p_to ->> 'peer')
    on conflict (tenant_id, channel, account, peer, thread, recipient_id) do nothing;
    select c.id into v_conversation from conversations c
    where c.tenant_id = p_tenant and c.recipient_id = v_recipient and c.peer = p_to ->> 'peer';
    perform enqueue(p_tenant, v_conversation, p_turn, jsonb_build_array(jsonb_build_object(
        'id', p_ids ->> 'outbound', 'kind', 'outreach', 'text', p_text)));
    return v_conversation;
end $$;

-- Returns whether whoever reads at an address knows that a message comes from this person: theirs was the last one that
-- arrived there, since p_since.
create function knows_writer(p_tenant text, p_channel text, p_account text, p_user_key text, p_since timestamptz)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select coalesce((
        select r.tenant_id = p_tenant and r.written_at > p_since from recipients r
        where r.channel = p_channel and r.account = p_account and r.user_key = p_user_key
          and exists (select from conversations c
                      join outbound o on o.tenant_id = c.tenant_id and o.conversation_id = c.id
                      where c.tenant_id = r.tenant_id and c.recipient_id = r.id and o.state = 'sent')
        order by r.written_at desc limit 1), false)
$$;

-- Returns whether a message may be an answer to somebody's message to its sender: any message of an address that is
-- nobody's, and of a person's only what replies to that message, by the provider's word. A way in is never one.
create function awaits_outreach(p_arrival arrival, p_known boolean)
returns boolean
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
    if coalesce(p_arrival.command ->> 'name', '') in ('start', 'link') then
        return false;
    end if;
    if p_known then
        return exists (select from replied_recipient(p_arrival));
    end if;
    return exists (select from recipients r where r.channel = p_arrival.channel and r.account = p_arrival.account
                   and r.user_key = p_arrival.user_key and r.open);
end $$;

-- Returns the recipient whose message is replied to, or in whose thread something is said.
create function replied_recipient(p_arrival arrival)
returns table (tenant_id text, recipient_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select r.tenant_id, r.id from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id and o.kind = 'outreach'
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join recipients r on r.tenant_id = c.tenant_id and r.id = c.recipient_id
    where e.provider_id <> '' and e.provider_id in (p_arrival.reply_to, p_arrival.thread)
      and r.channel = p_arrival.channel and r.account = p_arrival.account and r.user_key = p_arrival.user_key
    order by r.written_at desc limit 1
$$;

-- Takes in a message as an answer: stored without its sender becoming anybody, and told to whoever wrote last, or whose
-- message it replies to. p_state: the message opts out or in again. Returns 'taken', 'duplicate', 'too_many' (kept
-- without its text), or 'none': no answer is waited for since p_since.
create function take_answer(
    p_arrival jsonb, p_text text, p_state text, p_now timestamptz, p_since timestamptz, p_limit int,
    out outcome text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v arrival := jsonb_populate_record(null::arrival, p_arrival);
    v_known boolean;
    v_tenant text;
    v_recipient text;
    v_name text;
    v_answers int;
begin
    if v.traceparent is not null then
        perform set_config('onevalet.trace', v.traceparent, true);
    end if;
    -- 1. A message that is known does nothing, and what is open ends with its time.
    v_known := exists (select from directory d join identities i on i.tenant_id = d.person and i.id = d.identity_id
                       where d.channel = v.channel and d.account = v.account and d.user_key = v.user_key
                         and i.admitted <> '');
    if exists (select from ignored_messages g where g.channel = v.channel and g.account = v.account
               and g.key = any (v.keys) and g.reason = 'answer') then
        outcome := 'duplicate';
        return;
    end if;
    update recipients r set open = false
    where r.channel = v.channel and r.account = v.account and r.user_key = v.user_key and r.open
      and r.written_at <= p_since;
    -- 2. Find who was written to, if an answer of this address is waited for.
    if not awaits_outreach(v, v_known) then
        outcome := 'none';
        return;
    end if;
    select f.tenant_id, f.recipient_id into v_tenant, v_recipient from replied_recipient(v) f;
    if v_tenant is null then
        select r.tenant_id, r.id into v_tenant, v_recipient from recipients r
        where r.channel = v.channel and r.account = v.account and r.user_key = v.user_key and r.open
        order by r.written_at desc limit 1;
    end if;
    -- 3. Take it, once.
    if not ignore_message(v.channel, v.account, v.keys, 'answer') then
        outcome := 'duplicate';
        return;
    end if;
    perform mark_channel(v.channel, v.account, true);
    -- 4. A wish to hear no more, or to hear again, is kept for the address.
    if p_state <> '' then
        insert into consents (channel, account, user_key, state, how)
        values (v.channel, v.account, v.user_key, p_state, 'said so in an answer');
        perform tell_of_recipient(v.channel, v.account, v.user_key, p_state);
        if p_state = 'stopped' then
            outcome := 'taken';
            return;
        end if;
    end if;
    -- 5. Tell the person, up to the limit.
    update recipients r set answers = r.answers + 1 where r.tenant_id = v_tenant and r.id = v_recipient
    returning r.answers, r.name into v_answers, v_name;
    if v_answers > p_limit then
        outcome := 'too_many';
        return;
    end if;
    insert into notifications (tenant_id, id, category, urgency, title, notice, notice_channel, text, dedupe_key, state,
                               at, not_before, outside)
    values (v_tenant, 'ntf_' || v.id, 'answer', 'normal', v_name, 'answered', v.channel, p_text,
            'answer:' || v.channel || ':' || (v.keys)[1], 'held', p_now, '-infinity', true);
    outcome := 'taken';
    return;
end $$;

-- Tells the person that a message to somebody did not arrive, or that nobody knows.
create or replace function note_outreach()
returns trigger
language plpgsql as $$
begin
    if new.state = 'sent' then
        -- The provider may tell that it did not arrive before we know that it was taken.
        if exists (select from outbound_parts e where e.tenant_id = new.tenant_id and e.outbound_id = new.id
                   and e.status in ('undelivered', 'failed')) then
            perform tell_not_delivered(new.tenant_id, new.id, new.conversation_id, 'failed');
        end if;
        return null;
    end if;
    perform tell_not_delivered(new.tenant_id, new.id, new.conversation_id, case
        when new.state = 'ambiguous' then 'unknown'
        when new.reason like 'the day''s texts of %' then 'unpaid'
        when new.reason = 'the person stopped or blocked this channel' or new.reason like 'OptedOut:%' then 'stopped'
        else 'failed' end);
    return null;
end $$;

create or replace trigger outbound_outreach after update of state on outbound
    for each row when (new.kind = 'outreach' and old.state is distinct from new.state
                       and new.state in ('sent', 'ambiguous', 'failed'))
    execute function note_outreach();

create or replace function note_outreach_undelivered()
returns trigger
language plpgsql as $$
begin
    perform tell_not_delivered(o.tenant_id, o.id, o.conversation_id, 'failed') from outbound o
    where o.tenant_id = new.tenant_id and o.id = new.outbound_id and o.kind = 'outreach' and o.state = 'sent';
    return null;
end $$;

create or replace trigger outbound_part_outreach after update of status on outbound_parts
    for each row when (old.status is distinct from new.status and new.status in ('undelivered', 'failed'))
    execute function note_outreach_undelivered();

create function tell_not_delivered(p_tenant text, p_outbound text, p_conversation text, p_why text)
returns void
language sql as $$
    insert into notifications (tenant_id, id, category, urgency, title, notice, notice_channel, text, dedupe_key, state,
                               at, not_before)
    select p_tenant, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'answer', 'normal', r.name, 'not_delivered',
           c.channel, p_why, 'outreach:' || p_outbound, 'held', clock_timestamp(), '-infinity'
    from conversations c join recipients r on r.tenant_id = c.tenant_id and r.id = c.recipient_id
    where c.tenant_id = p_tenant and c.id = p_conversation
      and not exists (select from notifications n
                      where n.tenant_id = p_tenant and n.dedupe_key = 'outreach:' || p_outbound)
$$;

-- Returns what is known of an address before this person writes there: whether it is their own, whether it may be written
-- to, whether its reader knows who writes, and the name of this person.
create function find_recipient(p_tenant text, p_channel text, p_account text, p_user_key text, p_since timestamptz)
returns table (own boolean, state text, known boolean, name text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select
        exists (select from identities i where i.tenant_id = p_tenant and i.channel = p_channel
                and i.account = p_account and i.user_key = p_user_key),
        coalesce((select f.state from find_consent(p_channel, p_account, p_user_key) f), 'active'),
        knows_writer(p_tenant, p_channel, p_account, p_user_key, p_since),
        coalesce(nullif(t.name, ''), (select i.name from identities i where i.tenant_id = p_tenant
                 and i.name <> '' and i.admitted <> '' order by i.created_at limit 1), '')
    from tenants t where t.tenant_id = p_tenant;
end $$;
