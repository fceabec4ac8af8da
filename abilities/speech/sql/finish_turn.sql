    if v.state = 'done' and wants_voice(p_tenant, p_turn) then
        insert into spoken_answers (tenant_id, outbound_id, turn_id)
        select p_tenant, m.value ->> 'id', p_turn from jsonb_array_elements(v.outbound) m
        where m.value ->> 'kind' = 'reply' and m.value -> 'question' is null
        on conflict do nothing;
    end if;
