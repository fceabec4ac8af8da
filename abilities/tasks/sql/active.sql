    select 'task', count(*) from tasks t
    where t.tenant_id = p_tenant and t.state = 'ACTIVE' and t.deleted_at is null
