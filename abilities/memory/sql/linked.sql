        select 'memories', array[id], number, '' from memories where tenant_id = p_gone
        union all select 'memory_jobs', array[id], null, '' from memory_jobs where tenant_id = p_gone
        union all select 'memory_forgettings', array[id], null, '' from memory_forgettings where tenant_id = p_gone
