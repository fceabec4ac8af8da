        select 'tasks', array[t.id], t.number
        from tasks t where t.tenant_id = p_tenant and t.created_at > p_link.made_at
