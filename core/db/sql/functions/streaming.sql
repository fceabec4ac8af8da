-- An answer that grows on the screen before it is sent.

-- Claims the row for a turn's growing answer, if nothing is left to send before it; true if it exists. One per turn: a
-- worker that takes the turn over finds the first one's row and begins no second message.
create function begin_stream(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_outbound text)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select t.conversation_id into v_conversation from turns t
    where t.tenant_id = p_tenant and t.id = p_turn and t.fence = p_fence and t.state = 'running';
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for no key update;
    perform lock_lane(p_tenant, p_lane, p_fence);
    if v_conversation is not null and not exists (
            select 1 from outbound e where e.tenant_id = p_tenant and e.conversation_id = v_conversation
            and (e.state in ('ready', 'sending', 'checking')
                 or e.turn_id = p_turn and e.state = 'held' and e.stream_at is not null)) then
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, stream_at)
        values (p_tenant, p_outbound, v_conversation, p_turn, 'reply', '', 'held', clock_timestamp())
        on conflict on constraint outbound_pkey do nothing;
    end if;
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held');
end $$;

-- Stores the provider's id of the growing message, before a word is added to it; false if the turn has ended.
create function keep_stream(p_tenant text, p_lane text, p_fence bigint, p_outbound text, p_stream text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_lane(p_tenant, p_lane, p_fence);
    update outbound o set stream = p_stream where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held';
    return found;
end $$;

-- Deletes the row: the provider refused to begin a message.
create function forget_stream(p_tenant text, p_outbound text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held' and o.stream = '';
end $$;

-- Returns whether the growing message is no longer the place for its answer: another message of ours was sent after it
-- began, or the person wrote something that the answer takes into account.
create function stream_overtaken(p_tenant text, p_outbound text)
returns boolean
language sql stable as $$
    select exists (
        select 1 from outbound o
        where o.tenant_id = p_tenant and o.id = p_outbound and (
            exists (select 1 from outbound e
                    where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.id <> o.id
                      and (e.sent_at > o.stream_at or o.seq is null and e.state in ('ready', 'sending', 'checking')))
            or exists (select 1 from inbound i
                       where i.tenant_id = o.tenant_id and i.turn_id = o.turn_id and i.received_at > o.stream_at)))
$$;

-- Returns whether words may still be added: the turn has not ended, and the row is the head of its outbox.
create function stream_leads(p_tenant text, p_outbound text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held')
        and not stream_overtaken(p_tenant, p_outbound);
end $$;

-- The turn's reply takes the place of the row that was held for it, however it enters the outbox.
create or replace function adopt_stream()
returns trigger
language plpgsql as $$
declare
    v_stream text;
    v_at timestamptz;
begin
    delete from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.turn_id and o.state = 'held' and o.stream_at is not null
    returning o.stream, o.stream_at into v_stream, v_at;
    if found then
        new.stream := v_stream;
        new.stream_at := v_at;
    end if;
    return new;
end $$;

create or replace trigger adopt_stream before insert on outbound for each row
    when (new.kind = 'reply' and new.turn_id is not null and new.stream_at is null) execute function adopt_stream();

-- A turn that ended without a reply leaves a growing message: its row, which has no text, is sent by deleting that
-- message. At the commit, when it is certain that there is no reply.
create or replace function release_stream()
returns trigger
language plpgsql as $$
begin
    perform release_outbound(o.tenant_id, o.id) from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.id and o.state = 'held' and o.stream_at is not null;
    return null;
end $$;

drop trigger if exists release_stream on turns;
create constraint trigger release_stream after update of state on turns deferrable initially deferred for each row
    when (new.state <> 'running') execute function release_stream();

-- Ends a row whose growing message was deleted: nothing is left to send. Repeatable.
create function end_stream(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound) then
        perform lock_outbound(p_tenant, p_outbound, p_fence);
        delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    end if;
end $$;
