        select from memory_forgettings f where f.tenant_id = p_tenant and f.confirmed
