    if p_arrival -> 'brings' ? 'asker' then
        insert into group_askers (tenant_id, inbound_id, asker, name)
        values (p_tenant, p_arrival ->> 'id', p_arrival -> 'brings' -> 'asker' ->> 'id',
                p_arrival -> 'brings' -> 'asker' ->> 'name')
        on conflict do nothing;
    end if;
