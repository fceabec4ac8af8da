        select 'memories', array[m.id], m.number
        from memories m where m.tenant_id = p_tenant and m.created_at > p_link.linked_at and m.turn_id is null
