    select t.id, t.number || '. ' || t.title from tasks t where t.tenant_id = p_tenant and t.id = any (p_ids)
