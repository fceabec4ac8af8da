-- Cards that a day's segments do not allow: moved whole, once, and never approved unseen.

-- As in 0053, and: a card that is shown at another place already is not shown there twice, and its approval goes with
-- it, so that reminders come there and plain words there mean it; what wants a reply wants it there too.
create or replace function end_unpaid(
    p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_over text, p_moved text,
    p_notice text, p_copy text)
returns void
language plpgsql as $$
declare
    v_row outbound%rowtype;
    v_other text;
    v_shows text;
    v_shown_in text;
    v_first boolean;
begin
    select o.* into v_row from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    select other_conversation(p_tenant, c.channel) into v_other from conversations c
    where c.tenant_id = p_tenant and c.id = v_row.conversation_id;
    select k.approval_id into v_shows from approval_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    select o.conversation_id into v_shown_in from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    where v_row.kind = 'card' and k.tenant_id = p_tenant and k.approval_id = v_shows and k.role = 'card'
      and o.conversation_id <> v_row.conversation_id and o.state <> 'failed'
    limit 1;
    v_other := coalesce(v_shown_in, v_other);
    if v_other is not null and v_shown_in is null then
        perform owe(p_tenant, v_other, v_row.turn_id, jsonb_build_array(jsonb_build_object(
            'id', p_copy, 'kind', v_row.kind, 'text', v_row.text, 'actions', v_row.actions, 'media', v_row.media,
            'wants_reply', v_row.wants_reply, 'shows', coalesce(v_shows, ''))));
    end if;
    if v_other is not null and v_row.kind = 'card' then
        update approvals a set conversation_id = v_other
        where a.tenant_id = p_tenant and a.id = v_shows and a.state = 'pending';
    end if;
    perform fail_outbound(p_tenant, p_outbound, p_fence,
                          p_why || case when v_other is null then '' else '; sent to another place' end);
    update segment_days s set told = true where s.tenant_id = p_tenant and s.day = p_day and not s.told
    returning true into v_first;
    if v_first then
        perform owe(p_tenant, v_row.conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_notice, 'kind', 'notification', 'text', case when v_other is null then p_over else p_moved end)));
    end if;
end $$;

-- As in 0026, but a card of one part counts by a call that may have arrived: one that was refused, or that was never
-- made since it would have cost too much, has shown nobody anything (promise 9).
-- p_pressed: its buttons were pressed, so that at least its last part is there.
create or replace function cards_sent(p_tenant text, p_approval text, p_pressed boolean)
returns text
language sql stable as $$
    select case
        when bool_or(s.parts > 0 and s.sure >= s.parts) then 'whole'
        -- Its one part may have arrived although its receipt is missing: whoever knows the code has read it.
        when bool_or(s.parts = 1 and s.called) then 'whole'
        when bool_or(s.state in ('sent', 'ambiguous')) then 'not_whole'
        else 'not_sent' end
    from (select o.state, count(e.part) as parts, bool_or(m.called) as called,
                 count(*) filter (where e.state = 'sent' and e.status not in ('undelivered', 'failed'))
                 + count(*) filter (where p_pressed and m.called and e.state <> 'sent' and e.part = (
                     select max(l.part) from outbound_parts l
                     where l.tenant_id = o.tenant_id and l.outbound_id = o.id)) as sure
          from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
          left join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id
          left join lateral (
              select exists (select 1 from deliveries d where d.tenant_id = e.tenant_id and d.outbound_id = e.outbound_id
                             and d.part = e.part
                             and d.outcome in ('started', 'ambiguous', 'left', 'found', 'accepted')) as called) m on true
          where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
          group by o.tenant_id, o.id) s
$$;
