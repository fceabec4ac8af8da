                select 'memory', read_memory(p_tenant, b.turn_id)
