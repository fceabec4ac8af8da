-- News whose sending was given up with an unknown outcome goes to the next place, as what failed does: a reminder that
-- may come twice does less harm than one that does not come. It stands in the history all the same: it may be known.
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
    where n.tenant_id = new.tenant_id and n.outbound_id = new.id and n.state = 'owed'
    returning * into v_note;
    if v_note.id is null or new.state = 'failed' then
        return null;
    end if;
    select h.id into v_conversation from conversations c
    left join lateral (
        select o.id from conversations o
        where o.tenant_id = c.tenant_id
          and case when c.channel in ('push', 'email') then o.channel not in ('push', 'email') and o.thread = ''
                                                           and o.last_inbound_at is not null
                   else o.id = c.id end
        order by o.last_inbound_at desc nulls last limit 1) h on true
    where c.tenant_id = new.tenant_id and c.id = new.conversation_id;
    update conversations c set history_seq = c.history_seq + 2
    where c.tenant_id = new.tenant_id and c.id = v_conversation returning c.history_seq into v_seq;
    insert into history (tenant_id, conversation_id, position, session, message)
    select c.tenant_id, c.id, v_seq - 2 + m.position, c.session, m.value
    from conversations c, jsonb_array_elements(jsonb_build_array(
        jsonb_build_object('role', 'user', 'internal', true, 'text',
            '[Not from the person: they were just sent a notification of the kind ' || v_note.category
            || case when v_note.title <> '' then ', ' || v_note.title else '' end || '.]'),
        jsonb_build_object('role', 'assistant', 'text', v_note.text))) with ordinality as m (value, position)
    where c.tenant_id = new.tenant_id and c.id = v_conversation;
    return null;
end $$;
