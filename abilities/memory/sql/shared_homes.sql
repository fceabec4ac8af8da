    select m.name, m.shared_id from memory_members m where m.tenant_id = p_tenant
