    select 'event source ' || s.name from event_sources s where s.tenant_id = p_tenant and s.key_version = p_version
