        select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE'
