        select 'saved_places', array[key], null, name from saved_places where tenant_id = p_gone
        union all select 'seen_places', array[id], null, '' from seen_places where tenant_id = p_gone
