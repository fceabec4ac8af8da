        select 'event_sources', array[id], null, name from event_sources where tenant_id = p_gone
